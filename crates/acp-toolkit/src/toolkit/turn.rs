use agentwire_acp_schema::v1::{ContentBlock, SessionId, StopReason};

use super::{Toolkit, UserInterface};
use crate::{Applied, Change, ChangedFields};

/// The turn of a conversation. Dropping it ends the turn.
pub(crate) struct Turn<U: UserInterface> {
    toolkit: Toolkit<U>,
    session: SessionId,
    /// The stop reason: cancelled, unless the agent reports another.
    pub(crate) stop_reason: StopReason,
}

impl<U: UserInterface> Toolkit<U> {
    /// Shows a prompt in its conversation. `content` is called only if there is one.
    pub(crate) fn begin_turn(
        &self,
        session: &SessionId,
        content: impl FnOnce() -> Vec<ContentBlock>,
    ) -> Turn<U> {
        if let Some(conversation) = self.sessions.conversations.lock().get_mut(session) {
            let applied = conversation.prompt(content());
            self.user_interface.show(session, conversation, &applied);
        }
        Turn { toolkit: self.clone(), session: session.clone(), stop_reason: StopReason::Cancelled }
    }
}

impl<U: UserInterface> Drop for Turn<U> {
    fn drop(&mut self) {
        let Self { toolkit, session, stop_reason } = self;
        if let Some(conversation) = toolkit.sessions.conversations.lock().get_mut(session) {
            let fields = ChangedFields { cancelled: true, ..ChangedFields::default() };
            for index in conversation.turn_ended(stop_reason) {
                let applied = Applied::new(Change::Updated { index, fields }, 0);
                toolkit.user_interface.show(session, conversation, &applied);
            }
        }
    }
}
