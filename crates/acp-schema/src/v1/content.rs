use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::common::{Meta, Role};
use crate::wire::lenient::lenient;
use crate::wire::object_only::ObjectOnly;
use crate::wire::{object, tagged_union};

tagged_union! {
    /// Something to show or to say: in prompts, in streamed messages, in results of tools.
    ///
    /// The shapes are those of MCP, so what a tool returned can be passed on as it is. See
    /// <https://agentclientprotocol.com/protocol/v1/content>.
    ContentBlock by "type" {
        /// Text, to be read as Markdown. Every agent takes it.
        "text" => Text(TextContent) from TextContent,
        /// A picture; in prompts only where the agent has the capability `image`.
        "image" => Image(Box<ImageContent>) from ImageContent,
        /// Sound; in prompts only where the agent has the capability `audio`.
        "audio" => Audio(Box<AudioContent>) from AudioContent,
        /// A pointer to something the agent can read by itself. Every agent takes it.
        "resource_link" => ResourceLink(Box<ResourceLink>) from ResourceLink,
        /// A resource with its contents; in prompts only where the agent has the capability `embeddedContext`.
        "resource" => Resource(Box<EmbeddedResource>) from EmbeddedResource,
    }
    else {
        /// A block of a type that this version does not know: the whole object.
        Unknown
    }
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

object! {
    /// The block `text`.
    TextContent {
        /// How to use the block.
        lenient annotations: Option<Box<Annotations>>,
        /// The text.
        required text: String,
        meta,
    }
}

object! {
    /// The block `image`.
    ImageContent {
        /// How to use the block.
        lenient annotations: Option<Box<Annotations>>,
        /// The bytes of the picture, in Base64.
        required data: String,
        /// Their media type, such as `image/png`.
        required mime_type: String,
        /// Where the picture is from.
        lenient uri: Option<String>,
        meta,
    }
}

object! {
    /// The block `audio`.
    AudioContent {
        /// How to use the block.
        lenient annotations: Option<Box<Annotations>>,
        /// The bytes of the sound, in Base64.
        required data: String,
        /// Their media type, such as `audio/wav`.
        required mime_type: String,
        meta,
    }
}

object! {
    /// The block `resource_link`: something the agent can read if it wants to.
    ResourceLink {
        /// How to use the block.
        lenient annotations: Option<Box<Annotations>>,
        /// A sentence about it, for people.
        lenient description: Option<String>,
        /// The media type of what is there.
        lenient mime_type: Option<String>,
        /// What to call it where there is no [`title`](Self::title).
        required name: String,
        /// Its size in bytes.
        lenient_number size: Option<i64>,
        /// What to call it in front of people.
        lenient title: Option<String>,
        /// Where it is.
        required uri: String,
        meta,
    }
}

object! {
    /// The block `resource`: a resource and its contents at once.
    EmbeddedResource {
        /// How to use the block.
        lenient annotations: Option<Box<Annotations>>,
        /// The contents.
        required resource: EmbeddedResourceResource,
        meta,
    }
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
        let TextOrBlob { text, blob, uri, mime_type, meta } =
            TextOrBlob::deserialize(ObjectOnly(deserializer))?;
        match (text, blob) {
            (Some(text), _) => Ok(Self::Text(TextResourceContents { mime_type, text, uri, meta })),
            (None, Some(blob)) => Ok(Self::Blob(BlobResourceContents { blob, mime_type, uri, meta })),
            (None, None) => Err(de::Error::custom("a resource has neither a `text` nor a `blob`")),
        }
    }
}

/// Both shapes at once: the last member may tell which it is, and a file's text is better moved than read twice.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct TextOrBlob {
    #[serde(default, deserialize_with = "present")]
    text: Option<String>,
    /// Of no interest beside a text, whatever it is.
    #[serde(default, deserialize_with = "lenient")]
    blob: Option<String>,
    uri: String,
    #[serde(default, deserialize_with = "lenient")]
    mime_type: Option<String>,
    #[serde(rename = "_meta", default, deserialize_with = "lenient")]
    meta: Option<Meta>,
}

/// A member that may be missing, but not be null.
fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    String::deserialize(deserializer).map(Some)
}

object! {
    /// The contents of a resource that is text.
    TextResourceContents {
        /// Its media type.
        lenient mime_type: Option<String>,
        /// The text.
        required text: String,
        /// Where it is from.
        required uri: String,
        meta,
    }
}

object! {
    /// The contents of a resource that is bytes.
    BlobResourceContents {
        /// The bytes, in Base64.
        required blob: String,
        /// Their media type.
        lenient mime_type: Option<String>,
        /// Where it is from.
        required uri: String,
        meta,
    }
}

object! {
    /// Hints on how to use a content block.
    Annotations {
        /// Whom it is meant for.
        optional_items audience: Option<Vec<Role>>,
        /// When what it shows was last changed, in ISO 8601.
        lenient last_modified: Option<String>,
        /// How much it matters next to others; MCP uses 0 (not at all) to 1 (indispensable).
        lenient_number priority: Option<f64>,
        meta,
    }
}
