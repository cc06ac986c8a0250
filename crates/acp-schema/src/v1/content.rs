use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::common::fields::Fields;
use crate::common::lenient::{lenient, optional_items};
use crate::common::{Meta, builder, open_enum, tagged_union};

/// Something to show or to say: in prompts, in streamed messages, in results of tools.
///
/// The shapes are those of MCP, so what a tool returned can be passed on as it is. See
/// <https://agentclientprotocol.com/protocol/v1/content>.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ContentBlock {
    /// Text, to be read as Markdown. Every agent takes it.
    Text(TextContent),
    /// A picture; in prompts only where the agent has the capability `image`.
    Image(Box<ImageContent>),
    /// Sound; in prompts only where the agent has the capability `audio`.
    Audio(Box<AudioContent>),
    /// A pointer to something the agent can read by itself. Every agent takes it.
    ResourceLink(Box<ResourceLink>),
    /// A resource with its contents; in prompts only where the agent has the capability `embeddedContext`.
    Resource(Box<EmbeddedResource>),
    /// A block of a type that this version does not know: the whole object.
    Unknown(Meta),
}

tagged_union! {
    ContentBlock by "type" {
        "text" => Text(TextContent),
        "image" => Image(Box<ImageContent>),
        "audio" => Audio(Box<AudioContent>),
        "resource_link" => ResourceLink(Box<ResourceLink>),
        "resource" => Resource(Box<EmbeddedResource>),
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

impl From<TextContent> for ContentBlock {
    fn from(content: TextContent) -> Self {
        Self::Text(content)
    }
}

impl From<ImageContent> for ContentBlock {
    fn from(content: ImageContent) -> Self {
        Self::Image(Box::new(content))
    }
}

impl From<AudioContent> for ContentBlock {
    fn from(content: AudioContent) -> Self {
        Self::Audio(Box::new(content))
    }
}

impl From<ResourceLink> for ContentBlock {
    fn from(link: ResourceLink) -> Self {
        Self::ResourceLink(Box::new(link))
    }
}

impl From<EmbeddedResource> for ContentBlock {
    fn from(resource: EmbeddedResource) -> Self {
        Self::Resource(Box::new(resource))
    }
}

/// The block `text`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct TextContent {
    /// How to use the block.
    #[serde(default, deserialize_with = "lenient", skip_serializing_if = "Option::is_none")]
    pub annotations: Option<Box<Annotations>>,
    /// The text.
    pub text: String,
    /// Free room; see [`Meta`].
    #[serde(
        rename = "_meta",
        default,
        deserialize_with = "lenient",
        skip_serializing_if = "Option::is_none"
    )]
    pub meta: Option<Meta>,
}

builder! {
    TextContent::new(text: String) {
        option annotations: Box<Annotations>,
        option meta: Meta,
    }
}

/// The block `image`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ImageContent {
    /// How to use the block.
    #[serde(default, deserialize_with = "lenient", skip_serializing_if = "Option::is_none")]
    pub annotations: Option<Box<Annotations>>,
    /// The bytes of the picture, in Base64.
    pub data: String,
    /// Their media type, such as `image/png`.
    pub mime_type: String,
    /// Where the picture is from.
    #[serde(default, deserialize_with = "lenient", skip_serializing_if = "Option::is_none")]
    pub uri: Option<String>,
    /// Free room; see [`Meta`].
    #[serde(
        rename = "_meta",
        default,
        deserialize_with = "lenient",
        skip_serializing_if = "Option::is_none"
    )]
    pub meta: Option<Meta>,
}

builder! {
    ImageContent::new(data: String, mime_type: String) {
        option annotations: Box<Annotations>,
        option uri: String,
        option meta: Meta,
    }
}

/// The block `audio`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct AudioContent {
    /// How to use the block.
    #[serde(default, deserialize_with = "lenient", skip_serializing_if = "Option::is_none")]
    pub annotations: Option<Box<Annotations>>,
    /// The bytes of the sound, in Base64.
    pub data: String,
    /// Their media type, such as `audio/wav`.
    pub mime_type: String,
    /// Free room; see [`Meta`].
    #[serde(
        rename = "_meta",
        default,
        deserialize_with = "lenient",
        skip_serializing_if = "Option::is_none"
    )]
    pub meta: Option<Meta>,
}

builder! {
    AudioContent::new(data: String, mime_type: String) {
        option annotations: Box<Annotations>,
        option meta: Meta,
    }
}

