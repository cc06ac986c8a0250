//! HTTP requests to the balancer, each on a connection of its own, and the events of their responses.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use http::{HeaderMap, Method, Request, Response, StatusCode};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::client::conn::http1::handshake;
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tokio::time::{sleep, timeout};

use crate::history::{Count, History};

/// The longest time without a head, or without anything on a stream. A comment comes each 15 s.
const SILENCE: Duration = Duration::from_secs(40);
/// How long a client tries again what was refused.
const PATIENCE: Duration = Duration::from_secs(30);
/// The pause before it tries again.
const PAUSE: Duration = Duration::from_millis(100);

/// Where a client sends its requests, and as whom.
#[derive(Clone, Debug)]
pub(crate) struct Wire {
    pub(crate) address: SocketAddr,
    pub(crate) principal: String,
    pub(crate) history: Arc<History>,
}

/// The headers of a request, beside those that every request has.
pub(crate) type Headers<'a> = [(&'static str, &'a str)];

/// The reply to a request.
#[derive(Debug)]
pub(crate) enum Reply {
    /// A response that is not a refusal.
    Response(Response<Incoming>),
    /// Status 502, or no head: the node has died while it had the request.
    Lost,
    /// Nothing but 503 and 429 for as long as a client tries.
    Unavailable,
}

impl Wire {
    /// Sends a request. Sends it again while the answer means that nothing was done.
    pub(crate) async fn request(&self, method: Method, headers: &Headers<'_>, body: &str) -> Reply {
        let (reply, refused) = self.request_within(PATIENCE, method, headers, body).await;
        if let Some(refused) = refused {
            self.history.gap(refused);
        }
        reply
    }

    /// The same, for so long. Returns also for how long it was refused.
    pub(crate) async fn request_within(
        &self,
        patience: Duration,
        method: Method,
        headers: &Headers<'_>,
        body: &str,
    ) -> (Reply, Option<Duration>) {
        let mut refused: Option<Instant> = None;
        loop {
            let response = self.once(&method, headers, body).await;
            let time = refused.map(|refused| refused.elapsed());
            let response = match response {
                Some(response) if response.status() != StatusCode::BAD_GATEWAY => response,
                _ => return (Reply::Lost, time),
            };
            if !matches!(response.status(), StatusCode::SERVICE_UNAVAILABLE | StatusCode::TOO_MANY_REQUESTS) {
                return (Reply::Response(response), time);
            }
            self.history.count(Count::Unavailable);
            self.check_refusal(response.headers());
            if refused.get_or_insert_with(Instant::now).elapsed() > patience {
                return (Reply::Unavailable, time);
            }
            sleep(PAUSE).await;
        }
    }

    /// A refusal must have the time after which the client may come back.
    fn check_refusal(&self, headers: &HeaderMap) {
        if !headers.contains_key("retry-after") {
            self.history.violation("a 503 or 429 has no Retry-After");
        }
    }

    /// Sends a request once. None: there is no head of a response.
    pub(crate) async fn once(
        &self,
        method: &Method,
        headers: &Headers<'_>,
        body: &str,
    ) -> Option<Response<Incoming>> {
        let mut request = Request::builder()
            .method(method)
            .uri("/mcp")
            .header("host", self.address.to_string())
            .header("authorization", format!("Bearer token-of-{}", self.principal))
            .header("content-type", "application/json")
            .header("accept", "application/json, text/event-stream");
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let request = request.body(Full::new(Bytes::from(body.to_owned()))).ok()?;
        let stream = TcpStream::connect(self.address).await.ok()?;
        let (mut sender, connection) = handshake(TokioIo::new(stream)).await.ok()?;
        tokio::spawn(connection);
        let Ok(response) = timeout(SILENCE, sender.send_request(request)).await else {
            self.history.violation(format!("no head of a response within {SILENCE:?}"));
            return None;
        };
        response.ok()
    }
}

/// Reads a whole body; what there is of it, where it breaks off.
pub(crate) async fn text(response: Response<Incoming>) -> Option<String> {
    let bytes = timeout(SILENCE, response.into_body().collect()).await.ok()?.ok()?.to_bytes();
    String::from_utf8(bytes.into()).ok()
}

/// An event of a stream.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Event {
    pub(crate) id: Option<String>,
    pub(crate) retry: Option<Duration>,
    pub(crate) data: String,
}

/// Reads the events of a response.
#[derive(Debug)]
pub(crate) struct Events {
    body: Incoming,
    buffer: Vec<u8>,
}

impl Events {
    pub(crate) fn new(response: Response<Incoming>) -> Self {
        Self { body: response.into_body(), buffer: Vec::new() }
    }

    /// The next event. None at the end of the stream, be it proper or not.
    pub(crate) async fn next(&mut self, history: &History) -> Option<Event> {
        loop {
            if let Some(event) = take_event(&mut self.buffer) {
                return Some(event);
            }
            let Ok(frame) = timeout(SILENCE, self.body.frame()).await else {
                history.violation(format!("a stream is silent for {SILENCE:?}"));
                return None;
            };
            if let Ok(data) = frame?.ok()?.into_data() {
                self.buffer.extend_from_slice(&data);
            }
        }
    }
}

/// Takes the first whole event out of a buffer. A comment alone is not an event.
fn take_event(buffer: &mut Vec<u8>) -> Option<Event> {
    loop {
        let end = buffer.windows(2).position(|pair| pair == b"\n\n")? + 2;
        let block: Vec<u8> = buffer.drain(..end).collect();
        let mut event = Event::default();
        for line in String::from_utf8_lossy(&block).lines() {
            let (name, value) = line.split_once(':').unwrap_or((line, ""));
            let value = value.strip_prefix(' ').unwrap_or(value);
            match name {
                "id" => event.id = Some(value.to_owned()),
                "retry" => event.retry = value.parse().ok().map(Duration::from_millis),
                "data" => event.data.push_str(value),
                _ => (),
            }
        }
        if event != Event::default() {
            return Some(event);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_taken_whole() {
        let mut buffer = b": comment\n\nid: 1-0\nretry: 200\ndata:\n\nid: 1-1\nda".to_vec();
        let first =
            Event { id: Some("1-0".into()), retry: Some(Duration::from_millis(200)), data: String::new() };
        assert_eq!(take_event(&mut buffer), Some(first));
        assert_eq!(take_event(&mut buffer), None);
        buffer.extend_from_slice(b"ta: {}\n\n");
        assert_eq!(take_event(&mut buffer).unwrap().data, "{}");
        assert!(buffer.is_empty());
    }
}
