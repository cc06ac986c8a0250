//! The content blocks that prompts, messages and tool calls carry. A macro makes each version's `ContentBlock` union, whose
//! media types and `ResourceLink` differ.

use agentwire_wire_derive::{Build, Wire};
use serde::{Deserialize, Deserializer};

use crate::common::Meta;

/// A side of the conversation.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Wire)]
#[non_exhaustive]
pub enum Role {
    /// The model's side.
    #[wire("assistant")]
    Assistant,
    /// The person's side.
    #[wire("user")]
    User,
    /// A string that this version of the crate does not know, unchanged.
    #[wire(unknown)]
    Other(String),
}

/// Hints on how to use a content block.
#[derive(Clone, Debug, Default, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct Annotations {
    /// For which side of the conversation the block is meant.
    #[wire(optional_items)]
    pub audience: Option<Vec<Role>>,
    /// When the shown data was last changed, in ISO 8601.
    #[wire(lenient)]
    pub last_modified: Option<String>,
    /// How important the block is, from 0 (least) to 1 (most). Version 1 of the protocol does not limit the number.
    #[wire(lenient_number)]
    pub priority: Option<f64>,
    /// Extension metadata; receivers make no assumptions about its keys.
    #[wire(meta)]
    pub meta: Option<Meta>,
}

/// The block `text`.
#[derive(Clone, Debug, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct TextContent {
    /// The text.
    #[wire(required)]
    pub text: String,
    /// How to use the block.
    #[wire(lenient)]
    pub annotations: Option<Box<Annotations>>,
    /// Extension metadata; receivers make no assumptions about its keys.
    #[wire(meta)]
    pub meta: Option<Meta>,
}

/// Reads a member that may be missing, but may not be null.
pub(crate) fn not_null<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    String::deserialize(deserializer).map(Some)
}

