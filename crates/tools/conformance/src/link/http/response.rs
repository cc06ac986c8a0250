//! A response over HTTP, read as far as a check needs it.

use std::collections::VecDeque;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::BodyExt as _;
use hyper::body::Incoming as HyperBody;
use serde_json::Value;
use tokio::task::{AbortHandle, JoinHandle};

use super::HttpTarget;
use crate::fault::{Head, Incoming};
use crate::link::events::{Event, EventDecoder};
use crate::trace::{Part, Sender};
use crate::verdict::{Outcome, Stop};

/// The most bytes of a body that the suite reads.
const MAX_BODY: usize = 16 << 20;

/// A response, of which the body is still to be read.
pub(crate) struct HttpResponse {
    pub(crate) head: Head,
    body: Body,
    decoder: EventDecoder,
    events: VecDeque<Event>,
    /// Whether the body has no more bytes.
    exhausted: bool,
    /// Whether the check knows that the stream has ended.
    ended: bool,
    target: HttpTarget,
    /// Messages that a fault forges beside a body. Those of a stream are events.
    pub(crate) forged: Vec<Value>,
}

/// The rest of a response.
pub(super) enum Body {
    Open {
        body: HyperBody,
        /// Closes a connection of its own when the response is dropped.
        _connection: Option<Connection>,
    },
    /// Nothing comes, because a fault kept the message from the server: the end at once, or silence for ever.
    None { open: bool },
}

/// The task of a connection, which ends with this.
pub(super) struct Connection(AbortHandle);

impl Connection {
    pub(super) fn new<T>(task: JoinHandle<T>) -> Self {
        Self(task.abort_handle())
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl Body {
    async fn frame(&mut self) -> Option<Result<hyper::body::Frame<Bytes>, hyper::Error>> {
        match self {
            Self::Open { body, .. } => body.frame().await,
            Self::None { open: false } => None,
            Self::None { open: true } => std::future::pending().await,
        }
    }
}

impl HttpResponse {
    pub(super) fn new(head: Head, body: Body, target: HttpTarget, forged: Vec<Value>) -> Self {
        let (decoder, events) = Default::default();
        let mut response =
            Self { head, body, decoder, events, exhausted: false, ended: false, target, forged };
        if response.is_stream() {
            for message in std::mem::take(&mut response.forged) {
                response.keep(Event { data: message.to_string(), has_data: true, ..Event::default() });
            }
        }
        response
    }

    pub(crate) fn status(&self) -> u16 {
        self.head.status
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.head.header(name)
    }

    /// Whether the body is an event stream.
    pub(crate) fn is_stream(&self) -> bool {
        self.header("content-type").is_some_and(|kind| kind.starts_with("text/event-stream"))
    }

    /// The whole body, which has to end in time.
    pub(crate) async fn bytes(&mut self) -> Outcome<Vec<u8>> {
        let mut bytes = Vec::new();
        while let Some(part) = self.part(self.target.wait).await? {
            bytes.extend_from_slice(&part);
            if bytes.len() > MAX_BODY {
                return Err(Stop::failed("a body", format!("it has more than {MAX_BODY} bytes")));
            }
        }
        let bytes = self.target.take_body(self.head.exchange, bytes, &mut self.forged);
        self.target.trace.expect_within_limit()?;
        Ok(bytes)
    }

    /// The whole body as JSON.
    pub(crate) async fn json(&mut self) -> Outcome<Value> {
        let bytes = self.bytes().await?;
        serde_json::from_slice(&bytes)
            .map_err(|_| Stop::failed("a body of JSON", format!("`{}`", String::from_utf8_lossy(&bytes))))
    }

    /// The response to a request with an id: from a body of JSON, or the first such message of an event stream.
    pub(crate) async fn response(&mut self, id: &Value) -> Outcome<Value> {
        if !self.is_stream() {
            return self.json().await;
        }
        while let Some(event) = self.event(self.target.wait).await? {
            let message: Option<Value> = serde_json::from_str(&event.data).ok();
            if let Some(message) =
                message.filter(|message| message.get("id") == Some(id) && message.get("method").is_none())
            {
                return Ok(message);
            }
        }
        Err(Stop::failed(format!("a response with the id {id} on the stream"), "the stream ended without it"))
    }

    /// The next event of an event stream; nothing when it has ended. One that takes too long is a failure.
    pub(crate) async fn event(&mut self, within: Duration) -> Outcome<Option<Event>> {
        let seen = format!("none came within {} ms, and the stream is open", within.as_millis());
        self.event_or_silence(within).await?.ok_or_else(|| Stop::failed("an event", seen))
    }

    /// The next event: `None` for silence, `Some(None)` for the end.
    pub(crate) async fn event_or_silence(&mut self, within: Duration) -> Outcome<Option<Option<Event>>> {
        let until = tokio::time::Instant::now() + within;
        loop {
            if let Some(event) = self.events.pop_front() {
                return Ok(Some(Some(event)));
            }
            if self.ended {
                return Ok(Some(None));
            }
            if self.exhausted {
                // A fault keeps the end from the check.
                tokio::time::sleep_until(until).await;
                return Ok(None);
            }
            let left = until.saturating_duration_since(tokio::time::Instant::now());
            let Ok(part) = tokio::time::timeout(left, self.body.frame()).await else {
                return Ok(None);
            };
            self.take(part);
            self.target.trace.expect_within_limit()?;
        }
    }

    fn take(&mut self, part: Option<Result<hyper::body::Frame<Bytes>, hyper::Error>>) {
        let exchange = self.head.exchange;
        let arrived = match part {
            Some(Ok(frame)) => {
                let bytes = frame.into_data().unwrap_or_default();
                let events = self.decoder.push(&bytes);
                events.into_iter().map(|event| Incoming::Event { exchange, event }).collect()
            }
            Some(Err(_)) | None => {
                self.exhausted = true;
                vec![Incoming::StreamEnd { exchange }]
            }
        };
        let arrived: Vec<Incoming> =
            arrived.into_iter().flat_map(|incoming| self.target.faults.incoming(incoming)).collect();
        for incoming in arrived {
            match incoming {
                Incoming::Event { event, .. } => self.keep(event),
                Incoming::Forged(message) => {
                    self.keep(Event { data: message.to_string(), has_data: true, ..Event::default() })
                }
                Incoming::StreamEnd { .. } => {
                    self.target.trace.add(Sender::Subject, Part::End, b"event stream");
                    self.ended = true;
                }
                _ => {}
            }
        }
    }

    fn keep(&mut self, event: Event) {
        self.target.trace.add(Sender::Subject, Part::Event, event.to_text().as_bytes());
        self.events.push_back(event);
    }

    async fn part(&mut self, within: Duration) -> Outcome<Option<Bytes>> {
        match tokio::time::timeout(within, self.body.frame()).await {
            Ok(Some(Ok(frame))) => Ok(Some(frame.into_data().unwrap_or_default())),
            Ok(Some(Err(_)) | None) => Ok(None),
            Err(_) => Err(Stop::failed(
                "the end of the body",
                format!("it did not end within {} ms", within.as_millis()),
            )),
        }
    }
}
