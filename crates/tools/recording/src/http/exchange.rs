//! Records one HTTP exchange: the heads, and the messages of the bodies as they pass.

use http::header::CONTENT_TYPE;
use http::{HeaderMap, Method, StatusCode, Uri};

use super::event_stream::EventDecoder;
use crate::event::{EventKind, HttpHead, Line, Side, TransportKind};
use crate::line_buffer::LineBuffer;
use crate::line_tap::message_or_text;
use crate::mask::SECRET_HEADERS;
use crate::recorder::Recorder;

/// Headers that are recorded in addition to those that begin with `mcp-`, and to the [`SECRET_HEADERS`], which are masked.
const HEADERS: &[&str] = &[
    "accept",
    "content-type",
    "last-event-id",
    "location",
    "origin",
    "retry-after",
    "user-agent",
    "www-authenticate",
];

/// The most headers of a head that are recorded.
const HEADER_LIMIT: usize = 64;

/// Records an exchange. Dropping it records the part of an incomplete body that has arrived.
#[derive(Debug)]
pub struct ExchangeTap {
    recorder: Recorder,
    id: u64,
    is_get: bool,
    request: LineBuffer,
    response: Body,
}

#[derive(Debug)]
enum Body {
    Whole(LineBuffer),
    Events(EventDecoder),
}

impl ExchangeTap {
    /// Records the head of a request.
    pub fn new(recorder: &Recorder, method: &Method, uri: &Uri, headers: &HeaderMap) -> Self {
        let id = recorder.next_exchange();
        let path = uri.path_and_query().map_or("/", |path| path.as_str());
        let head = HttpHead {
            method: Some(method.to_string()),
            path: Some(path.to_owned()),
            status: None,
            headers: selected(headers),
        };
        recorder.record_in(Some(id), Side::Client, EventKind::Http(head));
        let (request, response) = (recorder.line_buffer(), Body::Whole(recorder.line_buffer()));
        Self { recorder: recorder.clone(), id, is_get: *method == Method::GET, request, response }
    }

    /// The number of the exchange.
    pub fn id(&self) -> u64 {
        self.id
    }

    /// Takes a piece of the request's body.
    pub fn request_body(&mut self, bytes: &[u8]) {
        self.request.push(bytes);
    }

    /// Records the request's body, which is complete.
    pub fn request_end(&mut self) {
        let body = self.request.take();
        self.record(Side::Client, body);
    }

    /// Records the beginning of a request's body of `length` bytes, which was not passed on.
    pub(super) fn request_refused(&self, beginning: &[u8], length: u64) {
        self.record(Side::Client, Line { bytes: beginning.to_vec(), length });
    }

    /// Records the head of the response.
    pub fn response(&mut self, status: StatusCode, headers: &HeaderMap) {
        let head =
            HttpHead { status: Some(status.as_u16()), headers: selected(headers), ..HttpHead::default() };
        self.recorder.record_in(Some(self.id), Side::Server, EventKind::Http(head));
        if is_event_stream(headers) {
            self.response = Body::Events(EventDecoder::new(self.recorder.line_buffer()));
        }
    }

    /// Takes a piece of the response's body.
    pub fn response_body(&mut self, bytes: &[u8]) {
        let decoder = match &mut self.response {
            Body::Whole(body) => return body.push(bytes),
            Body::Events(decoder) => decoder,
        };
        for event in decoder.push(bytes) {
            if event.name == "endpoint" && self.is_get {
                self.recorder.set_transport(TransportKind::Sse);
            }
            self.record(Side::Server, event.data);
        }
    }

    fn record(&self, from: Side, body: Line) {
        if let Some(kind) = message_or_text(body) {
            self.recorder.record_in(Some(self.id), from, kind);
        }
    }
}

impl Drop for ExchangeTap {
    fn drop(&mut self) {
        self.request_end();
        if let Body::Whole(body) = &mut self.response {
            let body = body.take();
            self.record(Side::Server, body);
        }
    }
}

/// Whether a response is a stream of server-sent events.
pub(super) fn is_event_stream(headers: &HeaderMap) -> bool {
    let content_type = headers.get(CONTENT_TYPE).map_or(&b""[..], |value| value.as_bytes());
    content_type.to_ascii_lowercase().starts_with(b"text/event-stream")
}

fn selected(headers: &HeaderMap) -> Vec<(String, String)> {
    let is_selected =
        |name: &str| HEADERS.contains(&name) || SECRET_HEADERS.contains(&name) || name.starts_with("mcp-");
    headers
        .iter()
        .filter(|(name, _)| is_selected(name.as_str()))
        .take(HEADER_LIMIT)
        .map(|(name, value)| {
            (name.as_str().to_owned(), String::from_utf8_lossy(value.as_bytes()).into_owned())
        })
        .collect()
}
