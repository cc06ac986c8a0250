//! The params and result of `session/prompt`, and the notification `session/cancel`. The result arrives once the agent accepts
//! the message, not at the end of the work.

use agentwire_wire_derive::{Build, Wire};

use super::ContentBlock;
use crate::common::{MessageId, Meta, prompt_request, session_params};

prompt_request! {
    /// `session/prompt`: the person's message.
    ///
    /// The answer means that the message is part of the conversation, not that the agent has finished: the state
    /// [`idle`](super::IdleStateUpdate) means that. See
    /// <https://agentclientprotocol.com/protocol/v2/prompt-lifecycle#1-user-message>.
    PromptRequest
}

/// The answer to `session/prompt`: the message is part of the conversation.
///
/// See <https://agentclientprotocol.com/protocol/v2/prompt-lifecycle#2-prompt-accepted>.
#[derive(Clone, Debug, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct PromptResponse {
    /// The message's id. An update with this id holds the message, before or after this answer.
    #[wire(required)]
    pub message_id: MessageId,
    /// Extension metadata; receivers make no assumptions about its keys.
    #[wire(meta)]
    pub meta: Option<Meta>,
}

session_params! {
    /// `session/cancel`: stops the foreground work of a session, and drops the prompts that are not part of the conversation yet.
    ///
    /// The agent then sends the state idle with the reason [`Cancelled`](super::IdleStopReason::Cancelled), and cancels
    /// its own open requests. See
    /// <https://agentclientprotocol.com/protocol/v2/prompt-lifecycle#cancellation>.
    CancelSessionNotification,
}
