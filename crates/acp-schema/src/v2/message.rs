use agentwire_wire_derive::{Build, Wire};

use super::ContentBlock;
use crate::common::{MessageId, Meta, Patch};

/// A piece to append to a message. Pieces of different messages may come in turns.
#[derive(Clone, Debug, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct ContentChunk {
    /// The message.
    #[wire(required)]
    pub message_id: MessageId,
    /// The piece.
    #[wire(required)]
    pub content: ContentBlock,
    /// Free room: its keys belong to whoever sent them.
    #[wire(meta)]
    pub meta: Option<Meta>,
}

/// Defines the updates that tell a whole message.
macro_rules! messages {
    ($($(#[$doc:meta])* $name:ident,)+) => {$(
        $(#[$doc])*
        ///
        /// The first one with an id begins the message, later ones patch it: what is kept is left out, what is
        /// cleared is null. Chunks that follow are appended.
        #[derive(Clone, Debug, PartialEq, Wire, Build)]
        #[non_exhaustive]
        pub struct $name {
            /// Names the message.
            #[wire(required)]
            pub message_id: MessageId,
            /// All of the message, with what came in chunks before. An empty list clears it, as null does.
            #[wire(patch_items)]
            pub content: Patch<Vec<ContentBlock>>,
            /// Free room; see [`Meta`]. It is [merged](Patch::merge).
            #[wire(patch, name = "_meta")]
            pub meta: Patch<Meta>,
        }
    )+};
}

messages! {
    /// The update `user_message`: what the person said.
    UserMessage,
    /// The update `agent_message`: what the agent said.
    AgentMessage,
    /// The update `agent_thought`: what the agent thought.
    AgentThought,
}
