//! The macro for the params of `session/prompt`, whose constructor takes text, one content block or several.

/// Defines a version's `session/prompt` over its `ContentBlock` and `PromptResponse`, which must be in scope around the call.
macro_rules! prompt_request {
    ($(#[$doc:meta])* PromptRequest) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, agentwire_wire_derive::Wire, agentwire_wire_derive::Build)]
        #[wire(without_new)]
        #[non_exhaustive]
        pub struct PromptRequest {
            /// The session.
            #[wire(required)]
            pub session_id: $crate::common::SessionId,
            /// The message, at least one block. Text and resource links are always allowed, other blocks if the agent's
            /// [`PromptCapabilities`](super::PromptCapabilities) include them.
            #[wire(required)]
            pub prompt: Vec<ContentBlock>,
            /// Extension metadata; receivers make no assumptions about its keys.
            #[wire(meta)]
            pub meta: Option<$crate::common::Meta>,
        }

        impl PromptRequest {
            /// Makes a prompt of text, of one block or of several.
            #[must_use]
            pub fn new(
                session_id: impl Into<$crate::common::SessionId>,
                prompt: impl Into<PromptContent>,
            ) -> Self {
                Self { session_id: session_id.into(), prompt: prompt.into().0, meta: None }
            }
        }

        /// The content of a prompt, as [`PromptRequest::new`] takes it. There is no such type on the wire.
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
    };
}
pub(crate) use prompt_request;
