use agentwire_jsonrpc::RawObject;
use serde::Serialize;

use crate::wire::{null_as_default, optional_number};
use crate::{Icon, Meta, ResourceContents};

/// One piece of what a tool answers or a prompt says.
///
/// A kind that we do not know is kept as it came, so one new block does not cost the whole result.
/// See <https://modelcontextprotocol.io/specification/2025-11-25/schema#content>.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ContentBlock {
    /// Text.
    Text(TextContent),
    /// A picture.
    Image(ImageContent),
    /// A sound. Since 2025-03-26.
    Audio(AudioContent),
    /// Where a resource can be read. Since 2025-06-18.
    ResourceLink(ResourceLink),
    /// A resource and what is in it.
    Resource(EmbeddedResource),
    /// A block of a kind that this version of the library does not know, `type` included.
    Unknown(RawObject),
}

tagged_union!(ContentBlock by "type" {
    "text" => Text,
    "image" => Image,
    "audio" => Audio,
    "resource_link" => ResourceLink,
    "resource" => Resource,
    _ => Unknown
});

impl ContentBlock {
    /// Text.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text(TextContent::new(text))
    }

    /// A picture: base64 data and its media type.
    pub fn image(data: impl Into<String>, mime_type: impl Into<String>) -> Self {
        Self::Image(ImageContent::new(data, mime_type))
    }

    /// A sound: base64 data and its media type.
    pub fn audio(data: impl Into<String>, mime_type: impl Into<String>) -> Self {
        Self::Audio(AudioContent::new(data, mime_type))
    }

    /// Where a resource can be read, and its name.
    pub fn resource_link(uri: impl Into<String>, name: impl Into<String>) -> Self {
        Self::ResourceLink(ResourceLink::new(uri, name))
    }

    /// A resource and what is in it.
    pub fn resource(resource: impl Into<ResourceContents>) -> Self {
        Self::Resource(EmbeddedResource::new(resource))
    }

    /// The text, if it is a text block.
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(block) => Some(&block.text),
            _ => None,
        }
    }
}

impl From<&str> for ContentBlock {
    fn from(text: &str) -> Self {
        Self::text(text)
    }
}

impl From<String> for ContentBlock {
    fn from(text: String) -> Self {
        Self::text(text)
    }
}

macro_rules! from_blocks {
    ($( $block:ident => $variant:ident, )+) => {
        $(
            impl From<$block> for ContentBlock {
                fn from(block: $block) -> Self {
                    Self::$variant(block)
                }
            }
        )+
    };
}

from_blocks! {
    TextContent => Text,
    ImageContent => Image,
    AudioContent => Audio,
    ResourceLink => ResourceLink,
    EmbeddedResource => Resource,
}

object! {
    /// Text, a `text` block.
    #[derive(Clone, Debug, PartialEq, Serialize)]
    #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
    #[serde(tag = "type", rename = "text", rename_all = "camelCase")]
    #[cfg_attr(
        feature = "schema",
        schemars(rename = "TextContent", transform = crate::schema::Tag("type", "text"))
    )]
    #[non_exhaustive]
    pub struct TextContent {
        /// The text.
        pub text: String,
        /// For whom it is and how much it matters.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub annotations: Option<Annotations>,
        /// Attachments. Since 2025-06-18.
        #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
        pub meta: Option<Meta>,
    }
}

impl TextContent {
    /// A block of text.
    pub fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), annotations: None, meta: None }
    }
}

setters!(TextContent {
    some annotations: Annotations,
    some meta: Meta,
});

