//! The params and result of `session/prompt`. The result arrives at the end of the turn, with a `stopReason`.

use agentwire_wire_derive::{Build, Wire};

use super::ContentBlock;
use crate::common::{Meta, prompt_request};

prompt_request! {
    /// `session/prompt`: the person's message. The agent answers when its turn ends.
    ///
    /// See <https://agentclientprotocol.com/protocol/v1/prompt-turn>.
    PromptRequest
}

/// The answer to `session/prompt`: the turn has ended.
#[derive(Clone, Debug, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct PromptResponse {
    /// Why the turn ended.
    #[wire(required)]
    pub stop_reason: StopReason,
    /// Extension metadata; receivers make no assumptions about its keys.
    #[wire(meta)]
    pub meta: Option<Meta>,
}

/// Why a turn ended.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Wire)]
#[non_exhaustive]
pub enum StopReason {
    /// The model finished its answer.
    #[wire("end_turn")]
    EndTurn,
    /// The model reached its limit of tokens.
    #[wire("max_tokens")]
    MaxTokens,
    /// The agent reached its limit of requests to the model for this turn.
    #[wire("max_turn_requests")]
    MaxTurnRequests,
    /// The agent refuses to continue. The next prompt will not include this prompt and what followed it.
    #[wire("refusal")]
    Refusal,
    /// The client sent `session/cancel`. The agent gives this reason even if stopping the work caused errors.
    #[wire("cancelled")]
    Cancelled,
    /// A string that this version of the crate does not know, unchanged.
    #[wire(unknown)]
    Other(String),
}
