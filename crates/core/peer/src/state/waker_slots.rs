//! Holds the wakers of several futures that wait for the same event, each under a key.

use std::task::Waker;

use slab::Slab;

/// The wakers of the futures that wait for one event. Each future holds the key of its waker.
#[derive(Default)]
pub(crate) struct WakerSlots(Slab<Waker>);

impl WakerSlots {
    /// Registers the waker of a future. Returns the waker that it replaces, to drop it without the lock.
    pub(crate) fn register(&mut self, key: &mut Option<usize>, waker: &Waker) -> Option<Waker> {
        match key.and_then(|key| self.0.get_mut(key)) {
            Some(place) => replace(place, waker),
            None => {
                *key = Some(self.0.insert(waker.clone()));
                None
            }
        }
    }

    pub(crate) fn remove(&mut self, key: usize) -> Option<Waker> {
        self.0.try_remove(key)
    }

    pub(crate) fn take_all(&mut self) -> Vec<Waker> {
        if self.0.is_empty() { Vec::new() } else { self.0.drain().collect() }
    }
}

/// Puts a waker in the place of another. Returns the other, unless both wake the same task.
pub(crate) fn replace(place: &mut Waker, waker: &Waker) -> Option<Waker> {
    let differs = !place.will_wake(waker);
    differs.then(|| std::mem::replace(place, waker.clone()))
}
