/// Defines what versions say in the same words about messages between sessions.
///
/// The types are each version's own, because its content blocks are. Around the call there must be `ContentBlock`.
macro_rules! session_message_types {
    () => {
        $crate::wire::object! {
            /// The update `session_message`: a message from one session to another, as one of them sees it. What is kept is left
            /// out, what is cleared is null.
            ///
            /// Only for clients that show subagents. See <https://agentclientprotocol.com/rfds/subagents>. A draft.
            SessionMessage {
                /// Names the message within the session that the update is about.
                required message_id: $crate::common::MessageId,
                /// Who has sent it.
                patch sender_session_id: Patch<$crate::common::SessionId>,
                /// Whom it is for.
                patch recipient_session_id: Patch<$crate::common::SessionId>,
                /// What the sender's session calls it, where this session receives it.
                patch sender_message_id: Patch<$crate::common::MessageId>,
                /// What the recipient's session calls it, where this session sends it.
                patch recipient_message_id: Patch<$crate::common::MessageId>,
                /// All it says. An empty list clears it, as null does.
                patch_items content: Patch<Vec<ContentBlock>>,
                /// Free room: its keys belong to whoever sent them. It is patched too.
                patch meta: Patch<$crate::common::Meta> = "_meta",
            }
        }

        $crate::wire::object! {
            /// The update `session_message_chunk`: a piece to append to such a message. A draft.
            SessionMessageChunk {
                /// The message.
                required message_id: $crate::common::MessageId,
                /// The piece.
                required content: ContentBlock,
                meta,
            }
        }
    };
}
pub(crate) use session_message_types;