/// Defines a version's union of content blocks and the blocks that differ only in the type of their media type.
///
/// `ResourceLink` has other members in each version, so it must be in scope around the call.
macro_rules! content_types {
    ($(#[$doc:meta])* ContentBlock, media type: $media_type:ty) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, agentwire_wire_derive::Wire)]
        #[wire(tag = "type")]
        #[non_exhaustive]
        pub enum ContentBlock {
            /// Text, to be read as Markdown. Every agent accepts it.
            #[wire("text", from)]
            Text($crate::common::TextContent),
            /// A picture. In prompts only if the agent's [`PromptCapabilities`](super::PromptCapabilities) include `image`.
            #[wire("image", from)]
            Image(Box<ImageContent>),
            /// Sound. In prompts only if the agent's [`PromptCapabilities`](super::PromptCapabilities) include `audio`.
            #[wire("audio", from)]
            Audio(Box<AudioContent>),
            /// A reference to a resource that the receiver may be able to read by itself. Every agent accepts it.
            #[wire("resource_link", from)]
            ResourceLink(Box<ResourceLink>),
            /// A resource with its contents. In prompts only if the agent's
            /// [`PromptCapabilities`](super::PromptCapabilities) include `embeddedContext`.
            #[wire("resource", from)]
            Resource(Box<EmbeddedResource>),
            /// A block of a type that this version does not know: the whole object. Keep it when storing, replaying or
            /// forwarding.
            #[wire(unknown)]
            Unknown($crate::common::Meta),
        }

        impl ContentBlock {
            /// Returns the text if this is a text block.
            pub fn as_text(&self) -> Option<&str> {
                match self {
                    Self::Text(content) => Some(&content.text),
                    _ => None,
                }
            }
        }

        impl From<&str> for ContentBlock {
            fn from(text: &str) -> Self {
                Self::Text($crate::common::TextContent::new(text))
            }
        }

        impl From<String> for ContentBlock {
            fn from(text: String) -> Self {
                Self::Text($crate::common::TextContent::new(text))
            }
        }

        /// The block `image`.
        #[derive(Clone, Debug, PartialEq, agentwire_wire_derive::Wire, agentwire_wire_derive::Build)]
        #[non_exhaustive]
        pub struct ImageContent {
            /// The picture, in Base64.
            #[wire(required)]
            pub data: String,
            /// Its media type.
            #[wire(required)]
            pub mime_type: $media_type,
            /// Its source.
            #[wire(lenient)]
            pub uri: Option<String>,
            /// How to use the block.
            #[wire(lenient)]
            pub annotations: Option<Box<$crate::common::Annotations>>,
            /// Extension metadata; receivers make no assumptions about its keys.
            #[wire(meta)]
            pub meta: Option<$crate::common::Meta>,
        }

        /// The block `audio`.
        #[derive(Clone, Debug, PartialEq, agentwire_wire_derive::Wire, agentwire_wire_derive::Build)]
        #[non_exhaustive]
        pub struct AudioContent {
            /// The sound, in Base64.
            #[wire(required)]
            pub data: String,
            /// Its media type.
            #[wire(required)]
            pub mime_type: $media_type,
            /// How to use the block.
            #[wire(lenient)]
            pub annotations: Option<Box<$crate::common::Annotations>>,
            /// Extension metadata; receivers make no assumptions about its keys.
            #[wire(meta)]
            pub meta: Option<$crate::common::Meta>,
        }

        /// The block `resource`: a resource with its contents.
        #[derive(Clone, Debug, PartialEq, agentwire_wire_derive::Wire, agentwire_wire_derive::Build)]
        #[non_exhaustive]
        pub struct EmbeddedResource {
            /// The contents.
            #[wire(required)]
            pub resource: EmbeddedResourceResource,
            /// How to use the block.
            #[wire(lenient)]
            pub annotations: Option<Box<$crate::common::Annotations>>,
            /// Extension metadata; receivers make no assumptions about its keys.
            #[wire(meta)]
            pub meta: Option<$crate::common::Meta>,
        }

        /// The contents of an embedded resource: text, or bytes.
        ///
        /// The member `text` or `blob` decides. An object with both is text; one with neither is an error.
        #[derive(Clone, Debug, PartialEq)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(untagged))]
        #[non_exhaustive]
        pub enum EmbeddedResourceResource {
            /// Text.
            Text(TextResourceContents),
            /// Bytes.
            Blob(BlobResourceContents),
        }

        impl From<TextResourceContents> for EmbeddedResourceResource {
            fn from(contents: TextResourceContents) -> Self {
                Self::Text(contents)
            }
        }

        impl From<BlobResourceContents> for EmbeddedResourceResource {
            fn from(contents: BlobResourceContents) -> Self {
                Self::Blob(contents)
            }
        }

        impl serde::Serialize for EmbeddedResourceResource {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                match self {
                    Self::Text(contents) => contents.serialize(serializer),
                    Self::Blob(contents) => contents.serialize(serializer),
                }
            }
        }

        impl<'de> serde::Deserialize<'de> for EmbeddedResourceResource {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let TextOrBlob { text, blob, uri, mime_type, meta } = TextOrBlob::deserialize(deserializer)?;
                match (text, blob) {
                    (Some(text), _) => Ok(Self::Text(TextResourceContents { text, uri, mime_type, meta })),
                    (None, Some(blob)) => Ok(Self::Blob(BlobResourceContents { blob, uri, mime_type, meta })),
                    (None, None) => {
                        Err(serde::de::Error::custom("a resource has neither a `text` nor a `blob`"))
                    }
                }
            }
        }

        /// The members of both shapes: the member that decides may be the last one, and the text of a large file should
        /// not be read twice.
        #[derive(agentwire_wire_derive::Wire)]
        struct TextOrBlob {
            #[wire(optional, read = $crate::common::not_null)]
            text: Option<String>,
            /// Ignored beside a text, even if it is malformed.
            #[wire(lenient)]
            blob: Option<String>,
            #[wire(required)]
            uri: String,
            #[wire(lenient)]
            mime_type: Option<$media_type>,
            #[wire(meta)]
            meta: Option<$crate::common::Meta>,
        }

        /// The contents of a resource that is text.
        #[derive(Clone, Debug, PartialEq, agentwire_wire_derive::Wire, agentwire_wire_derive::Build)]
        #[non_exhaustive]
        pub struct TextResourceContents {
            /// The text.
            #[wire(required)]
            pub text: String,
            /// Its source.
            #[wire(required)]
            pub uri: String,
            /// Its media type.
            #[wire(lenient)]
            pub mime_type: Option<$media_type>,
            /// Extension metadata; receivers make no assumptions about its keys.
            #[wire(meta)]
            pub meta: Option<$crate::common::Meta>,
        }

        /// The contents of a resource that is bytes.
        #[derive(Clone, Debug, PartialEq, agentwire_wire_derive::Wire, agentwire_wire_derive::Build)]
        #[non_exhaustive]
        pub struct BlobResourceContents {
            /// The bytes, in Base64.
            #[wire(required)]
            pub blob: String,
            /// Its source.
            #[wire(required)]
            pub uri: String,
            /// Their media type.
            #[wire(lenient)]
            pub mime_type: Option<$media_type>,
            /// Extension metadata; receivers make no assumptions about its keys.
            #[wire(meta)]
            pub meta: Option<$crate::common::Meta>,
        }
    };
}
pub(crate) use content_types;
