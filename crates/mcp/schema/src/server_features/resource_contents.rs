//! The contents of a resource in `resources/read` results and embedded blocks. The member `text` or `blob` decides between text
//! and bytes.

use agentwire_wire_derive::Wire;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};

use crate::Meta;

/// The contents of a resource: text or bytes. An object with both `text` and `blob` is text; one with neither is an error.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
#[non_exhaustive]
pub enum ResourceContents {
    /// Text.
    Text(TextResourceContents),
    /// Bytes.
    Blob(BlobResourceContents),
}

impl ResourceContents {
    /// Text at that URI.
    pub fn text(uri: impl Into<String>, text: impl Into<String>) -> Self {
        Self::Text(TextResourceContents::new(uri, text))
    }

    /// Bytes at that URI, in base64.
    pub fn blob(uri: impl Into<String>, blob: impl Into<String>) -> Self {
        Self::Blob(BlobResourceContents::new(uri, blob))
    }

    /// Bytes at that URI, which travel as base64.
    pub fn bytes(uri: impl Into<String>, bytes: impl AsRef<[u8]>) -> Self {
        Self::blob(uri, STANDARD.encode(bytes))
    }

    /// Its URI.
    pub fn uri(&self) -> &str {
        match self {
            Self::Text(contents) => &contents.uri,
            Self::Blob(contents) => &contents.uri,
        }
    }

    /// Its media type.
    pub fn mime_type(&self) -> Option<&str> {
        match self {
            Self::Text(contents) => contents.mime_type.as_deref(),
            Self::Blob(contents) => contents.mime_type.as_deref(),
        }
    }

    /// The text, if it is text.
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(contents) => Some(&contents.text),
            Self::Blob(_) => None,
        }
    }
}

impl From<TextResourceContents> for ResourceContents {
    fn from(contents: TextResourceContents) -> Self {
        Self::Text(contents)
    }
}

impl From<BlobResourceContents> for ResourceContents {
    fn from(contents: BlobResourceContents) -> Self {
        Self::Blob(contents)
    }
}

/// No member names the kind, so all are read at once; the text is moved, not copied.
impl<'de> Deserialize<'de> for ResourceContents {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Wire)]
        #[wire(without_schema)]
        struct Either {
            #[wire(expected)]
            uri: String,
            #[wire(optional)]
            mime_type: Option<String>,
            #[wire(optional)]
            text: Option<String>,
            #[wire(optional)]
            blob: Option<String>,
            #[wire(strict_meta)]
            meta: Option<Meta>,
        }

        let Either { uri, mime_type, text, blob, meta } = Either::deserialize(deserializer)?;
        match (text, blob) {
            (Some(text), _) => Ok(TextResourceContents { uri, mime_type, text, meta }.into()),
            (None, Some(blob)) => Ok(BlobResourceContents { uri, mime_type, blob, meta }.into()),
            (None, None) => Err(D::Error::custom("a resource has neither `text` nor `blob`")),
        }
    }
}

macro_rules! resource_contents {
    ($( $(#[$attribute:meta])* $name:ident { $(#[doc = $body_doc:literal])* $(#[wire($($body_wire:tt)*)])? $body:ident } )+) => {
        $(
            $(#[$attribute])*
            #[derive(Clone, Debug, PartialEq, agentwire_wire_derive::Wire)]
            #[non_exhaustive]
            pub struct $name {
                /// Its URI.
                #[wire(expected, schema(extend("format" = "uri")))]
                pub uri: String,
                /// Its media type.
                #[wire(optional)]
                pub mime_type: Option<String>,
                $(#[doc = $body_doc])*
                $(#[wire($($body_wire)*)])?
                #[wire(required)]
                pub $body: String,
                /// Extension metadata. Since 2025-06-18.
                #[wire(strict_meta)]
                pub meta: Option<Meta>,
            }

            impl $name {
                /// The contents of the resource at that URI.
                pub fn new(uri: impl Into<String>, $body: impl Into<String>) -> Self {
                    Self { uri: uri.into(), mime_type: None, $body: $body.into(), meta: None }
                }
            }

            setters!($name {
                some mime_type: String,
                some meta: Meta,
            });

            has_meta!($name);
        )+
    };
}

resource_contents! {
    /// The contents of a resource that is text.
    TextResourceContents {
        /// The text.
        text
    }
    /// The contents of a resource that is not text.
    BlobResourceContents {
        /// The bytes in base64, with padding.
        #[wire(schema(extend("format" = "byte")))]
        blob
    }
}
