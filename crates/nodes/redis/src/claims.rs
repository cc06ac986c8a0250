//! The claims of this process on ACP sessions.

use std::collections::HashMap;
use std::sync::Arc;

use agentwire_acp_sessions::schema::SessionId;
use agentwire_store::NodeId;
use agentwire_sync::Mutex;

/// The sessions that this process has claimed, each with the owner that its claim names.
#[derive(Clone, Debug, Default)]
pub(crate) struct Claims(Arc<Mutex<HashMap<SessionId, NodeId>>>);

impl Claims {
    /// The owner of this process's claim on a session, as the scripts take it. Empty if it has none.
    pub(crate) fn owner(&self, session_id: &SessionId) -> String {
        self.0.lock().get(session_id).map(NodeId::to_string).unwrap_or_default()
    }

    pub(crate) fn insert(&self, session_id: &SessionId, owner: NodeId) {
        self.0.lock().insert(session_id.clone(), owner);
    }

    /// Removes the claim of an owner, unless a newer claim has replaced it.
    pub(crate) fn remove(&self, session_id: &SessionId, owner: NodeId) {
        let mut claims = self.0.lock();
        if claims.get(session_id) == Some(&owner) {
            claims.remove(session_id);
        }
    }
}
