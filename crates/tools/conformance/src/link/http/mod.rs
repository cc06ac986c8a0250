//! HTTP requests to a server or an agent under test, with nothing added that a check does not ask for.

mod body;
mod http2;
mod response;
#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use agentwire_recording::SECRET_HEADERS;
use http::{Request, Uri, Version};
use hyper_util::rt::TokioIo;
use serde_json::Value;
use tokio::sync::oneshot;

use self::body::RequestBody;
use self::http2::Http2;
pub(crate) use self::response::HttpResponse;
use self::response::{Body, Connection};
use super::connect::{Duplex, connect};
use super::tcp::Tcp;
use crate::fault::{Faults, Head, Incoming};
use crate::trace::{Part, Sender, Trace};
use crate::verdict::{Outcome, Stop};

/// An address that requests go to. Clones share the numbering of requests.
#[derive(Clone)]
pub(crate) struct HttpTarget {
    url: Uri,
    headers: Vec<(String, String)>,
    trace: Trace,
    faults: Faults,
    next: Arc<AtomicU32>,
    /// How long a server may take for the head of a response, and for each further part of its body that a check waits for.
    wait: Duration,
    /// The connection that all requests share; without it each has one of HTTP/1.1 for itself.
    http2: Option<Arc<Http2>>,
    /// Whether a POST is answered with the response to its message, as in MCP.
    posts_are_answered: bool,
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

impl HttpTarget {
    pub(crate) fn new(
        url: &str,
        headers: &[(String, String)],
        trace: &Trace,
        faults: &Faults,
        wait: Duration,
    ) -> Outcome<Self> {
        let url: Uri =
            url.parse().map_err(|error| Stop::inconclusive(format!("`{url}` is not a URL: {error}")))?;
        if !matches!(url.scheme_str(), Some("http" | "https")) || url.authority().is_none() {
            return Err(Stop::inconclusive(format!("`{url}` is not of the form http(s)://HOST:PORT/PATH")));
        }
        Ok(Self {
            url,
            headers: headers.to_vec(),
            trace: trace.clone(),
            faults: faults.clone(),
            next: Arc::default(),
            wait,
            http2: None,
            posts_are_answered: true,
        })
    }

    /// Another path, or a whole URL, on the same terms.
    pub(crate) fn at(&self, reference: &str) -> Outcome<Self> {
        let (scheme, authority, path) =
            (self.url.scheme_str().unwrap_or("http"), self.authority(), self.url.path());
        let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
        let url = if reference.starts_with("http://") || reference.starts_with("https://") {
            reference.to_owned()
        } else if reference.starts_with("//") {
            format!("{scheme}:{reference}")
        } else if reference.starts_with('/') {
            format!("{scheme}://{authority}{reference}")
        } else if reference.starts_with('?') {
            format!("{scheme}://{authority}{path}{reference}")
        } else {
            format!("{scheme}://{authority}{folder}/{reference}")
        };
        let parsed = url.parse().map_err(|error| Stop::failed("a URL", format!("`{url}`: {error}")))?;
        Ok(Self { url: parsed, ..self.clone() })
    }

    /// The address to which a server sends its clients. It has to be of the same origin: every request carries the headers that
    /// the user gave, such as a token.
    pub(crate) fn endpoint(&self, reference: &str) -> Outcome<Self> {
        let endpoint = self.at(reference)?;
        if endpoint.origin() == self.origin() {
            return Ok(endpoint);
        }
        let why = format!(
            "the server sends its clients to another origin, `{}`, which gets no request",
            endpoint.url
        );
        Err(Stop::inconclusive(why))
    }

    fn origin(&self) -> (Option<&str>, Option<String>, Option<u16>) {
        let scheme = self.url.scheme_str();
        let port = if scheme == Some("https") { 443 } else { 80 };
        (scheme, self.url.host().map(str::to_ascii_lowercase), self.url.port_u16().or(Some(port)))
    }

    /// A connection on which the check writes bytes of its own.
    pub(crate) async fn tcp(&self) -> Outcome<Tcp> {
        let connection = connect(&self.url, Version::HTTP_11).await.map_err(Stop::inconclusive)?;
        Ok(Tcp::new(self.clone(), connection))
    }

    /// The same address of an agent, which answers posts on other streams.
    pub(crate) fn of_agent(mut self) -> Self {
        self.posts_are_answered = false;
        self
    }

