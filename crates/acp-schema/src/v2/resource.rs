use agentwire_jsonrpc::RawObject;
use agentwire_wire_derive::{Build, Wire};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use super::{Annotations, Icon, MediaType};
use crate::common::Meta;

/// The block `resource_link`: something that the receiver can read if it wants to.
#[derive(Clone, Debug, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct ResourceLink {
    /// What to call it where there is no [`title`](Self::title).
    #[wire(required)]
    pub name: String,
    /// Where it is.
    #[wire(required, schema(url))]
    pub uri: String,
    /// What to call it in front of people.
    #[wire(lenient)]
    pub title: Option<String>,
    /// A sentence about it, for people.
    #[wire(lenient)]
    pub description: Option<String>,
    /// Pictures for it, in several sizes.
    #[wire(optional_items)]
    pub icons: Option<Vec<Icon>>,
    /// The media type of what is there.
    #[wire(lenient)]
    pub mime_type: Option<MediaType>,
    /// Its size in bytes.
    #[wire(lenient_number)]
    pub size: Option<u64>,
    /// How to use the block.
    #[wire(lenient)]
    pub annotations: Option<Box<Annotations>>,
    /// Free room: its keys belong to whoever sent them.
    #[wire(meta)]
    pub meta: Option<Meta>,
}

/// The block `resource`: a resource and its contents at once.
#[derive(Clone, Debug, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct EmbeddedResource {
    /// The contents.
    #[wire(required)]
    pub resource: EmbeddedResourceResource,
    /// How to use the block.
    #[wire(lenient)]
    pub annotations: Option<Box<Annotations>>,
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
        let object = RawObject::deserialize(deserializer)?;
        if object.contains_key("text") || !object.contains_key("blob") {
            object.decode().map(Self::Text).map_err(de::Error::custom)
        } else {
            object.decode().map(Self::Blob).map_err(de::Error::custom)
        }
    }
}

/// The contents of a resource that is text.
#[derive(Clone, Debug, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct TextResourceContents {
    /// The text.
    #[wire(required)]
    pub text: String,
    /// Where it is from.
    #[wire(required, schema(url))]
    pub uri: String,
    /// Its media type.
    #[wire(lenient)]
    pub mime_type: Option<MediaType>,
    /// Free room: its keys belong to whoever sent them.
    #[wire(meta)]
    pub meta: Option<Meta>,
}

/// The contents of a resource that is bytes.
#[derive(Clone, Debug, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct BlobResourceContents {
    /// The bytes, in Base64.
    #[wire(required, schema(extend("contentEncoding" = "base64")))]
    pub blob: String,
    /// Where it is from.
    #[wire(required, schema(url))]
    pub uri: String,
    /// Their media type.
    #[wire(lenient)]
    pub mime_type: Option<MediaType>,
    /// Free room: its keys belong to whoever sent them.
    #[wire(meta)]
    pub meta: Option<Meta>,
}
