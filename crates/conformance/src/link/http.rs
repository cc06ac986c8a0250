//! HTTP/1.1 requests to a server under test, with nothing added that a check does not ask for.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Uri};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming as HyperBody;
use hyper_util::rt::TokioIo;
use serde_json::Value;
use tokio::net::TcpStream;

use super::events::{Event, EventDecoder};
use crate::fault::{Faults, Head, Incoming};
use crate::trace::{Part, Sender, Trace};
use crate::verdict::{Outcome, Stop};

/// The most bytes of a body that the suite reads.
const MAX_BODY: usize = 64 << 20;
/// How long a server may take for the head of a response, and for each further part of its body that a check waits for.
const RESPONSE_TIME: Duration = Duration::from_secs(15);

/// An address that requests go to. Clones share the numbering of requests.
#[derive(Clone)]
pub(crate) struct HttpTarget {
    url: Uri,
    headers: Vec<(String, String)>,
    trace: Trace,
    faults: Faults,
    next: Arc<AtomicU32>,
}

/// A request that is being put together. The only header that it has by itself is `Host`.
#[derive(Clone)]
pub(crate) struct HttpRequest {
    target: HttpTarget,
    method: String,
    path: String,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
}

/// A response, of which the body is still to be read.
pub(crate) struct HttpResponse {
    pub(crate) head: Head,
    body: HyperBody,
    decoder: EventDecoder,
    events: std::collections::VecDeque<Event>,
    ended: bool,
    trace: Trace,
    faults: Faults,
    /// Messages that a fault forges; they stand before the events.
    pub(crate) forged: Vec<Value>,
}

impl HttpTarget {
    pub(crate) fn new(
        url: &str,
        headers: &[(String, String)],
        trace: &Trace,
        faults: &Faults,
    ) -> Outcome<Self> {
        let url: Uri =
            url.parse().map_err(|error| Stop::inconclusive(format!("`{url}` is no URL: {error}")))?;
        if url.scheme_str() != Some("http") || url.authority().is_none() {
            return Err(Stop::inconclusive(format!("`{url}` is not of the form http://HOST:PORT/PATH")));
        }
        Ok(Self {
            url,
            headers: headers.to_vec(),
            trace: trace.clone(),
            faults: faults.clone(),
            next: Arc::default(),
        })
    }

    /// Another path, or a whole URL, on the same terms.
    pub(crate) fn at(&self, reference: &str) -> Outcome<Self> {
        let url = if reference.starts_with("http://") {
            reference.to_owned()
        } else if reference.starts_with('/') {
            format!("http://{}{reference}", self.authority())
        } else {
            let path = self.url.path();
            let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
            format!("http://{}{folder}/{reference}", self.authority())
        };
        let parsed = url.parse().map_err(|error| Stop::failed("a URL", format!("`{url}`: {error}")))?;
        Ok(Self { url: parsed, ..self.clone() })
    }

    /// The host and port.
    pub(crate) fn authority(&self) -> &str {
        self.url.authority().map_or("", |authority| authority.as_str())
    }

    /// The path and query.
    pub(crate) fn path(&self) -> &str {
        self.url.path_and_query().map_or("/", |path| path.as_str())
    }

    /// A request with no header but `Host` and those that the user gave for authorization.
    pub(crate) fn request(&self, method: &str) -> HttpRequest {
        HttpRequest {
            target: self.clone(),
            method: method.to_owned(),
            path: self.path().to_owned(),
            headers: self.headers.clone(),
            body: Vec::new(),
        }
    }
}