macro_rules! media_content {
    ($( $(#[$attribute:meta])* $name:ident = $schema:tt, $tag:literal; )+) => {
        $(
            object! {
                $(#[$attribute])*
                #[derive(Clone, Debug, PartialEq, Serialize)]
                #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
                #[serde(tag = "type", rename = $tag, rename_all = "camelCase")]
                #[cfg_attr(
                    feature = "schema",
                    schemars(rename = $schema, transform = crate::schema::Tag("type", $tag))
                )]
                #[non_exhaustive]
                pub struct $name {
                    /// The bytes in base64, with padding.
                    #[cfg_attr(feature = "schema", schemars(extend("format" = "byte")))]
                    pub data: String,
                    /// Their media type.
                    pub mime_type: String,
                    /// For whom it is and how much it matters.
                    #[serde(skip_serializing_if = "Option::is_none")]
                    pub annotations: Option<Annotations>,
                    /// Attachments. Since 2025-06-18.
                    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
                    pub meta: Option<Meta>,
                }
            }

            impl $name {
                /// A block of base64 data and its media type.
                pub fn new(data: impl Into<String>, mime_type: impl Into<String>) -> Self {
                    Self { data: data.into(), mime_type: mime_type.into(), annotations: None, meta: None }
                }
            }

            setters!($name {
                some annotations: Annotations,
                some meta: Meta,
            });
        )+
    };
}

media_content! {
    /// A picture, an `image` block.
    ImageContent = "ImageContent", "image";
    /// A sound, an `audio` block. Since 2025-03-26.
    AudioContent = "AudioContent", "audio";
}

object! {
    /// Where a resource can be read, a `resource_link` block. Since 2025-06-18.
    ///
    /// It need not be among those that `resources/list` names.
    #[derive(Clone, Debug, PartialEq, Serialize)]
    #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
    #[serde(tag = "type", rename = "resource_link", rename_all = "camelCase")]
    #[cfg_attr(
        feature = "schema",
        schemars(rename = "ResourceLink", transform = crate::schema::Tag("type", "resource_link"))
    )]
    #[non_exhaustive]
    pub struct ResourceLink {
        /// Where it is.
        #[cfg_attr(feature = "schema", schemars(extend("format" = "uri")))]
        pub uri: String,
        /// Its name for programs.
        pub name: String,
        /// Its name for people.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub title: Option<String>,
        /// What it is, in words for the model.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub description: Option<String>,
        /// Its media type.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub mime_type: Option<String>,
        /// Its length in bytes, before any encoding.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub size: Option<u64>,
        /// Pictures to show it by. Since 2025-11-25.
        #[serde(default, deserialize_with = "null_as_default", skip_serializing_if = "Vec::is_empty")]
        pub icons: Vec<Icon>,
        /// For whom it is and how much it matters.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub annotations: Option<Annotations>,
        /// Attachments.
        #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
        pub meta: Option<Meta>,
    }
}

impl ResourceLink {
    /// A link to a resource of that name.
    pub fn new(uri: impl Into<String>, name: impl Into<String>) -> Self {
        Self {
            uri: uri.into(),
            name: name.into(),
            title: None,
            description: None,
            mime_type: None,
            size: None,
            icons: Vec::new(),
            annotations: None,
            meta: None,
        }
    }
}

setters!(ResourceLink {
    some title: String,
    some description: String,
    some mime_type: String,
    some size: u64,
    set icons: Vec<Icon>,
    some annotations: Annotations,
    some meta: Meta,
});

object! {
    /// A resource and what is in it, a `resource` block.
    #[derive(Clone, Debug, PartialEq, Serialize)]
    #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
    #[serde(tag = "type", rename = "resource", rename_all = "camelCase")]
    #[cfg_attr(
        feature = "schema",
        schemars(rename = "EmbeddedResource", transform = crate::schema::Tag("type", "resource"))
    )]
    #[non_exhaustive]
    pub struct EmbeddedResource {
        /// What is in it.
        pub resource: ResourceContents,
        /// For whom it is and how much it matters.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub annotations: Option<Annotations>,
        /// Attachments. Since 2025-06-18.
        #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
        pub meta: Option<Meta>,
    }
}

impl EmbeddedResource {
    /// A block of these contents.
    pub fn new(resource: impl Into<ResourceContents>) -> Self {
        Self { resource: resource.into(), annotations: None, meta: None }
    }
}

setters!(EmbeddedResource {
    some annotations: Annotations,
    some meta: Meta,
});

object! {
    /// For whom something is, how much it matters and how old it is. Hints, which may be false.
    #[derive(Clone, Debug, Default, PartialEq, Serialize)]
    #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
    #[serde(rename_all = "camelCase")]
    #[non_exhaustive]
    pub struct Annotations {
        /// For whom it is. None means for both.
        #[serde(default, deserialize_with = "null_as_default", skip_serializing_if = "Vec::is_empty")]
        pub audience: Vec<Role>,
        /// From 0, which can be left out, to 1, which is needed.
        #[serde(default, serialize_with = "optional_number", skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "schema", schemars(range(min = 0, max = 1)))]
        pub priority: Option<f64>,
        /// When it last changed, as ISO 8601 text. Since 2025-06-18.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub last_modified: Option<String>,
    }
}

setters!(Annotations {
    set audience: Vec<Role>,
    some priority: f64,
    some last_modified: String,
});

open_enum! {
    /// Who says something, or for whom it is.
    pub enum Role {
        /// The person, or what stands for one.
        User = "user",
        /// The language model.
        Assistant = "assistant",
    }
}

has_meta!(TextContent, ImageContent, AudioContent, ResourceLink, EmbeddedResource);
