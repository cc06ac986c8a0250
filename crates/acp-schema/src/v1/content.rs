use agentwire_wire_derive::{Build, Wire};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::common::{Meta, Role};

/// Something to show or to say: in prompts, in streamed messages, in results of tools.
///
/// The shapes are those of MCP, so what a tool returned can be passed on as it is. See
/// <https://agentclientprotocol.com/protocol/v1/content>.
#[derive(Clone, Debug, PartialEq, Wire)]
#[wire(tag = "type")]
#[non_exhaustive]
pub enum ContentBlock {
    /// Text, to be read as Markdown. Every agent takes it.
    #[wire("text", from)]
    Text(TextContent),
    /// A picture; in prompts only where the agent has the capability `image`.
    #[wire("image", from)]
    Image(Box<ImageContent>),
    /// Sound; in prompts only where the agent has the capability `audio`.
    #[wire("audio", from)]
    Audio(Box<AudioContent>),
    /// A pointer to something the agent can read by itself. Every agent takes it.
    #[wire("resource_link", from)]
    ResourceLink(Box<ResourceLink>),
    /// A resource with its contents; in prompts only where the agent has the capability `embeddedContext`.
    #[wire("resource", from)]
    Resource(Box<EmbeddedResource>),
    /// A block of a type that this version does not know: the whole object.
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
    /// How to use the block.
    #[wire(lenient)]
    pub annotations: Option<Box<Annotations>>,
    /// The text.
    #[wire(required)]
    pub text: String,
    /// Free room: its keys belong to whoever sent them.
    #[wire(meta)]
    pub meta: Option<Meta>,
}

/// The block `image`.
#[derive(Clone, Debug, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct ImageContent {
    /// How to use the block.
    #[wire(lenient)]
    pub annotations: Option<Box<Annotations>>,
    /// The bytes of the picture, in Base64.
    #[wire(required)]
    pub data: String,
    /// Their media type, such as `image/png`.
    #[wire(required)]
    pub mime_type: String,
    /// Where the picture is from.
    #[wire(lenient)]
    pub uri: Option<String>,
    /// Free room: its keys belong to whoever sent them.
    #[wire(meta)]
    pub meta: Option<Meta>,
}

/// The block `audio`.
#[derive(Clone, Debug, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct AudioContent {
    /// How to use the block.
    #[wire(lenient)]
    pub annotations: Option<Box<Annotations>>,
    /// The bytes of the sound, in Base64.
    #[wire(required)]
    pub data: String,
    /// Their media type, such as `audio/wav`.
    #[wire(required)]
    pub mime_type: String,
    /// Free room: its keys belong to whoever sent them.
    #[wire(meta)]
    pub meta: Option<Meta>,
}

/// The block `resource_link`: something the agent can read if it wants to.
#[derive(Clone, Debug, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct ResourceLink {
    /// How to use the block.
    #[wire(lenient)]
    pub annotations: Option<Box<Annotations>>,
    /// A sentence about it, for people.
    #[wire(lenient)]
    pub description: Option<String>,
    /// The media type of what is there.
    #[wire(lenient)]
    pub mime_type: Option<String>,
    /// What to call it where there is no [`title`](Self::title).
    #[wire(required)]
    pub name: String,
    /// Its size in bytes.
    #[wire(lenient_number)]
    pub size: Option<i64>,
    /// What to call it in front of people.
    #[wire(lenient)]
    pub title: Option<String>,
    /// Where it is.
    #[wire(required)]
    pub uri: String,
    /// Free room: its keys belong to whoever sent them.
    #[wire(meta)]
    pub meta: Option<Meta>,
}

/// The block `resource`: a resource and its contents at once.
#[derive(Clone, Debug, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct EmbeddedResource {
    /// How to use the block.
    #[wire(lenient)]
    pub annotations: Option<Box<Annotations>>,
    /// The contents.
    #[wire(required)]
    pub resource: EmbeddedResourceResource,
    /// Free room: its keys belong to whoever sent them.
    #[wire(meta)]
    pub meta: Option<Meta>,
}

/// The contents of an embedded resource: text, or bytes.
///
/// Told apart by the member `text` or `blob`; an object with both is text, one with neither is an error.
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

impl Serialize for EmbeddedResourceResource {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Text(contents) => contents.serialize(serializer),
            Self::Blob(contents) => contents.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for EmbeddedResourceResource {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let TextOrBlob { text, blob, uri, mime_type, meta } = TextOrBlob::deserialize(deserializer)?;
        match (text, blob) {
            (Some(text), _) => Ok(Self::Text(TextResourceContents { mime_type, text, uri, meta })),
            (None, Some(blob)) => Ok(Self::Blob(BlobResourceContents { blob, mime_type, uri, meta })),
            (None, None) => Err(de::Error::custom("a resource has neither a `text` nor a `blob`")),
        }
    }
}

/// Both shapes at once: the last member may tell which it is, and a file's text is better moved than read twice.
#[derive(Wire)]
struct TextOrBlob {
    #[wire(optional, read = present)]
    text: Option<String>,
    /// Of no interest beside a text, whatever it is.
    #[wire(lenient)]
    blob: Option<String>,
    #[wire(required)]
    uri: String,
    #[wire(lenient)]
    mime_type: Option<String>,
    #[wire(meta)]
    meta: Option<Meta>,
}

/// A member that may be missing, but not be null.
fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    String::deserialize(deserializer).map(Some)
}

/// The contents of a resource that is text.
#[derive(Clone, Debug, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct TextResourceContents {
    /// Its media type.
    #[wire(lenient)]
    pub mime_type: Option<String>,
    /// The text.
    #[wire(required)]
    pub text: String,
    /// Where it is from.
    #[wire(required)]
    pub uri: String,
    /// Free room: its keys belong to whoever sent them.
    #[wire(meta)]
    pub meta: Option<Meta>,
}

/// The contents of a resource that is bytes.
#[derive(Clone, Debug, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct BlobResourceContents {
    /// The bytes, in Base64.
    #[wire(required)]
    pub blob: String,
    /// Their media type.
    #[wire(lenient)]
    pub mime_type: Option<String>,
    /// Where it is from.
    #[wire(required)]
    pub uri: String,
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
    /// How much it matters next to others; MCP uses 0 (not at all) to 1 (indispensable).
    #[wire(lenient_number)]
    pub priority: Option<f64>,
    /// Free room: its keys belong to whoever sent them.
    #[wire(meta)]
    pub meta: Option<Meta>,
}
