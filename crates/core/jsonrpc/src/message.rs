//! The three JSON-RPC messages with undecoded bodies, and the code that writes them.

use bytestring::ByteString;

use crate::{ErrorObject, RawJson, RequestId};

/// One JSON-RPC message. Params, result and error data are undecoded text.
#[derive(Clone, Debug, PartialEq)]
#[allow(clippy::exhaustive_enums, reason = "JSON-RPC 2.0 has these three and is finished")]
pub enum Message {
    /// A call that expects a response.
    Request(Request),
    /// A message without a response.
    Notification(Notification),
    /// The response to a request.
    Response(Response),
}

/// A call: a method, its parameters, and the id that the response must have.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Request {
    /// The id, which the response repeats.
    pub id: RequestId,
    /// The method's name.
    pub method: ByteString,
    /// An object or an array; `None` if the member was absent or null.
    pub params: Option<RawJson>,
}

/// A message that is never answered, not even when it is wrong.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Notification {
    /// The method's name.
    pub method: ByteString,
    /// An object or an array; `None` if the member was absent or null.
    pub params: Option<RawJson>,
}

/// The response to a request: a result or an error, never both.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Response {
    /// The id of the request; null where the sender could not tell which one it was.
    pub id: RequestId,
    /// The result, or the error.
    pub outcome: Result<RawJson, ErrorObject>,
}

impl Request {
    /// A request.
    pub fn new(id: impl Into<RequestId>, method: impl Into<ByteString>, params: Option<RawJson>) -> Self {
        Self { id: id.into(), method: method.into(), params }
    }
}

impl Notification {
    /// A notification.
    pub fn new(method: impl Into<ByteString>, params: Option<RawJson>) -> Self {
        Self { method: method.into(), params }
    }
}

impl Response {
    /// A response.
    pub fn new(id: impl Into<RequestId>, outcome: Result<RawJson, ErrorObject>) -> Self {
        Self { id: id.into(), outcome }
    }
}

impl From<Request> for Message {
    fn from(request: Request) -> Self {
        Self::Request(request)
    }
}

impl From<Notification> for Message {
    fn from(notification: Notification) -> Self {
        Self::Notification(notification)
    }
}

impl From<Response> for Message {
    fn from(response: Response) -> Self {
        Self::Response(response)
    }
}

impl Message {
    /// Writes the message as one line of JSON without its line end.
    #[inline]
    pub fn write(&self, out: &mut Vec<u8>) {
        self.write_head(out);
        if let Some(body) = self.body() {
            out.extend_from_slice(body.as_str().as_bytes());
        }
        self.write_tail(out);
    }

    /// The part that may be large: `params` or `result`. A writer sends it between the output of
    /// [`write_head`](Self::write_head) and [`write_tail`](Self::write_tail), without copying it.
    #[inline]
    pub fn body(&self) -> Option<&RawJson> {
        match self {
            Self::Request(request) => request.params.as_ref(),
            Self::Notification(notification) => notification.params.as_ref(),
            Self::Response(response) => response.outcome.as_ref().ok(),
        }
    }

    /// Writes what precedes the [`body`](Self::body).
    #[inline]
    pub fn write_head(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(b"{\"jsonrpc\":\"2.0\"");
        match self {
            Self::Request(request) => {
                write_id(&request.id, out);
                write_method(&request.method, request.params.is_some(), out);
            }
            Self::Notification(notification) => {
                write_method(&notification.method, notification.params.is_some(), out);
            }
            Self::Response(response) => {
                write_id(&response.id, out);
                match &response.outcome {
                    Ok(_) => out.extend_from_slice(b",\"result\":"),
                    Err(error) => {
                        out.extend_from_slice(b",\"error\":");
                        write_json(error, out);
                    }
                }
            }
        }
    }

    /// Writes what follows the [`body`](Self::body).
    #[inline]
    pub fn write_tail(&self, out: &mut Vec<u8>) {
        out.push(b'}');
    }

    /// The capacity in bytes to [`write`](Self::write) the message with. It is exact for a response with a result, so that
    /// `Bytes::from` need not allocate again.
    pub fn capacity(&self) -> usize {
        const ENVELOPE: usize = r#"{"jsonrpc":"2.0","id":,"result":}"#.len();
        match self {
            Self::Response(Response { id, outcome: Ok(result) }) => ENVELOPE + id.json_len() + result.len(),
            other => other.size_hint(),
        }
    }

    /// About how many bytes the message takes: what queues count.
    #[inline]
    pub fn size_hint(&self) -> usize {
        const ENVELOPE: usize = 64;
        let named = match self {
            Self::Request(request) => request.id.text_len() + request.method.len(),
            Self::Notification(notification) => notification.method.len(),
            Self::Response(response) => {
                response.id.text_len() + response.outcome.as_ref().err().map_or(0, ErrorObject::size_hint)
            }
        };
        ENVELOPE + named + self.body().map_or(0, RawJson::len)
    }
}

#[inline]
fn write_id(id: &RequestId, out: &mut Vec<u8>) {
    out.extend_from_slice(b",\"id\":");
    id.write(out);
}

#[inline]
fn write_method(method: &str, has_params: bool, out: &mut Vec<u8>) {
    out.extend_from_slice(b",\"method\":");
    // Hardly any name needs escapes, and checking the whole name costs less than escaping it byte by byte.
    let needs_escape = |byte: u8| (byte < b' ') | (byte == b'"') | (byte == b'\\');
    if method.bytes().fold(false, |found, byte| found | needs_escape(byte)) {
        write_json(method, out);
    } else {
        out.push(b'"');
        out.extend_from_slice(method.as_bytes());
        out.push(b'"');
    }
    if has_params {
        out.extend_from_slice(b",\"params\":");
    }
}

fn write_json<T: serde::Serialize + ?Sized>(value: &T, out: &mut Vec<u8>) {
    serde_json::to_writer(out, value).expect("strings and error objects always have a JSON form");
}
