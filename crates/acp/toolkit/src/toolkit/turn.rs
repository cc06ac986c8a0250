//! Shows a prompt in its conversation, and marks the end of its turn.

use std::sync::atomic::Ordering;

use agentwire_acp_schema::v1::{ContentBlock, SessionId, StopReason};

use super::{OpenConversation, Toolkit, UserInterface};
use crate::{Applied, Change, ChangedFields};

/// The turn of a conversation. Dropping it ends the turn, unless a later one has begun.
pub(crate) struct ConversationTurn<U: UserInterface> {
    toolkit: Toolkit<U>,
    session: SessionId,
    number: u64,
    /// The stop reason: cancelled, unless the agent reports another.
    pub(crate) stop_reason: StopReason,
}

impl<U: UserInterface> Toolkit<U> {
    /// Shows a prompt in its conversation. `content` is called only if there is one.
    pub(crate) fn begin_turn(
        &self,
        session: &SessionId,
        content: impl FnOnce() -> Vec<ContentBlock>,
    ) -> ConversationTurn<U> {
        let number = self.sessions.turns.fetch_add(1, Ordering::Relaxed);
        if let Some(open) = self.sessions.conversations.lock().get_mut(session) {
            open.turn = Some(number);
            let applied = open.conversation.prompt(content());
            self.show(session, &open.conversation, &applied);
        }
        ConversationTurn {
            toolkit: self.clone(),
            session: session.clone(),
            number,
            stop_reason: StopReason::Cancelled,
        }
    }

    /// Ends the turn of a session whose agent is gone.
    pub(crate) fn cut_off_turn(&self, session: &SessionId) {
        if let Some(open) = self.sessions.conversations.lock().get_mut(session)
            && open.turn.is_some()
        {
            self.end_turn(session, open, &StopReason::Cancelled);
        }
    }

    fn end_turn(&self, session: &SessionId, open: &mut OpenConversation, stop_reason: &StopReason) {
        let OpenConversation { conversation, turn } = open;
        *turn = None;
        let fields = ChangedFields { cancelled: true, ..ChangedFields::default() };
        for index in conversation.turn_ended(stop_reason) {
            let applied = Applied::new(Change::Updated { index, fields }, 0);
            self.show(session, conversation, &applied);
        }
    }
}

impl<U: UserInterface> Drop for ConversationTurn<U> {
    fn drop(&mut self) {
        let Self { toolkit, session, number, stop_reason } = self;
        if let Some(open) = toolkit.sessions.conversations.lock().get_mut(session)
            && open.turn == Some(*number)
        {
            toolkit.end_turn(session, open, stop_reason);
        }
    }
}
