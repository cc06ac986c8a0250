//! The content blocks of tool results and prompt messages, with their annotations. An unknown block type is kept as raw JSON.

use std::borrow::Cow;

use agentwire_jsonrpc::RawObject;
use agentwire_wire_derive::Wire;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::wire::number;
use crate::{Meta, ResourceContents};

/// One piece of a tool's answer or of a prompt.
///
/// A kind that we do not know is kept as it came, so one new block does not cost the whole result.
/// See <https://modelcontextprotocol.io/specification/2025-11-25/schema#content>.
#[derive(Clone, Debug, PartialEq, Wire)]
#[wire(tag = "type", without_schema)]
#[non_exhaustive]
pub enum ContentBlock {
    /// Text.
    #[wire("text", from)]
    Text(TextContent),
    /// A picture.
    #[wire("image", from)]
    Image(ImageContent),
    /// A sound. Since 2025-03-26.
    #[wire("audio", from)]
    Audio(AudioContent),
    /// Where a resource can be read. Since 2025-06-18.
    #[wire("resource_link", from)]
    ResourceLink(ResourceLink),
    /// A resource and what is in it.
    #[wire("resource", from)]
    Resource(EmbeddedResource),
    /// A block of a kind that this version of the library does not know, `type` included.
    #[wire(unknown)]
    Unknown(RawObject),
}

impl ContentBlock {
    /// Text.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text(TextContent::new(text))
    }

    /// A picture: base64 data and its media type.
    pub fn image(data: impl Into<String>, mime_type: impl Into<String>) -> Self {
        Self::Image(ImageContent::new(data, mime_type))
    }

    /// A picture: its bytes, which travel as base64, and its media type.
    ///
    /// ```
    /// use agentwire_mcp_schema::ContentBlock;
    ///
    /// let png = b"\x89PNG\r\n";
    /// let block = ContentBlock::image_bytes(png, "image/png");
    /// assert_eq!(block, ContentBlock::image("iVBORw0K", "image/png"));
    /// assert!(matches!(block, ContentBlock::Image(image) if image.bytes().unwrap() == png));
    /// ```
    pub fn image_bytes(bytes: impl AsRef<[u8]>, mime_type: impl Into<String>) -> Self {
        Self::image(STANDARD.encode(bytes), mime_type)
    }

    /// A sound: base64 data and its media type.
    pub fn audio(data: impl Into<String>, mime_type: impl Into<String>) -> Self {
        Self::Audio(AudioContent::new(data, mime_type))
    }

    /// A sound: its bytes, which travel as base64, and its media type.
    pub fn audio_bytes(bytes: impl AsRef<[u8]>, mime_type: impl Into<String>) -> Self {
        Self::audio(STANDARD.encode(bytes), mime_type)
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

/// Text, a `text` block.
#[derive(Clone, Debug, PartialEq, Wire)]
#[wire(tag = "type", value = "text")]
#[non_exhaustive]
pub struct TextContent {
    /// The text.
    #[wire(required)]
    pub text: String,
    /// Its audience and priority.
    #[wire(optional)]
    pub annotations: Option<Annotations>,
    /// Extension metadata. Since 2025-06-18.
    #[wire(strict_meta)]
    pub meta: Option<Meta>,
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
    ($( $(#[$attribute:meta])* $name:ident = $tag:literal; )+) => {
        $(
            $(#[$attribute])*
            #[derive(Clone, Debug, PartialEq, agentwire_wire_derive::Wire)]
            #[wire(tag = "type", value = $tag)]
            #[non_exhaustive]
            pub struct $name {
                /// The bytes in base64, with padding.
                #[wire(required, schema(extend("format" = "byte")))]
                pub data: String,
                /// Their media type.
                #[wire(required)]
                pub mime_type: String,
                /// Its audience and priority.
                #[wire(optional)]
                pub annotations: Option<Annotations>,
                /// Extension metadata. Since 2025-06-18.
                #[wire(strict_meta)]
                pub meta: Option<Meta>,
            }

            impl $name {
                /// A block of base64 data and its media type.
                pub fn new(data: impl Into<String>, mime_type: impl Into<String>) -> Self {
                    Self { data: data.into(), mime_type: mime_type.into(), annotations: None, meta: None }
                }

                /// The bytes. `None` if the data is not base64 with padding.
                pub fn bytes(&self) -> Option<Vec<u8>> {
                    STANDARD.decode(&self.data).ok()
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
    ImageContent = "image";
    /// A sound, an `audio` block. Since 2025-03-26.
    AudioContent = "audio";
}

resource_type! {
    /// A link to a resource, a `resource_link` block. Since 2025-06-18.
    ///
    /// `resources/list` need not include the resource.
    #[wire(tag = "type", value = "resource_link")]
    ResourceLink
}

/// A resource and what is in it, a `resource` block.
#[derive(Clone, Debug, PartialEq, Wire)]
#[wire(tag = "type", value = "resource")]
#[non_exhaustive]
pub struct EmbeddedResource {
    /// The contents.
    #[wire(required)]
    pub resource: ResourceContents,
    /// Its audience and priority.
    #[wire(optional)]
    pub annotations: Option<Annotations>,
    /// Extension metadata. Since 2025-06-18.
    #[wire(strict_meta)]
    pub meta: Option<Meta>,
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

/// The audience, the priority and the age of content. Hints, which may be false.
#[derive(Clone, Debug, Default, PartialEq, Wire)]
#[non_exhaustive]
pub struct Annotations {
    /// The audience. Absent means both roles.
    #[wire(plain_list)]
    pub audience: Vec<Role>,
    /// From 0, which can be left out, to 1, which is needed.
    #[wire(optional, write = number, schema(range(min = 0, max = 1)))]
    pub priority: Option<f64>,
    /// When it last changed, as ISO 8601 text. Since 2025-06-18.
    #[wire(optional)]
    pub last_modified: Option<String>,
}

empty!(Annotations);
setters!(Annotations {
    list audience: Role,
    some priority: f64,
    some last_modified: String,
});

/// The author or the audience of content.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Wire)]
#[non_exhaustive]
pub enum Role {
    /// The person who uses the client.
    #[wire("user")]
    User,
    /// The language model.
    #[wire("assistant")]
    Assistant,
    /// A string that this version of the library does not know, unchanged.
    #[wire(unknown)]
    Unknown(Box<str>),
}

has_meta!(TextContent, ImageContent, AudioContent, EmbeddedResource);

/// Texts with a line break between two. One, the usual case, is borrowed.
pub(crate) fn join_lines<'a>(mut texts: impl Iterator<Item = &'a str>) -> Cow<'a, str> {
    let first = texts.next().unwrap_or_default();
    texts.fold(Cow::Borrowed(first), |mut all, next| {
        let joined = all.to_mut();
        joined.push('\n');
        joined.push_str(next);
        all
    })
}
