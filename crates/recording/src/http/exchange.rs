//! Records one exchange: the heads, and the messages of the bodies as they pass.

use http::header::CONTENT_TYPE;
use http::{HeaderMap, Method, StatusCode, Uri};

use super::event_stream::EventDecoder;
use crate::event::{EventKind, HttpHead, Line, Side, TransportKind};
use crate::line_tap::message_or_text;
use crate::recorder::Recorder;

/// Headers that are recorded beside those that begin with `mcp-`. Masks apply to them.
const HEADERS: &[&str] = &[
    "accept",
    "authorization",
    "content-type",
    "cookie",
    "last-event-id",
    "location",
    "origin",
    "proxy-authorization",
    "retry-after",
    "set-cookie",
    "user-agent",
    "www-authenticate",
    "x-api-key",
];

/// The most headers of a head that are recorded.
const HEADER_LIMIT: usize = 64;

/// Records an exchange. Dropping it records what a body that was cut has brought so far.
#[derive(Debug)]
pub struct ExchangeTap {
    recorder: Recorder,
    id: u64,
    is_event_stream: bool,
    request: Body,
    response: Body,
}

#[derive(Debug)]
enum Body {
    Whole { bytes: Vec<u8>, length: u64 },
    Events(EventDecoder),
}

impl Body {
    const EMPTY: Self = Self::Whole { bytes: Vec::new(), length: 0 };
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
        let is_event_stream = *method == Method::GET;
        Self { recorder: recorder.clone(), id, is_event_stream, request: Body::EMPTY, response: Body::EMPTY }
    }

    /// The number of the exchange.
    pub fn id(&self) -> u64 {
        self.id
    }

    /// Takes a piece of the request's body.
    pub fn request_body(&mut self, bytes: &[u8]) {
        self.push(true, bytes);
    }

    /// Records the request's body, which is complete.
    pub fn request_end(&mut self) {
        let body = std::mem::replace(&mut self.request, Body::EMPTY);
        self.end(Side::Client, body);
    }

    /// Records the head of the response.
    pub fn response(&mut self, status: StatusCode, headers: &HeaderMap) {
        let head =
            HttpHead { status: Some(status.as_u16()), headers: selected(headers), ..HttpHead::default() };
        self.recorder.record_in(Some(self.id), Side::Server, EventKind::Http(head));
        let content_type = headers.get(CONTENT_TYPE).map_or(&b""[..], |value| value.as_bytes());
        if content_type.to_ascii_lowercase().starts_with(b"text/event-stream") {
            self.response = Body::Events(EventDecoder::new(self.recorder.line_limit()));
        }
    }

    /// Takes a piece of the response's body.
    pub fn response_body(&mut self, bytes: &[u8]) {
        self.push(false, bytes);
    }

    fn push(&mut self, is_request: bool, piece: &[u8]) {
        let limit = self.recorder.line_limit();
        let body = if is_request { &mut self.request } else { &mut self.response };
        match body {
            Body::Whole { bytes, length } => {
                *length += piece.len() as u64;
                let room = limit.saturating_sub(bytes.len());
                bytes.extend_from_slice(&piece[..room.min(piece.len())]);
            }
            Body::Events(decoder) => {
                for event in decoder.push(piece) {
                    if event.name == "endpoint" && self.is_event_stream {
                        self.recorder.set_transport(TransportKind::Sse);
                    }
                    let is_cut = event.length > event.data.len() as u64;
                    let kind = match is_cut {
                        true => EventKind::Text(Line::cut(event.data, event.length)),
                        false if event.data.is_empty() => continue,
                        false => message_or_text(event.data),
                    };
                    self.recorder.record_in(Some(self.id), Side::Server, kind);
                }
            }
        }
    }

    fn end(&self, from: Side, body: Body) {
        let Body::Whole { bytes, length } = body else { return };
        let kind = match length > bytes.len() as u64 {
            true => EventKind::Text(Line::cut(bytes, length)),
            false if bytes.is_empty() => return,
            false => message_or_text(bytes),
        };
        self.recorder.record_in(Some(self.id), from, kind);
    }
}

impl Drop for ExchangeTap {
    fn drop(&mut self) {
        for (side, is_request) in [(Side::Client, true), (Side::Server, false)] {
            let body = if is_request { &mut self.request } else { &mut self.response };
            let body = std::mem::replace(body, Body::EMPTY);
            self.end(side, body);
        }
    }
}

fn selected(headers: &HeaderMap) -> Vec<(String, String)> {
    let is_selected = |name: &str| HEADERS.contains(&name) || name.starts_with("mcp-");
    headers
        .iter()
        .filter(|(name, _)| is_selected(name.as_str()))
        .take(HEADER_LIMIT)
        .map(|(name, value)| {
            (name.as_str().to_owned(), String::from_utf8_lossy(value.as_bytes()).into_owned())
        })
        .collect()
}