/// The block `resource_link`: something the agent can read if it wants to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ResourceLink {
    /// How to use the block.
    #[serde(default, deserialize_with = "lenient", skip_serializing_if = "Option::is_none")]
    pub annotations: Option<Box<Annotations>>,
    /// A sentence about it, for people.
    #[serde(default, deserialize_with = "lenient", skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The media type of what is there.
    #[serde(default, deserialize_with = "lenient", skip_serializing_if = "Option::is_none")]
    pub mime_type: Option<String>,
    /// What to call it where there is no [`title`](Self::title).
    pub name: String,
    /// Its size in bytes.
    #[serde(default, deserialize_with = "lenient", skip_serializing_if = "Option::is_none")]
    pub size: Option<i64>,
    /// What to call it in front of people.
    #[serde(default, deserialize_with = "lenient", skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Where it is.
    pub uri: String,
    /// Free room; see [`Meta`].
    #[serde(
        rename = "_meta",
        default,
        deserialize_with = "lenient",
        skip_serializing_if = "Option::is_none"
    )]
    pub meta: Option<Meta>,
}

builder! {
    ResourceLink::new(name: String, uri: String) {
        option annotations: Box<Annotations>,
        option description: String,
        option mime_type: String,
        number size: i64,
        option title: String,
        option meta: Meta,
    }
}

/// The block `resource`: a resource and its contents at once.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct EmbeddedResource {
    /// How to use the block.
    #[serde(default, deserialize_with = "lenient", skip_serializing_if = "Option::is_none")]
    pub annotations: Option<Box<Annotations>>,
    /// The contents.
    pub resource: EmbeddedResourceResource,
    /// Free room; see [`Meta`].
    #[serde(
        rename = "_meta",
        default,
        deserialize_with = "lenient",
        skip_serializing_if = "Option::is_none"
    )]
    pub meta: Option<Meta>,
}

builder! {
    EmbeddedResource::new(resource: EmbeddedResourceResource) {
        option annotations: Box<Annotations>,
        option meta: Meta,
    }
}

/// The contents of an embedded resource: text, or bytes.
///
/// Told apart by the member `text` or `blob`; an object with both is text, one with neither is an error.
#[derive(Clone, Debug, PartialEq)]
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
        let fields = Fields::deserialize(deserializer)?;
        if fields.contains("text") || !fields.contains("blob") {
            fields.decode().map(Self::Text).map_err(de::Error::custom)
        } else {
            fields.decode().map(Self::Blob).map_err(de::Error::custom)
        }
    }
}

/// The contents of a resource that is text.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct TextResourceContents {
    /// Its media type.
    #[serde(default, deserialize_with = "lenient", skip_serializing_if = "Option::is_none")]
    pub mime_type: Option<String>,
    /// The text.
    pub text: String,
    /// Where it is from.
    pub uri: String,
    /// Free room; see [`Meta`].
    #[serde(
        rename = "_meta",
        default,
        deserialize_with = "lenient",
        skip_serializing_if = "Option::is_none"
    )]
    pub meta: Option<Meta>,
}

builder! {
    TextResourceContents::new(text: String, uri: String) {
        option mime_type: String,
        option meta: Meta,
    }
}

/// The contents of a resource that is bytes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct BlobResourceContents {
    /// The bytes, in Base64.
    pub blob: String,
    /// Their media type.
    #[serde(default, deserialize_with = "lenient", skip_serializing_if = "Option::is_none")]
    pub mime_type: Option<String>,
    /// Where it is from.
    pub uri: String,
    /// Free room; see [`Meta`].
    #[serde(
        rename = "_meta",
        default,
        deserialize_with = "lenient",
        skip_serializing_if = "Option::is_none"
    )]
    pub meta: Option<Meta>,
}

builder! {
    BlobResourceContents::new(blob: String, uri: String) {
        option mime_type: String,
        option meta: Meta,
    }
}

/// Hints on how to use a content block.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Annotations {
    /// Whom it is meant for.
    #[serde(default, deserialize_with = "optional_items", skip_serializing_if = "Option::is_none")]
    pub audience: Option<Vec<Role>>,
    /// When what it shows was last changed, in ISO 8601.
    #[serde(default, deserialize_with = "lenient", skip_serializing_if = "Option::is_none")]
    pub last_modified: Option<String>,
    /// How much it matters next to others; MCP uses 0 (not at all) to 1 (indispensable).
    #[serde(default, deserialize_with = "lenient", skip_serializing_if = "Option::is_none")]
    pub priority: Option<f64>,
    /// Free room; see [`Meta`].
    #[serde(
        rename = "_meta",
        default,
        deserialize_with = "lenient",
        skip_serializing_if = "Option::is_none"
    )]
    pub meta: Option<Meta>,
}

builder! {
    Annotations::new() {
        option_list audience: Role,
        option last_modified: String,
        number priority: f64,
        option meta: Meta,
    }
}

open_enum! {
    /// A side of the conversation.
    Role {
        /// The model's side.
        Assistant = "assistant",
        /// The person's side.
        User = "user",
    } else Other
}
