//! The conversations of the open sessions.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use agentwire_acp_schema::v1::{SessionConfigOption, SessionId, SessionModeState};
use agentwire_sync::Mutex;

use super::early::EarlyUpdates;
use super::replay::Replays;
use crate::{Conversation, ConversationLimits};

/// The conversations of the open sessions. Clones share them.
#[derive(Clone, Debug, Default)]
pub(super) struct Sessions {
    pub(super) conversations: Arc<Mutex<HashMap<SessionId, OpenConversation>>>,
    pub(super) limits: Option<ConversationLimits>,
    /// The sessions that are loaded again.
    pub(super) replays: Replays,
    /// How many turns have begun.
    pub(super) turns: Arc<AtomicU64>,
    /// The updates that precede the answers which open their sessions.
    pub(super) early: EarlyUpdates,
}

/// The conversation of an open session.
#[derive(Debug)]
pub(super) struct OpenConversation {
    pub(super) conversation: Conversation,
    /// The number of the turn that began last. `None` if it has ended.
    pub(super) turn: Option<u64>,
}

impl Sessions {
    /// Begins a conversation with the early updates of the session. Replaces an earlier conversation.
    pub(super) fn open(&self, session: &SessionId) {
        let mut open = self.new_conversation();
        if let Some(early) = self.early.take(session) {
            let limits = open.conversation.current_limits();
            open.conversation = early.limits(limits);
        }
        self.conversations.lock().insert(session.clone(), open);
    }

    /// Begins a conversation, unless the session has one.
    pub(super) fn open_if_closed(&self, session: &SessionId) {
        self.conversations.lock().entry(session.clone()).or_insert_with(|| self.new_conversation());
    }

    fn new_conversation(&self) -> OpenConversation {
        let mut conversation = Conversation::new();
        if let Some(limits) = self.limits {
            conversation = conversation.limits(limits);
        }
        OpenConversation { conversation, turn: None }
    }

    /// Sets the modes and options from the answer that opened a session.
    pub(super) fn set(
        &self,
        session: &SessionId,
        modes: Option<SessionModeState>,
        options: Option<Vec<SessionConfigOption>>,
    ) {
        if let Some(open) = self.conversations.lock().get_mut(session) {
            let _drawn_when_it_is_open = open.conversation.opened(modes, options);
        }
    }
}
