use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

use agentwire_acp_schema::v1::{ClientCapabilities, InitializeResponse, SessionId, SessionUpdate};
use agentwire_peer::RequestContext;

use crate::elicitations::Elicitations;
use crate::greeting::Greeting;
use crate::offers::Offers;
use crate::updates::Readers;

/// What the handle on the agent and the handler of its requests both know.
#[derive(Debug, Default)]
pub(crate) struct Shared {
    pub(crate) greeting: Greeting<ClientCapabilities, InitializeResponse>,
    pub(crate) readers: Readers<SessionUpdate, ()>,
    pub(crate) offers: Offers,
    pub(crate) elicitations: Elicitations,
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
