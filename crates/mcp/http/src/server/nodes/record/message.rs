//! Finds the messages of a client that change the record of its session.

use agentwire_jsonrpc::{Frame, Message, Notification, RawJson, Request, RequestId};
use agentwire_mcp_wire::method;
use agentwire_store::SessionRecord;
use bytestring::ByteString;

/// A message of the client that changes the record of its session.
#[derive(Clone, Debug)]
pub(crate) struct Change(pub(crate) RawJson);

/// The changes that a client asks for, each with the id of its request, or `None` for a notification.
pub(crate) fn changes(frame: &Frame) -> Vec<(Option<RequestId>, Change)> {
    messages(frame)
        .filter_map(|message| {
            let id = match message {
                Message::Request(request) => Some(request.id.clone()),
                _ => None,
            };
            Some((id, change(message)?))
        })
        .collect()
}

/// The messages of a frame.
pub(crate) fn messages(frame: &Frame) -> impl Iterator<Item = &Message> {
    let (one, several) = match frame {
        Frame::Single(message) => (Some(message), None),
        Frame::Batch(messages) => (None, Some(messages)),
        Frame::Malformed(_) => (None, None),
    };
    one.into_iter().chain(several.into_iter().flatten().flatten())
}

fn change(message: &Message) -> Option<Change> {
    let is_one = match message {
        Message::Request(request) => is_change(request),
        Message::Notification(notification) => notification.method == method::INITIALIZED,
        Message::Response(_) => false,
    };
    is_one.then(|| text(message)).flatten().map(Change)
}

/// Whether a request asks for a change of the record of its session.
pub(crate) fn is_change(request: &Request) -> bool {
    matches!(&*request.method, method::SET_LEVEL | method::SUBSCRIBE | method::UNSUBSCRIBE)
}

/// A new `notifications/initialized`.
pub(crate) fn initialized() -> Message {
    Notification::new(method::INITIALIZED, None).into()
}

/// Whether a record contains `notifications/initialized`.
pub(crate) fn has_initialized(record: &SessionRecord) -> bool {
    record.messages.iter().any(|message| method_of(message) == method::INITIALIZED)
}

pub(crate) fn text(message: &Message) -> Option<RawJson> {
    let mut text = Vec::with_capacity(message.capacity());
    message.write(&mut text);
    RawJson::parse(ByteString::try_from(text).ok()?).ok()
}

/// The URI of a `resources/subscribe`.
pub(crate) fn uri(message: &RawJson) -> Option<String> {
    if method_of(message) == method::SUBSCRIBE { member(message, "uri") } else { None }
}

/// A text among the params of a message.
pub(crate) fn member(message: &RawJson, name: &str) -> Option<String> {
    message.member("params")?.member(name)?.decode().ok()
}

pub(crate) fn method_of(message: &RawJson) -> String {
    message.member("method").and_then(|method| method.decode().ok()).unwrap_or_default()
}
