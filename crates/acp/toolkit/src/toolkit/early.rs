//! Keeps the updates of a new session that arrive before the answer to `session/new`.

use std::collections::HashMap;
use std::sync::Arc;

use agentwire_acp_schema::v1::SessionId;
use agentwire_sync::Mutex;

use crate::{Conversation, Update};

/// The limit of sessions with early updates.
const SESSIONS: usize = 8;

/// The most memory of the early updates of one session: 1 MiB.
const LIMIT: usize = 1 << 20;

/// The updates of new sessions that precede the answers to `session/new`. Clones share them.
#[derive(Clone, Debug, Default)]
pub(super) struct EarlyUpdates(Arc<Mutex<EarlyConversations>>);

#[derive(Debug, Default)]
struct EarlyConversations {
    /// How many sessions are being opened. If none is, no update is kept.
    opening: usize,
    conversations: HashMap<SessionId, Conversation>,
}

/// The opening of a session. When the last one ends, the updates of sessions that were not opened are dropped.
#[derive(Debug)]
pub(super) struct Opening(EarlyUpdates);

impl EarlyUpdates {
    /// Keeps updates until the result is dropped.
    pub(super) fn begin_opening(&self) -> Opening {
        self.0.lock().opening += 1;
        Opening(self.clone())
    }

    /// Keeps an update, if a session is being opened and there is room.
    pub(super) fn apply(&self, session: &SessionId, update: Update) {
        let mut inner = self.0.lock();
        let has_room = inner.conversations.len() < SESSIONS || inner.conversations.contains_key(session);
        if inner.opening > 0 && has_room {
            let early = inner.conversations.entry(session.clone());
            let _not_shown = early.or_insert_with(|| Conversation::new().limit(LIMIT)).apply(update);
        }
    }

    /// Takes the early updates of a session, as a conversation.
    pub(super) fn take(&self, session: &SessionId) -> Option<Conversation> {
        self.0.lock().conversations.remove(session)
    }
}

impl Drop for Opening {
    fn drop(&mut self) {
        let mut inner = self.0.0.lock();
        inner.opening -= 1;
        if inner.opening == 0 {
            inner.conversations.clear();
        }
    }
}
