//! The chunk of a message, and the updates `user_message`, `agent_message` and `agent_thought`, which patch a whole message by
//! its id.

use agentwire_wire_derive::{Build, Wire};

use crate::common::{MessageId, Meta, Patch};
use crate::v2::ContentBlock;

/// Content to append to a message. Chunks of different messages may alternate.
#[derive(Clone, Debug, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct ContentChunk {
    /// The message.
    #[wire(required)]
    pub message_id: MessageId,
    /// The content.
    #[wire(required)]
    pub content: ContentBlock,
    /// Extension metadata; receivers make no assumptions about its keys.
    #[wire(meta)]
    pub meta: Option<Meta>,
}

/// Defines the updates that hold a whole message.
macro_rules! messages {
    ($($(#[$doc:meta])* $name:ident,)+) => {$(
        $(#[$doc])*
        ///
        /// The first one with an id begins the message, later ones patch it: a missing member keeps its value, null
        /// clears it. Later chunks are appended.
        #[derive(Clone, Debug, PartialEq, Wire, Build)]
        #[non_exhaustive]
        pub struct $name {
            /// Identifies the message.
            #[wire(required)]
            pub message_id: MessageId,
            /// The whole message, including earlier chunks. An empty list clears it, as null does.
            #[wire(patch_items)]
            pub content: Patch<Vec<ContentBlock>>,
            /// Extension metadata, as a patch that [merges](Patch::merge) its keys.
            #[wire(patch, name = "_meta")]
            pub meta: Patch<Meta>,
        }
    )+};
}

messages! {
    /// The update `user_message`: the person's message.
    UserMessage,
    /// The update `agent_message`: the agent's message.
    AgentMessage,
    /// The update `agent_thought`: the agent's reasoning.
    AgentThought,
}
