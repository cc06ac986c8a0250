//! The observer of new calls, and its values for calls that have not started.

use std::any::Any;
use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use agentwire_connection::CallId;

use super::Observer;
use crate::sync::Mutex;

/// The observer of a connection's new calls. It exists only if an observer is set.
pub(crate) struct NewCallObserver {
    configured: Arc<dyn Observer>,
    /// The connection's own observer, if it has one. Set when the connection starts.
    connection: OnceLock<Arc<dyn Observer>>,
    /// The values of calls that have not started. Each belongs to a call whose future is alive.
    contexts: Mutex<HashMap<CallId, Arc<dyn Any + Send + Sync>>>,
}

impl NewCallObserver {
    pub(crate) fn new(configured: Arc<dyn Observer>) -> Self {
        Self { configured, connection: OnceLock::new(), contexts: Mutex::default() }
    }

    pub(crate) fn set_connection(&self, observer: Arc<dyn Observer>) {
        self.connection.get_or_init(|| observer);
    }

    pub(super) fn observer(&self) -> &dyn Observer {
        &**self.connection.get().unwrap_or(&self.configured)
    }

    pub(super) fn set_context(&self, call: CallId, context: Arc<dyn Any + Send + Sync>) {
        let replaced = self.contexts.lock().insert(call, context);
        // The value may run any code when it is dropped, so it is dropped without the lock.
        drop(replaced);
    }

    pub(crate) fn take_context(&self, call: CallId) -> Option<Arc<dyn Any + Send + Sync>> {
        self.contexts.lock().remove(&call)
    }
}
