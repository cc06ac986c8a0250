//! What a message says about its own route, without decoding what it says to its reader.

use std::borrow::Cow;
use std::fmt;
use std::ops::Deref;

use agentwire_jsonrpc::{Message, RawJson};
use serde::de::Visitor;
use serde::{Deserialize, Deserializer};

/// The members of `params` that a transport looks at.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct Params<'a> {
    /// The revision that `initialize` offers.
    #[serde(borrow, default, rename = "protocolVersion")]
    pub(crate) protocol_version: Option<Text<'a>>,
    /// The name of a tool or of a prompt.
    #[serde(borrow, default)]
    pub(crate) name: Option<Text<'a>>,
    /// The URI of a resource.
    #[serde(borrow, default)]
    pub(crate) uri: Option<Text<'a>>,
    /// What every request of the stateless revisions carries.
    #[serde(borrow, default, rename = "_meta")]
    pub(crate) meta: Option<Meta<'a>>,
}

/// The members of `_meta` that a transport looks at.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct Meta<'a> {
    /// The revision that the request speaks.
    #[serde(borrow, default, rename = "io.modelcontextprotocol/protocolVersion")]
    pub(crate) protocol_version: Option<Text<'a>>,
}

/// A member that should be a string, borrowed where it has no escapes.
#[derive(Debug)]
pub(crate) struct Text<'a>(Cow<'a, str>);

impl Deref for Text<'_> {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Text<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Read;

        impl<'de> Visitor<'de> for Read {
            type Value = Text<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string")
            }

            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Text<'de>, E> {
                Ok(Text(Cow::Borrowed(text)))
            }

            fn visit_str<E>(self, text: &str) -> Result<Text<'de>, E> {
                Ok(Text(Cow::Owned(text.to_owned())))
            }
        }

        deserializer.deserialize_str(Read)
    }
}

impl<'a> Params<'a> {
    /// Looks into the params of a message; nothing where they are of another shape.
    pub(crate) fn of(message: &'a Message) -> Self {
        match message {
            Message::Request(request) => Self::read(request.params.as_ref()),
            Message::Notification(notification) => Self::read(notification.params.as_ref()),
            _ => Self::default(),
        }
    }

    /// Looks into params, or into a result.
    pub(crate) fn read(params: Option<&'a RawJson>) -> Self {
        params.and_then(|params| params.decode_borrowed().ok()).unwrap_or_default()
    }
}

/// The revision that an answer to `initialize` settles on, if it is one that is known.
#[cfg(feature = "server")]
pub(crate) fn agreed(result: &RawJson) -> Option<crate::revision::Revision> {
    let params: Params<'_> = result.decode_borrowed().ok()?;
    crate::revision::Revision::parse(&params.protocol_version?)
}

/// The request that a notification cancels, if that is what it does.
pub(crate) fn cancelled(
    notification: &agentwire_jsonrpc::Notification,
) -> Option<agentwire_jsonrpc::RequestId> {
    #[derive(Deserialize)]
    struct Cancelled {
        #[serde(rename = "requestId")]
        request_id: agentwire_jsonrpc::RequestId,
    }
    let params = notification.params.as_ref().filter(|_| notification.method == "notifications/cancelled")?;
    params.decode::<Cancelled>().ok().map(|cancelled| cancelled.request_id)
}
