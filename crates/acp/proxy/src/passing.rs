//! The table of the requests that a relay forwards.

use std::collections::HashMap;

use agentwire_jsonrpc::RequestId;
use agentwire_peer::CallId;
use agentwire_sync::{Mutex, MutexGuard};

use crate::side::{RequestKey, Side};

/// The requests that pass a relay.
///
/// Its lock is taken before that of a connection, never while that is held.
#[derive(Debug, Default)]
pub(crate) struct PassingRequests(Mutex<HashMap<RequestKey, PassingRequest>>);

/// A request that passes a relay.
#[derive(Debug, Default)]
struct PassingRequest {
    is_cancelled: bool,
    was_passed_on: bool,
    /// The calls of the other side for it.
    calls: Vec<CallId>,
    /// The `protocolVersion` that the agent has answered, as JSON text.
    version: Option<String>,
}

impl PassingRequests {
    fn lock(&self) -> MutexGuard<'_, HashMap<RequestKey, PassingRequest>> {
        self.0.lock()
    }

    pub(crate) fn insert(&self, key: RequestKey) {
        self.lock().insert(key, PassingRequest::default());
    }

    pub(crate) fn remove(&self, key: RequestKey) {
        self.lock().remove(&key);
    }

    /// Makes a call for a request, unless that is cancelled. `start` sends the call under the lock, so that a cancel comes
    /// before it or knows its id.
    pub(crate) fn pass_on<T, E>(
        &self,
        key: RequestKey,
        start: impl FnOnce() -> Result<(CallId, T), E>,
    ) -> Option<Result<(CallId, T), E>> {
        let mut requests = self.lock();
        let Some(passing) = requests.get_mut(&key) else {
            return Some(start());
        };
        if passing.is_cancelled {
            return None;
        }
        let started = start();
        if let Ok((call, _)) = &started {
            passing.was_passed_on = true;
            passing.calls.push(*call);
        }
        Some(started)
    }

    /// Removes a call that was dropped.
    pub(crate) fn forget_call(&self, key: RequestKey, call: CallId) {
        if let Some(passing) = self.lock().get_mut(&key) {
            passing.calls.retain(|other| *other != call);
        }
    }

    /// Cancels a request. Returns the calls that were made for it.
    pub(crate) fn cancel(&self, key: RequestKey) -> Vec<CallId> {
        let mut requests = self.lock();
        let Some(passing) = requests.get_mut(&key) else {
            return Vec::new();
        };
        passing.is_cancelled = true;
        passing.calls.clone()
    }

    /// Returns the client's request for which the agent was called under this id.
    pub(crate) fn find_at_agent(&self, id: &RequestId) -> Option<RequestKey> {
        let is_it = |passing: &PassingRequest| passing.calls.iter().any(|call| call.request_id() == *id);
        let requests = self.lock();
        let mut found = requests.iter().filter(|(key, passing)| key.from == Side::Client && is_it(passing));
        found.next().map(|(key, _)| *key)
    }

    /// Returns whether requests of this side pass. With `only_held`, whether any was not passed on.
    pub(crate) fn has_any(&self, from: Side, only_held: bool) -> bool {
        self.lock().iter().any(|(key, passing)| key.from == from && !(only_held && passing.was_passed_on))
    }

    pub(crate) fn was_passed_on(&self, key: RequestKey) -> bool {
        self.lock().get(&key).is_some_and(|passing| passing.was_passed_on)
    }

    pub(crate) fn set_version(&self, key: RequestKey, version: String) {
        if let Some(passing) = self.lock().get_mut(&key) {
            passing.version = Some(version);
        }
    }

    pub(crate) fn version(&self, key: RequestKey) -> Option<String> {
        self.lock().get(&key).and_then(|passing| passing.version.clone())
    }
}
