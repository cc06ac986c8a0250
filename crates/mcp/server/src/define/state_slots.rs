//! The values of `Server::state`, and the slots that pass them to functions.

use std::any::{Any, TypeId, type_name};
use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

/// The values of [`Server::state`](crate::Server::state), by type.
#[derive(Clone, Default)]
pub(crate) struct States(HashMap<TypeId, Arc<dyn Any + Send + Sync>>);

impl States {
    pub(crate) fn insert<S: Send + Sync + 'static>(&mut self, state: S) {
        self.0.insert(TypeId::of::<S>(), Arc::new(state));
    }

    fn get<S: Clone + 'static>(&self) -> Option<S> {
        // A function without state has the state `()`.
        let none: &dyn Any = &();
        none.downcast_ref().or_else(|| self.0.get(&TypeId::of::<S>())?.downcast_ref()).cloned()
    }
}

/// The state of a function, found when the function is registered.
pub(crate) struct StateSlot<S>(OnceLock<S>);

impl<S: Clone> StateSlot<S> {
    pub(crate) fn get(&self) -> S {
        self.0.get().expect("a function is registered before it is called").clone()
    }
}

trait Bind: Send + Sync {
    /// Finds the state.
    ///
    /// # Errors
    ///
    /// Returns the name of a type without a value.
    fn bind(&self, states: &States) -> Result<(), &'static str>;
}

impl<S: Clone + Send + Sync + 'static> Bind for StateSlot<S> {
    fn bind(&self, states: &States) -> Result<(), &'static str> {
        let state = states.get().ok_or(type_name::<S>())?;
        let _has_none = self.0.set(state);
        Ok(())
    }
}

/// The state slots of an item's functions, before it is registered.
#[derive(Default)]
pub(crate) struct StateSlots(Vec<Arc<dyn Bind>>);

impl StateSlots {
    pub(crate) fn add<S: Clone + Send + Sync + 'static>(&mut self) -> Arc<StateSlot<S>> {
        let slot = Arc::new(StateSlot(OnceLock::new()));
        self.0.push(slot.clone());
        slot
    }

    /// Fills the slots of an item that is being registered.
    ///
    /// # Panics
    ///
    /// When the server does not have it.
    #[track_caller]
    pub(crate) fn bind(&self, states: &States, of: &str, name: &str) {
        for slot in &self.0 {
            if let Err(missing) = slot.bind(states) {
                panic!(
                    "the {of} `{name}` takes `State<{missing}>`, which the server does not have: \
                     call `Server::state` with it before the {of} is added"
                );
            }
        }
    }
}