    /// The same address, with no trace and no fault, for requests outside of a check.
    pub(crate) fn unseen(&self) -> Self {
        Self { trace: Trace::new(), faults: Faults::default(), ..self.clone() }
    }

    /// How long a server may take.
    pub(crate) fn wait(&self) -> Duration {
        self.wait
    }

    /// Numbers a request, writes it down, and lets the fault see it: its number, whether it is kept from the server, and what is
    /// forged in return.
    pub(crate) fn note(&self, head: &str, body: &[u8]) -> (u32, bool, Vec<Value>) {
        let exchange = self.next.fetch_add(1, Ordering::Relaxed) + 1;
        self.faults.exchange(exchange, &format!("{head}\n\n{}", String::from_utf8_lossy(body)));
        let shown: Vec<String> = head.lines().map(masked_line).collect();
        self.trace.add(Sender::Suite, Part::Head, shown.join("\n").as_bytes());
        if body.is_empty() {
            return (exchange, false, Vec::new());
        }
        self.trace.add(Sender::Suite, Part::Body, body);
        let Ok(message) = serde_json::from_slice(body) else {
            return (exchange, false, Vec::new());
        };
        let (kept, forged) = self.faults.outgoing(&message);
        for message in &forged {
            self.trace.add(Sender::Subject, Part::Body, message.to_string().as_bytes());
        }
        (exchange, kept, forged)
    }

    /// Passes the head of a response through the fault, and writes it down.
    pub(crate) fn take_head(&self, mut head: Head, forged: &mut Vec<Value>) -> Head {
        for incoming in self.faults.incoming(Incoming::Head(head.clone())) {
            match incoming {
                Incoming::Head(changed) => head = changed,
                Incoming::Forged(message) => {
                    self.trace.add(Sender::Subject, Part::Body, message.to_string().as_bytes());
                    forged.push(message);
                }
                _ => {}
            }
        }
        let headers = head.headers.iter().map(|(name, value)| format!("\n{name}: {}", masked(name, value)));
        let text = format!("{} {}", self.version(), head.status) + &headers.collect::<String>();
        self.trace.add(Sender::Subject, Part::Head, text.as_bytes());
        head
    }

    /// Passes a whole body through the fault, and writes it down.
    pub(crate) fn take_body(&self, exchange: u32, bytes: Vec<u8>, forged: &mut Vec<Value>) -> Vec<u8> {
        let mut whole = Vec::new();
        for incoming in self.faults.incoming(Incoming::Body { exchange, bytes }) {
            match incoming {
                Incoming::Body { bytes, .. } => whole = bytes,
                Incoming::Forged(message) => {
                    self.trace.add(Sender::Subject, Part::Body, message.to_string().as_bytes());
                    forged.push(message);
                }
                _ => {}
            }
        }
        if !whole.is_empty() {
            self.trace.add(Sender::Subject, Part::Body, &whole);
        }
        whole
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

    /// The same request, with nothing written down and no fault.
    pub(crate) fn unseen(mut self) -> Self {
        self.target = self.target.unseen();
        self
    }

    pub(crate) fn without(mut self, name: &str) -> Self {
        self.headers.retain(|(known, _)| !known.eq_ignore_ascii_case(name));
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
        self.send_and_say(oneshot::channel().0).await
    }

    /// The same; signals as soon as the body has been written.
    pub(crate) async fn send_and_say(self, written: oneshot::Sender<()>) -> Outcome<HttpResponse> {
        let target = self.target.clone();
        let what = format!("a response to {} {}", self.method, self.path);
        let (exchange, kept, mut forged) = target.note(&self.head_text(), &self.body);
        let (head, body) = if kept {
            target.kept_from_server(exchange, &self.body)
        } else {
            let answered = match target.http2.clone() {
                Some(shared) => {
                    tokio::time::timeout(target.wait, self.exchange_on(&shared, exchange, written)).await
                }
                None => {
                    // A server that is not there breaks no requirement.
                    let stream = connect(&target.url, Version::HTTP_11).await.map_err(Stop::inconclusive)?;
                    tokio::time::timeout(target.wait, self.exchange(stream, exchange, written)).await
                }
            };
            match answered {
                Ok(Ok(response)) => response,
                Ok(Err(why)) => return Err(Stop::failed(what, why)),
                Err(_) => {
                    let seen = format!("none came within {} ms", target.wait.as_millis());
                    return Err(Stop::failed(what, seen));
                }
            }
        };
        let head = target.take_head(head, &mut forged);
        Ok(HttpResponse::new(head, body, target, forged))
    }

    /// Adds the length of its body, for a connection on which nothing adds it.
    pub(crate) fn with_length(self) -> Self {
        let length = self.body.len().to_string();
        self.header("content-length", &length)
    }

    pub(crate) fn body_bytes(&self) -> &[u8] {
        &self.body
    }

    /// The first line and the headers as bytes, up to the empty line.
    pub(crate) fn head_bytes(&self) -> Vec<u8> {
        let host = self.headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("host"));
        let host = if host { String::new() } else { format!("\nhost: {}", self.target.authority()) };
        (self.head_text() + &host + "\n\n").replace('\n', "\r\n").into_bytes()
    }

