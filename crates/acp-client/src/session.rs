use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use agentwire_acp_schema::v1::{ClientCapabilities, InitializeRequest, InitializeResponse, SessionId};
use agentwire_peer::RequestContext;

/// What the handle on the agent and the handler of its requests both know.
#[derive(Debug, Default)]
pub(crate) struct Shared {
    client: Mutex<Option<Arc<ClientCapabilities>>>,
    agent: OnceLock<InitializeResponse>,
    permissions: Mutex<Permissions>,
}

/// Permission requests that wait for the user.
#[derive(Debug, Default)]
struct Permissions {
    waiting: HashMap<SessionId, Vec<RequestContext>>,
    /// Sessions whose turn was cancelled and that have begun no other: the agent may still ask, and is told.
    cancelled: HashSet<SessionId>,
}

impl Shared {
    /// Takes note of what the client advertises. False once an agent has answered to it.
    pub(crate) fn greet(&self, request: &InitializeRequest) -> bool {
        if self.agent().is_some() {
            return false;
        }
        let capabilities = Some(Arc::new(request.client_capabilities.clone()));
        *self.client.lock().unwrap_or_else(PoisonError::into_inner) = capabilities;
        true
    }

    pub(crate) fn client(&self) -> Option<Arc<ClientCapabilities>> {
        self.client.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(crate) fn set_agent(&self, response: InitializeResponse) {
        self.agent.get_or_init(|| response);
    }

    pub(crate) fn agent(&self) -> Option<&InitializeResponse> {
        self.agent.get()
    }

    pub(crate) fn turn_begins(&self, session: &SessionId) {
        self.permissions().cancelled.remove(session);
    }

    /// Cancels the permission requests of a session, and those that still come for the same turn.
    pub(crate) fn cancel_turn(&self, session: &SessionId) {
        let mut permissions = self.permissions();
        permissions.cancelled.insert(session.clone());
        let waiting = permissions.waiting.remove(session);
        drop(permissions);
        waiting.into_iter().flatten().for_each(|request| request.cancel());
    }

    /// Takes note of a permission request, which is cancelled with its turn.
    pub(crate) fn permission_asked(&self, session: &SessionId, request: &RequestContext) {
        let mut permissions = self.permissions();
        if permissions.cancelled.contains(session) {
            drop(permissions);
            request.cancel();
        } else {
            permissions.waiting.entry(session.clone()).or_default().push(request.clone());
        }
    }

    pub(crate) fn permission_answered(&self, session: &SessionId, request: &RequestContext) {
        let mut permissions = self.permissions();
        if let Some(waiting) = permissions.waiting.get_mut(session) {
            waiting.retain(|other| other.request_id() != request.request_id());
            if waiting.is_empty() {
                permissions.waiting.remove(session);
            }
        }
    }

    fn permissions(&self) -> MutexGuard<'_, Permissions> {
        self.permissions.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
