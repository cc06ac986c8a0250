//! The macro for the updates `session_message` and `session_message_chunk`, over a version's `ContentBlock`.

/// Defines what versions say in the same words about messages between sessions.
///
/// The types are each version's own, because its content blocks are. Around the call there must be `ContentBlock`.
macro_rules! session_message_types {
    () => {
        /// The update `session_message`: a message from one session to another, as one of them sees it. What is kept is left
        /// out, what is cleared is null.
        ///
        /// Only for clients that show subagents. See <https://agentclientprotocol.com/rfds/subagents>. A draft.
        #[derive(Clone, Debug, PartialEq, agentwire_wire_derive::Wire, agentwire_wire_derive::Build)]
        #[non_exhaustive]
        pub struct SessionMessage {
            /// Identifies the message within the session that the update is about.
            #[wire(required)]
            pub message_id: $crate::common::MessageId,
            /// Who has sent it.
            #[wire(patch)]
            pub sender_session_id: Patch<$crate::common::SessionId>,
            /// Whom it is for.
            #[wire(patch)]
            pub recipient_session_id: Patch<$crate::common::SessionId>,
            /// The id in the sender's session, if this session receives it.
            #[wire(patch)]
            pub sender_message_id: Patch<$crate::common::MessageId>,
            /// The id in the recipient's session, if this session sends it.
            #[wire(patch)]
            pub recipient_message_id: Patch<$crate::common::MessageId>,
            /// The whole content. An empty list clears it, as null does.
            #[wire(patch_items)]
            pub content: Patch<Vec<ContentBlock>>,
            /// Extension metadata; receivers make no assumptions about its keys. It is patched too.
            #[wire(patch, name = "_meta")]
            pub meta: Patch<$crate::common::Meta>,
        }

        /// The update `session_message_chunk`: a piece to append to such a message. A draft.
        #[derive(Clone, Debug, PartialEq, agentwire_wire_derive::Wire, agentwire_wire_derive::Build)]
        #[non_exhaustive]
        pub struct SessionMessageChunk {
            /// The message.
            #[wire(required)]
            pub message_id: $crate::common::MessageId,
            /// The content.
            #[wire(required)]
            pub content: ContentBlock,
            /// Extension metadata; receivers make no assumptions about its keys.
            #[wire(meta)]
            pub meta: Option<$crate::common::Meta>,
        }
    };
}
pub(crate) use session_message_types;