impl HttpRequest {
    /// Adds a header, or replaces it.
    pub(crate) fn header(mut self, name: &str, value: &str) -> Self {
        self = self.without(name);
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    pub(crate) fn without(mut self, name: &str) -> Self {
        self.headers.retain(|(known, _)| !known.eq_ignore_ascii_case(name));
        self
    }

    pub(crate) fn path(mut self, path: &str) -> Self {
        path.clone_into(&mut self.path);
        self
    }

    /// A body of JSON, with its content type and what every client of MCP accepts.
    pub(crate) fn json(self, message: &Value) -> Self {
        self.body(message.to_string())
            .header("content-type", "application/json")
            .header("accept", "application/json, text/event-stream")
    }

    pub(crate) fn body(mut self, body: impl Into<Vec<u8>>) -> Self {
        self.body = body.into();
        self
    }

    /// Sends it over a connection of its own and waits for the head of the response.
    pub(crate) async fn send(self) -> Outcome<HttpResponse> {
        let exchange = self.target.next.fetch_add(1, Ordering::Relaxed);
        let (trace, faults) = (self.target.trace.clone(), self.target.faults.clone());
        let forged = self.note(exchange);
        let what = format!("{} {}", self.method, self.path);
        let response = match tokio::time::timeout(RESPONSE_TIME, self.exchange()).await {
            Ok(Ok(response)) => response,
            Ok(Err(why)) => return Err(Stop::failed(format!("a response to {what}"), why)),
            Err(_) => {
                let seen = format!("none came within {} s", RESPONSE_TIME.as_secs());
                return Err(Stop::failed(format!("a response to {what}"), seen));
            }
        };
        let (parts, body) = response.into_parts();
        let text = |value: &http::HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
        let headers =
            parts.headers.iter().map(|(name, value)| (name.as_str().to_owned(), text(value))).collect();
        let mut head = Head { exchange, status: parts.status.as_u16(), headers };
        let mut forged = forged;
        for incoming in faults.incoming(Incoming::Head(head.clone())) {
            match incoming {
                Incoming::Head(changed) => head = changed,
                Incoming::Forged(message) => forged.push(message),
                _ => {}
            }
        }
        trace.add(Sender::Subject, Part::Head, head_text(&head).as_bytes());
        Ok(HttpResponse {
            head,
            body,
            decoder: EventDecoder::default(),
            events: std::collections::VecDeque::new(),
            ended: false,
            trace,
            faults,
            forged,
        })
    }

    /// Writes the request down, and lets the fault see it.
    fn note(&self, exchange: u32) -> Vec<Value> {
        let HttpTarget { trace, faults, .. } = &self.target;
        let line = format!("{} {} HTTP/1.1", self.method, self.path);
        faults.exchange(exchange, &format!("{} {}", self.method, self.path));
        let headers = self.headers.iter().map(|(name, value)| format!("\n{name}: {}", masked(name, value)));
        trace.add(Sender::Suite, Part::Head, (line + &headers.collect::<String>()).as_bytes());
        if self.body.is_empty() {
            return Vec::new();
        }
        trace.add(Sender::Suite, Part::Body, &self.body);
        serde_json::from_slice(&self.body).map_or_else(|_| Vec::new(), |message| faults.outgoing(&message).1)
    }

    async fn exchange(self) -> Result<http::Response<HyperBody>, String> {
        let authority = self.target.authority().to_owned();
        let address =
            if self.target.url.port().is_some() { authority.clone() } else { format!("{authority}:80") };
        let stream =
            TcpStream::connect(&address).await.map_err(|error| format!("connecting failed: {error}"))?;
        // A delayed segment would look like a slow server.
        let _set = stream.set_nodelay(true);
        let (mut sender, connection) = hyper::client::conn::http1::Builder::new()
            .preserve_header_case(true)
            .handshake(TokioIo::new(stream))
            .await
            .map_err(|error| error.to_string())?;
        tokio::spawn(connection);
        let mut request = Request::builder().method(self.method.as_str()).uri(&self.path);
        if !self.headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("host")) {
            request = request.header("Host", &authority);
        }
        for (name, value) in &self.headers {
            request = request.header(name, value);
        }
        let request = request.body(Full::new(Bytes::from(self.body))).map_err(|error| error.to_string())?;
        sender.send_request(request).await.map_err(|error| format!("the connection broke: {error}"))
    }
}

/// Secrets that the user gave are not written down.
fn masked<'v>(name: &str, value: &'v str) -> &'v str {
    let secret = ["authorization", "cookie", "proxy-authorization", "x-api-key"];
    if secret.iter().any(|known| name.eq_ignore_ascii_case(known)) { "(not shown)" } else { value }
}

fn head_text(head: &Head) -> String {
    let headers = head.headers.iter().map(|(name, value)| format!("\n{name}: {}", masked(name, value)));
    format!("HTTP/1.1 {}", head.status) + &headers.collect::<String>()
}

impl HttpResponse {
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
        while let Some(part) = self.part(RESPONSE_TIME).await? {
            bytes.extend_from_slice(&part);
            if bytes.len() > MAX_BODY {
                return Err(Stop::failed("a body", format!("it has more than {MAX_BODY} bytes")));
            }
        }
        let mut whole = Vec::new();
        for incoming in self.faults.incoming(Incoming::Body { exchange: self.head.exchange, bytes }) {
            match incoming {
                Incoming::Body { bytes, .. } => whole = bytes,
                Incoming::Forged(message) => self.forged.push(message),
                _ => {}
            }
        }
        if !whole.is_empty() {
            self.trace.add(Sender::Subject, Part::Body, &whole);
        }
        Ok(whole)
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
        while let Some(event) = self.event(RESPONSE_TIME).await? {
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
            let left = until.saturating_duration_since(tokio::time::Instant::now());
            let Ok(part) = tokio::time::timeout(left, self.body.frame()).await else {
                return Ok(None);
            };
            self.take(part);
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
            Some(Err(_)) | None => vec![Incoming::StreamEnd { exchange }],
        };
        let arrived: Vec<Incoming> =
            arrived.into_iter().flat_map(|incoming| self.faults.incoming(incoming)).collect();
        for incoming in arrived {
            match incoming {
                Incoming::Event { event, .. } => self.keep(event),
                Incoming::Forged(message) => {
                    self.keep(Event { data: message.to_string(), has_data: true, ..Event::default() })
                }
                Incoming::StreamEnd { .. } => {
                    self.trace.add(Sender::Subject, Part::End, b"event stream");
                    self.ended = true;
                }
                _ => {}
            }
        }
    }

    fn keep(&mut self, event: Event) {
        self.trace.add(Sender::Subject, Part::Event, event.to_text().as_bytes());
        self.events.push_back(event);
    }

    async fn part(&mut self, within: Duration) -> Outcome<Option<Bytes>> {
        match tokio::time::timeout(within, self.body.frame()).await {
            Ok(Some(Ok(frame))) => Ok(Some(frame.into_data().unwrap_or_default())),
            Ok(Some(Err(_)) | None) => Ok(None),
            Err(_) => Err(Stop::failed(
                "the end of the body",
                format!("it did not end within {} s", within.as_secs()),
            )),
        }
    }
}
