use agentwire_jsonrpc::{NotificationMethod, RequestMethod};
use agentwire_wire_derive::{Build, Wire};

use super::ContentBlock;
use crate::common::{MessageId, Meta, SessionId};

/// `session/prompt`: the person's message.
///
/// The answer says that the message is part of the conversation, and not that the agent is done: that comes as the
/// state [`idle`](super::IdleStateUpdate). See
/// <https://agentclientprotocol.com/protocol/v2/prompt-lifecycle#1-user-message>.
#[derive(Clone, Debug, PartialEq, Wire, Build)]
#[wire(without_new)]
#[non_exhaustive]
pub struct PromptRequest {
    /// The session.
    #[wire(required)]
    pub session_id: SessionId,
    /// The message, at least one block. Text and resource links are always allowed, other blocks where the agent's
    /// [`PromptCapabilities`](super::PromptCapabilities) name them.
    #[wire(required, schema(length(min = 1)))]
    pub prompt: Vec<ContentBlock>,
    /// Free room: its keys belong to whoever sent them.
    #[wire(meta)]
    pub meta: Option<Meta>,
}

impl PromptRequest {
    /// A prompt of text, of one block or of several.
    #[must_use]
    pub fn new(session_id: impl Into<SessionId>, prompt: impl Into<PromptContent>) -> Self {
        Self { session_id: session_id.into(), prompt: prompt.into().0, meta: None }
    }
}

impl RequestMethod for PromptRequest {
    const NAME: &'static str = "session/prompt";
    type Response = PromptResponse;
}

/// Whatever [`PromptRequest::new`] can take for a prompt; there is no such type on the wire.
#[derive(Clone, Debug, PartialEq)]
pub struct PromptContent(Vec<ContentBlock>);

impl From<&str> for PromptContent {
    fn from(text: &str) -> Self {
        Self(vec![text.into()])
    }
}

impl From<String> for PromptContent {
    fn from(text: String) -> Self {
        Self(vec![text.into()])
    }
}

impl From<ContentBlock> for PromptContent {
    fn from(block: ContentBlock) -> Self {
        Self(vec![block])
    }
}

impl From<Vec<ContentBlock>> for PromptContent {
    fn from(blocks: Vec<ContentBlock>) -> Self {
        Self(blocks)
    }
}

impl<const N: usize> From<[ContentBlock; N]> for PromptContent {
    fn from(blocks: [ContentBlock; N]) -> Self {
        Self(blocks.into())
    }
}

/// The answer to `session/prompt`: the message is part of the conversation.
///
/// See <https://agentclientprotocol.com/protocol/v2/prompt-lifecycle#2-prompt-accepted>.
#[derive(Clone, Debug, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct PromptResponse {
    /// The message, which also comes as an update with this id, before or after this answer.
    #[wire(required)]
    pub message_id: MessageId,
    /// Free room: its keys belong to whoever sent them.
    #[wire(meta)]
    pub meta: Option<Meta>,
}

/// `session/cancel`: stop the foreground work of a session, and the prompts that are not part of the conversation yet.
///
/// The agent then says that it is idle with the reason [`Cancelled`](super::IdleStopReason::Cancelled), and cancels
/// its own open requests. See
/// <https://agentclientprotocol.com/protocol/v2/prompt-lifecycle#cancellation>.
#[derive(Clone, Debug, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct CancelSessionNotification {
    /// The session.
    #[wire(required)]
    pub session_id: SessionId,
    /// Free room: its keys belong to whoever sent them.
    #[wire(meta)]
    pub meta: Option<Meta>,
}

impl NotificationMethod for CancelSessionNotification {
    const NAME: &'static str = "session/cancel";
}
