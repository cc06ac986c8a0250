use agentwire_wire_derive::{Build, Wire};

use super::{EmbeddedResource, MediaType, ResourceLink};
use crate::common::{Meta, Role};

/// Something to show or to say: in prompts, in messages, in results of tools.
///
/// The shapes are those of MCP, so what a tool returned can be passed on as it is. See
/// <https://agentclientprotocol.com/protocol/v2/content>.
#[derive(Clone, Debug, PartialEq, Wire)]
#[wire(tag = "type")]
#[non_exhaustive]
pub enum ContentBlock {
    /// Text, to be read as Markdown. Every agent takes it.
    #[wire("text", from)]
    Text(TextContent),
    /// A picture; in prompts only where the agent has the capability `session.prompt.image`.
    #[wire("image", from)]
    Image(Box<ImageContent>),
    /// Sound; in prompts only where the agent has the capability `session.prompt.audio`.
    #[wire("audio", from)]
    Audio(Box<AudioContent>),
    /// A pointer to something that can perhaps be read by whoever gets it. Every agent takes it.
    #[wire("resource_link", from)]
    ResourceLink(Box<ResourceLink>),
    /// A resource with its contents; in prompts only where the agent has the capability
    /// `session.prompt.embeddedContext`.
    #[wire("resource", from)]
    Resource(Box<EmbeddedResource>),
    /// A block of a type that this version does not know: the whole object. Keep it when storing, replaying or
    /// passing on.
    #[wire(unknown)]
    Unknown(Meta),
}

impl ContentBlock {
    /// The text, if this is a text block.
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(content) => Some(&content.text),
            _ => None,
        }
    }
}

impl From<&str> for ContentBlock {
    fn from(text: &str) -> Self {
        Self::Text(TextContent::new(text))
    }
}

impl From<String> for ContentBlock {
    fn from(text: String) -> Self {
        Self::Text(TextContent::new(text))
    }
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
    /// Free room: its keys belong to whoever sent them.
    #[wire(meta)]
    pub meta: Option<Meta>,
}

/// The block `image`.
#[derive(Clone, Debug, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct ImageContent {
    /// The bytes of the picture, in Base64.
    #[wire(required, schema(extend("contentEncoding" = "base64")))]
    pub data: String,
    /// Their media type, such as `image/png`.
    #[wire(required)]
    pub mime_type: MediaType,
    /// Where the picture is from.
    #[wire(lenient, schema(url))]
    pub uri: Option<String>,
    /// How to use the block.
    #[wire(lenient)]
    pub annotations: Option<Box<Annotations>>,
    /// Free room: its keys belong to whoever sent them.
    #[wire(meta)]
    pub meta: Option<Meta>,
}

/// The block `audio`.
#[derive(Clone, Debug, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct AudioContent {
    /// The bytes of the sound, in Base64.
    #[wire(required, schema(extend("contentEncoding" = "base64")))]
    pub data: String,
    /// Their media type, such as `audio/wav`.
    #[wire(required)]
    pub mime_type: MediaType,
    /// How to use the block.
    #[wire(lenient)]
    pub annotations: Option<Box<Annotations>>,
    /// Free room: its keys belong to whoever sent them.
    #[wire(meta)]
    pub meta: Option<Meta>,
}

/// Hints on how to use a content block.
#[derive(Clone, Debug, Default, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct Annotations {
    /// Whom it is meant for.
    #[wire(optional_items)]
    pub audience: Option<Vec<Role>>,
    /// When what it shows was last changed, in ISO 8601.
    #[wire(lenient)]
    pub last_modified: Option<String>,
    /// How much it matters next to others, from 0 (least) to 1 (most).
    #[wire(lenient_number, schema(range(min = 0, max = 1)))]
    pub priority: Option<f64>,
    /// Free room: its keys belong to whoever sent them.
    #[wire(meta)]
    pub meta: Option<Meta>,
}
