use agentwire_jsonrpc::RequestMethod;
use agentwire_wire_derive::{Build, Wire};

use super::ContentBlock;
use crate::common::{Meta, SessionId};

/// `session/prompt`: the person's message. The answer comes when the agent's turn is over.
///
/// See <https://agentclientprotocol.com/protocol/v1/prompt-turn>.
#[derive(Clone, Debug, PartialEq, Wire, Build)]
#[wire(without_new)]
#[non_exhaustive]
pub struct PromptRequest {
    /// The session.
    #[wire(required)]
    pub session_id: SessionId,
    /// The message. Text and resource links are always allowed, other blocks where the agent's
    /// [`PromptCapabilities`](super::PromptCapabilities) name them.
    #[wire(required)]
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

/// The answer to `session/prompt`: the turn is over.
#[derive(Clone, Debug, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct PromptResponse {
    /// Why.
    #[wire(required)]
    pub stop_reason: StopReason,
    /// Free room: its keys belong to whoever sent them.
    #[wire(meta)]
    pub meta: Option<Meta>,
}

/// Why a turn is over.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Wire)]
#[non_exhaustive]
pub enum StopReason {
    /// The model has said what it had to say.
    #[wire("end_turn")]
    EndTurn,
    /// The model may not produce more tokens.
    #[wire("max_tokens")]
    MaxTokens,
    /// The agent may not ask the model again in this turn.
    #[wire("max_turn_requests")]
    MaxTurnRequests,
    /// The agent refuses to go on. The prompt and what followed will not be part of the next one.
    #[wire("refusal")]
    Refusal,
    /// The client sent `session/cancel`. This is the answer even if stopping the work raised errors.
    #[wire("cancelled")]
    Cancelled,
    /// A word that this version of the crate does not know, as it came.
    #[wire(unknown)]
    Other(String),
}
