//! Reads from an outgoing frame what decides how it is sent: its requests, its kind, and the headers of modern revisions.

use agentwire_jsonrpc::{ErrorObject, Frame, Intent, Malformed, Message, RawJson, RequestId, code};
use agentwire_mcp_wire::header::encode_value;
use agentwire_mcp_wire::{ParamsMembers, Routing, cancelled_request, initialize_version, method};
use http::{HeaderMap, HeaderValue};

use crate::client::trace;
use crate::header;

/// The properties of a frame that decide how it is sent.
#[derive(Debug, Default)]
pub(crate) struct Route {
    /// The requests in it, which get answers.
    pub(crate) requests: Vec<RequestId>,
    /// Whether there are answers in it.
    pub(crate) answers: bool,
    pub(crate) kind: MessageKind,
    /// The headers that only the modern revisions have. None for a frame that names no such revision.
    pub(crate) modern: Option<HeaderMap>,
    /// The headers of its trace context.
    pub(crate) trace: HeaderMap,
}

/// The messages that change the state of the transport.
#[derive(Debug, Default, PartialEq)]
pub(crate) enum MessageKind {
    #[default]
    Other,
    Initialize,
    Initialized,
    Discover,
    /// Its answer has the marks of arguments that calls repeat as headers.
    ListTools,
    CallTool,
    /// It is not answered while its subscription lasts.
    Listen,
    /// The caller of this request no longer waits for its answer.
    Cancelled(Option<RequestId>),
}

impl Route {
    pub(crate) fn of(frame: &Frame) -> Self {
        let mut route = Self::default();
        match frame {
            Frame::Single(message) => {
                route.add(message);
                route.look_into(message);
            }
            Frame::Batch(messages) => {
                for message in messages {
                    match message {
                        Ok(message) => route.add(message),
                        Err(_) => route.answers = true,
                    }
                }
            }
            // It is written as the error that answers it.
            Frame::Malformed(_) => route.answers = true,
        }
        route
    }

    fn add(&mut self, message: &Message) {
        match message {
            Message::Request(request) => self.requests.push(request.id.clone()),
            Message::Response(_) => self.answers = true,
            Message::Notification(_) => {}
        }
    }

    fn look_into(&mut self, message: &Message) {
        let members = ParamsMembers::of(message);
        let Some(Routing { protocol_version, method, name, .. }) = members.routing(message) else { return };
        self.trace = trace::of_message(message, &members);
        self.kind = match (message, method) {
            (Message::Request(_), method::INITIALIZE) => MessageKind::Initialize,
            (Message::Request(_), method::DISCOVER) => MessageKind::Discover,
            (Message::Request(_), method::LIST_TOOLS) => MessageKind::ListTools,
            (Message::Request(_), method::CALL_TOOL) => MessageKind::CallTool,
            (Message::Request(_), method::LISTEN) => MessageKind::Listen,
            (Message::Notification(_), method::INITIALIZED) => MessageKind::Initialized,
            (Message::Notification(notification), method::CANCELLED) => {
                MessageKind::Cancelled(cancelled_request(notification))
            }
            _ => MessageKind::Other,
        };
        self.modern = protocol_version.and_then(|version| value(&version)).map(|version| {
            let mut headers = HeaderMap::with_capacity(8);
            headers.insert(header::PROTOCOL_VERSION, version);
            headers.extend(value(method).map(|method| (header::METHOD, method)));
            headers.extend(name.and_then(|name| value(&name)).map(|name| (header::NAME, name)));
            headers
        });
    }
}

/// The headers of a notification of a modern revision that does not name its revision itself.
pub(crate) fn modern_notification(frame: &Frame, version: HeaderValue) -> HeaderMap {
    let mut headers = HeaderMap::with_capacity(8);
    headers.insert(header::PROTOCOL_VERSION, version);
    if let Frame::Single(Message::Notification(notification)) = frame {
        headers.extend(value(&notification.method).map(|method| (header::METHOD, method)));
    }
    headers
}

/// A text as the value of a header.
pub(crate) fn value(text: &str) -> Option<HeaderValue> {
    HeaderValue::from_str(&encode_value(text)).ok()
}

/// Sets the id of an answer whose id cannot be read to that of the only open request.
pub(crate) fn name_answer(frame: &mut Frame, only: &RequestId) {
    match frame {
        Frame::Single(Message::Response(response)) if response.id.is_null() => {
            if response.outcome.is_err() {
                response.id = only.clone();
            } else {
                let error = ErrorObject::new(code::INVALID_REQUEST, "the answer has no id");
                *frame = Frame::Malformed(Malformed::response(only.clone(), error));
            }
        }
        Frame::Malformed(Malformed { intent: Intent::Response(id), .. }) if id.is_null() => {
            *id = only.clone()
        }
        _ => {}
    }
}

/// The version that the answer to `initialize` settles on.
pub(crate) fn agreed_version(result: &RawJson) -> Option<HeaderValue> {
    HeaderValue::from_str(&initialize_version(result)?).ok()
}
