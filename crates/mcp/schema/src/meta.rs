//! The member `_meta`, the progress token inside it, and the trait and macro for types that carry it.

use std::fmt;

use agentwire_jsonrpc::{RawJson, RawObject, RequestId};
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

/// A JSON object whose members the protocol does not fix.
pub type JsonObject = Map<String, Value>;

/// The member `_meta`: any attachments of a peer, by keys such as `example.com/trace`.
///
/// It stays JSON text, which is read by key. Keys whose prefix names `modelcontextprotocol` or `mcp` belong to the protocol.
/// See <https://modelcontextprotocol.io/specification/2025-11-25/basic#_meta>.
pub type Meta = RawObject;

const PROGRESS_TOKEN: &str = "progressToken";

/// Ties a progress notification to the request it is about.
///
/// An integer or a string, and it keeps its type: `5` and `"5"` are two tokens. The sender of a
/// request chooses it, unique among the requests in flight, and most simply as the id of the request.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(transparent)]
pub struct ProgressToken(RequestId);

impl ProgressToken {
    /// The token as an id, for tables that are keyed by ids.
    pub fn as_request_id(&self) -> &RequestId {
        &self.0
    }
}

impl<'de> Deserialize<'de> for ProgressToken {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match RequestId::deserialize(deserializer)? {
            id if id.is_null() => Err(D::Error::custom("a progress token is an integer or a string")),
            id => Ok(Self(id)),
        }
    }
}

impl fmt::Display for ProgressToken {
    /// The JSON text.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl From<i64> for ProgressToken {
    fn from(number: i64) -> Self {
        Self(number.into())
    }
}

impl From<u64> for ProgressToken {
    fn from(number: u64) -> Self {
        Self(number.into())
    }
}

impl From<&str> for ProgressToken {
    fn from(text: &str) -> Self {
        Self(text.into())
    }
}

/// The id of a request as its token. Null, which no request of ours has, becomes the empty string.
impl From<RequestId> for ProgressToken {
    fn from(id: RequestId) -> Self {
        if id.is_null() { Self("".into()) } else { Self(id) }
    }
}

/// Anything that carries `_meta`: the parameters of every request and notification, and every result.
pub trait HasMeta {
    /// The `_meta`, if there is one.
    fn meta_ref(&self) -> Option<&Meta>;

    /// The place of `_meta`, to be filled or emptied.
    fn meta_slot(&mut self) -> &mut Option<Meta>;

    /// The token with which the sender of this request asks for progress notifications.
    ///
    /// `None` if the request has no valid token.
    fn progress_token(&self) -> Option<ProgressToken> {
        self.meta_ref()?.decode_member(PROGRESS_TOKEN).ok()?
    }

    /// Asks for progress of this request under that token.
    fn set_progress_token(&mut self, token: &ProgressToken) {
        if let Ok(value) = RawJson::encode(token) {
            self.meta_slot().get_or_insert_default().insert(PROGRESS_TOKEN, value);
        }
    }
}

macro_rules! has_meta {
    ($( $name:ident $(<$lifetime:lifetime>)? ),+ $(,)?) => {
        $(
            impl $(<$lifetime>)? crate::HasMeta for $name $(<$lifetime>)? {
                fn meta_ref(&self) -> Option<&crate::Meta> {
                    self.meta.as_ref()
                }

                fn meta_slot(&mut self) -> &mut Option<crate::Meta> {
                    &mut self.meta
                }
            }
        )+
    };
}
