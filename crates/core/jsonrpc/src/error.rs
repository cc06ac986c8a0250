//! The JSON-RPC error object, its standard codes, and a deserializer that accepts only objects.

use std::borrow::Cow;
use std::fmt;

use serde::de::value::MapAccessDeserializer;
use serde::de::{Error as _, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

use crate::{Printable, RawJson};

/// The error codes of JSON-RPC 2.0, and the one for a cancelled request. Protocols add their own.
pub mod code {
    /// The text was not JSON.
    pub const PARSE_ERROR: i64 = -32700;
    /// The text was JSON, but not a JSON-RPC message.
    pub const INVALID_REQUEST: i64 = -32600;
    /// The receiver has no such method.
    pub const METHOD_NOT_FOUND: i64 = -32601;
    /// The method exists, its parameters were wrong.
    pub const INVALID_PARAMS: i64 = -32602;
    /// The receiver failed.
    pub const INTERNAL_ERROR: i64 = -32603;
    /// The call was cancelled (used by ACP and LSP).
    pub const REQUEST_CANCELLED: i64 = -32800;
}

/// The JSON-RPC error object: the `error` member of a response.
///
/// The error of a call is another type, with a variant that contains the peer's error object.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, thiserror::Error)]
#[non_exhaustive]
pub struct ErrorObject {
    /// A number that programs decide on; see [`code`].
    pub code: i64,
    /// A short sentence for people.
    pub message: Cow<'static, str>,
    /// Anything more, in a shape that the code or the method defines.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data: Option<RawJson>,
}

impl ErrorObject {
    /// An error without data.
    pub fn new(code: i64, message: impl Into<Cow<'static, str>>) -> Self {
        Self { code, message: message.into(), data: None }
    }

    /// The same error with data. A value without a JSON form is left out.
    #[must_use]
    pub fn with_data<T: Serialize + ?Sized>(mut self, data: &T) -> Self {
        self.data = RawJson::encode(data).ok();
        self
    }

    /// `-32700`: the text is not JSON.
    pub fn parse_error(why: impl fmt::Display) -> Self {
        Self::new(code::PARSE_ERROR, format!("parse error: {why}"))
    }

    /// `-32600`: the text is JSON, but not a message that is accepted here.
    pub fn invalid_request(why: impl fmt::Display) -> Self {
        Self::new(code::INVALID_REQUEST, format!("invalid request: {why}"))
    }

    /// `-32601`: the receiver has no such method.
    pub fn method_not_found(method: &str) -> Self {
        Self::new(code::METHOD_NOT_FOUND, format!("method not found: {method}"))
    }

    /// `-32602`: the method is known and its parameters are wrong.
    pub fn invalid_params(why: impl fmt::Display) -> Self {
        /// The suffix of a `serde_json` error that has no position in a text.
        const NO_POSITION: &str = " at line 1 column 0";
        let why = why.to_string();
        let why = why.strip_suffix(NO_POSITION).unwrap_or(&why);
        Self::new(code::INVALID_PARAMS, format!("invalid params: {why}"))
    }

    /// `-32603`: the receiver failed.
    pub fn internal_error(why: impl fmt::Display) -> Self {
        Self::new(code::INTERNAL_ERROR, format!("internal error: {why}"))
    }

    /// `-32800`: the call was cancelled.
    pub fn request_cancelled() -> Self {
        Self::new(code::REQUEST_CANCELLED, "request cancelled")
    }

    /// About how many bytes the error takes.
    pub(crate) fn size_hint(&self) -> usize {
        self.message.len() + self.data.as_ref().map_or(0, RawJson::len)
    }
}

/// The message and the code, or the code alone if the message is empty, escaped by [`Printable`]: a peer may have
/// written the message.
impl fmt::Display for ErrorObject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.message.is_empty() {
            return write!(f, "error {}", self.code);
        }
        write!(f, "{} ({})", Printable::new(&self.message), self.code)
    }
}

/// Lets a handler use `?` on an `io::Error`: the response is an internal error with its text.
impl From<std::io::Error> for ErrorObject {
    fn from(error: std::io::Error) -> Self {
        Self::internal_error(error)
    }
}

/// Reads an object. Derived code would also accept an array of the members. The call has failed in any case, so an unreadable member
/// does not fail the decoding: if the code is not an integer, its text is put before the message.
impl<'de> Deserialize<'de> for ErrorObject {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        struct Members {
            #[serde(default)]
            code: Option<RawJson>,
            #[serde(default)]
            message: Option<RawJson>,
            #[serde(default)]
            data: Option<RawJson>,
        }

        struct ErrorVisitor;

        impl<'de> Visitor<'de> for ErrorVisitor {
            type Value = ErrorObject;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an error: an object with a code and a message")
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<ErrorObject, A::Error> {
                let Members { code, message, data } = Members::deserialize(MapAccessDeserializer::new(map))?;
                if code.is_none() && message.is_none() {
                    return Err(A::Error::missing_field("code"));
                }
                let text = message.map(|message| text_of(&message)).unwrap_or_default();
                let known = code.as_ref().and_then(|code| code.decode().ok());
                let message = match code.filter(|_| known.is_none()).map(|code| text_of(&code)) {
                    Some(code) if !code.is_empty() => format!("{code}: {text}"),
                    _ => text,
                };
                Ok(ErrorObject { code: known.unwrap_or(code::INTERNAL_ERROR), message: message.into(), data })
            }
        }

        deserializer.deserialize_map(ErrorVisitor)
    }
}

/// A string, or the JSON text of any other value but null.
fn text_of(value: &RawJson) -> String {
    value.decode().unwrap_or_else(|_| if value.is_null() { String::new() } else { value.to_string() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invalid_params_name_a_place_only_if_there_is_one() {
        for (why, expected) in [
            ("no line at line 1 column 0", "invalid params: no line"),
            ("no line at line 1 column 10", "invalid params: no line at line 1 column 10"),
            ("no line", "invalid params: no line"),
        ] {
            assert_eq!(ErrorObject::invalid_params(why).message, expected);
        }
    }
}