    /// The first line and the headers, as the trace and faults see them.
    pub(crate) fn head_text(&self) -> String {
        let headers = self.headers.iter().map(|(name, value)| format!("\n{name}: {value}"));
        format!("{} {} {}", self.method, self.path, self.target.version()) + &headers.collect::<String>()
    }

    async fn exchange(
        self,
        stream: Box<dyn Duplex>,
        exchange: u32,
        written: oneshot::Sender<()>,
    ) -> Result<(Head, Body), String> {
        let (mut sender, connection) = hyper::client::conn::http1::Builder::new()
            .preserve_header_case(true)
            .handshake(TokioIo::new(stream))
            .await
            .map_err(|error| error.to_string())?;
        let connection = Connection::new(tokio::spawn(connection));
        let mut request = Request::builder().method(self.method.as_str()).uri(&self.path);
        if !self.headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("host")) {
            request = request.header("Host", self.target.authority());
        }
        let request = self.finish(request, written)?;
        opened(sender.send_request(request).await, exchange, Some(connection))
    }

    /// Adds the headers and the body.
    fn finish(
        self,
        mut request: http::request::Builder,
        written: oneshot::Sender<()>,
    ) -> Result<Request<RequestBody>, String> {
        for (name, value) in &self.headers {
            request = request.header(name, value);
        }
        request.body(RequestBody::new(self.body, written)).map_err(|error| error.to_string())
    }
}

impl HttpTarget {
    /// The version of HTTP, as a request's first line has it.
    fn version(&self) -> &'static str {
        if self.http2.is_some() { "HTTP/2" } else { "HTTP/1.1" }
    }

    /// The answer of a server that ignores a message: accepts a notification, and leaves a request open.
    fn kept_from_server(&self, exchange: u32, body: &[u8]) -> (Head, Body) {
        let message: Value = serde_json::from_slice(body).unwrap_or_default();
        let is_request = message.get("id").is_some() && message.get("method").is_some();
        let open = is_request && self.posts_are_answered;
        let stream = vec![("content-type".to_owned(), "text/event-stream".to_owned())];
        let (status, headers) = if open { (200, stream) } else { (202, Vec::new()) };
        (Head { exchange, status, headers }, Body::None { open })
    }
}

/// The head of a response as faults see it, and its body, which is still to be read.
fn opened(
    sent: hyper::Result<http::Response<hyper::body::Incoming>>,
    exchange: u32,
    connection: Option<Connection>,
) -> Result<(Head, Body), String> {
    let (parts, body) = sent.map_err(|error| format!("the connection broke: {error}"))?.into_parts();
    let text = |value: &http::HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
    let headers = parts.headers.iter().map(|(name, value)| (name.as_str().to_owned(), text(value))).collect();
    let head = Head { exchange, status: parts.status.as_u16(), headers };
    Ok((head, Body::Open { body, _connection: connection }))
}

/// The cookie that the suite sets where it plays an agent.
pub(crate) const SUITE_COOKIE: &str = "conformance=affinity";

/// Secrets that the user gave are not written down.
pub(crate) fn masked<'v>(name: &str, value: &'v str) -> &'v str {
    let is_secret = SECRET_HEADERS.iter().any(|known| name.eq_ignore_ascii_case(known));
    if is_secret && !value.starts_with("conformance=") { "(not shown)" } else { value }
}

pub(crate) fn masked_line(line: &str) -> String {
    match line.split_once(": ") {
        Some((name, value)) => format!("{name}: {}", masked(name, value)),
        None => line.to_owned(),
    }
}
