use agentwire_jsonrpc::Method;

use super::ContentBlock;
use crate::common::SessionId;
use crate::wire::{object, open_enum};

object! {
    /// `session/prompt`: the person's message. The answer comes when the agent's turn is over.
    ///
    /// See <https://agentclientprotocol.com/protocol/v1/prompt-turn>.
    PromptRequest without new {
        /// The session.
        required session_id: SessionId,
        /// The message. Text and resource links are always allowed, other blocks where the agent's
        /// [`PromptCapabilities`](super::PromptCapabilities) name them.
        required prompt: Vec<ContentBlock>,
        meta,
    }
}

impl PromptRequest {
    /// A prompt of text, of one block or of several.
    #[must_use]
    pub fn new(session_id: impl Into<SessionId>, prompt: impl Into<PromptContent>) -> Self {
        Self { session_id: session_id.into(), prompt: prompt.into().0, meta: None }
    }
}

impl Method for PromptRequest {
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

object! {
    /// The answer to `session/prompt`: the turn is over.
    PromptResponse {
        /// Why.
        required stop_reason: StopReason,
        meta,
    }
}

open_enum! {
    /// Why a turn is over.
    StopReason {
        /// The model has said what it had to say.
        EndTurn = "end_turn",
        /// The model may not produce more tokens.
        MaxTokens = "max_tokens",
        /// The agent may not ask the model again in this turn.
        MaxTurnRequests = "max_turn_requests",
        /// The agent refuses to go on. The prompt and what followed will not be part of the next one.
        Refusal = "refusal",
        /// The client sent `session/cancel`. This is the answer even if stopping the work raised errors.
        Cancelled = "cancelled",
    } else Other
}
