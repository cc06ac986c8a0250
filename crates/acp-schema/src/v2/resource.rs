use agentwire_jsonrpc::RawObject;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use super::{Annotations, Icon, MediaType};
use crate::wire::object;

object! {
    /// The block `resource_link`: something that the receiver can read if it wants to.
    ResourceLink {
        /// What to call it where there is no [`title`](Self::title).
        required name: String,
        /// Where it is.
        #[cfg_attr(feature = "schema", schemars(url))]
        required uri: String,
        /// What to call it in front of people.
        lenient title: Option<String>,
        /// A sentence about it, for people.
        lenient description: Option<String>,
        /// Pictures for it, in several sizes.
        optional_items icons: Option<Vec<Icon>>,
        /// The media type of what is there.
        lenient mime_type: Option<MediaType>,
        /// Its size in bytes.
        lenient_number size: Option<u64>,
        /// How to use the block.
        lenient annotations: Option<Box<Annotations>>,
        meta,
    }
}

object! {
    /// The block `resource`: a resource and its contents at once.
    EmbeddedResource {
        /// The contents.
        required resource: EmbeddedResourceResource,
        /// How to use the block.
        lenient annotations: Option<Box<Annotations>>,
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
        let object = RawObject::deserialize(deserializer)?;
        if object.contains_key("text") || !object.contains_key("blob") {
            object.decode().map(Self::Text).map_err(de::Error::custom)
        } else {
            object.decode().map(Self::Blob).map_err(de::Error::custom)
        }
    }
}

object! {
    /// The contents of a resource that is text.
    TextResourceContents {
        /// The text.
        required text: String,
        /// Where it is from.
        #[cfg_attr(feature = "schema", schemars(url))]
        required uri: String,
        /// Its media type.
        lenient mime_type: Option<MediaType>,
        meta,
    }
}

object! {
    /// The contents of a resource that is bytes.
    BlobResourceContents {
        /// The bytes, in Base64.
        #[cfg_attr(feature = "schema", schemars(extend("contentEncoding" = "base64")))]
        required blob: String,
        /// Where it is from.
        #[cfg_attr(feature = "schema", schemars(url))]
        required uri: String,
        /// Their media type.
        lenient mime_type: Option<MediaType>,
        meta,
    }
}
