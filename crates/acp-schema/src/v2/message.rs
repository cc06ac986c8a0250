use super::ContentBlock;
use crate::common::{MessageId, Meta, Patch};
use crate::wire::object;

object! {
    /// A piece to append to a message. Pieces of different messages may come in turns.
    ContentChunk {
        /// The message.
        required message_id: MessageId,
        /// The piece.
        required content: ContentBlock,
        meta,
    }
}

/// Defines the updates that tell a whole message.
macro_rules! messages {
    ($($(#[$doc:meta])* $name:ident,)+) => {$(
        object! {
            $(#[$doc])*
            ///
            /// The first one with an id begins the message, later ones patch it: what is kept is left out, what is
            /// cleared is null. Chunks that follow are appended.
            $name {
                /// Names the message.
                required message_id: MessageId,
                /// All of the message, with what came in chunks before. An empty list clears it, as null does.
                patch_items content: Patch<Vec<ContentBlock>>,
                /// Free room; see [`Meta`]. It is [merged](Patch::merge).
                patch meta: Patch<Meta> = "_meta",
            }
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
