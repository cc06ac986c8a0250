//! Sets the ids of messages in chunks that lack one.

use agentwire_acp_schema::v1::{MessageId, SessionUpdate};

/// The kind of the message that a chunk belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum MessageKind {
    User,
    Agent,
    Thought,
}

/// Sets the ids of chunks without one. Consecutive chunks of one kind are one message; a tool call ends it.
#[derive(Debug, Default)]
pub(crate) struct MessageIds {
    current: Option<(MessageKind, MessageId)>,
}

impl MessageIds {
    /// Sets the id of a chunk to that of its message. `next` returns the id of a message that begins.
    pub(crate) fn assign(&mut self, update: &mut SessionUpdate, next: impl FnOnce() -> MessageId) {
        let (kind, chunk) = match update {
            SessionUpdate::UserMessageChunk(chunk) => (MessageKind::User, chunk),
            SessionUpdate::AgentMessageChunk(chunk) => (MessageKind::Agent, chunk),
            SessionUpdate::AgentThoughtChunk(chunk) => (MessageKind::Thought, chunk),
            SessionUpdate::ToolCall(_) => {
                self.current = None;
                return;
            }
            _ => return,
        };
        let id = match (&chunk.message_id, &self.current) {
            (Some(id), _) => id.clone(),
            (None, Some((previous, id))) if *previous == kind => id.clone(),
            _ => next(),
        };
        chunk.message_id = Some(id.clone());
        self.current = Some((kind, id));
    }
}
