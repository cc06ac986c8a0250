use std::time::Duration;

use agentwire_jsonrpc::{ErrorObject, RequestId};
use agentwire_transport_http::client::{Body, HttpClient};
use bytes::Bytes;
use futures::StreamExt;
use http::header::{ACCEPT, CONTENT_ENCODING, CONTENT_TYPE, LOCATION};
use http::response::Parts;
use http::{HeaderValue, Method, Request, StatusCode, Uri};
use serde::Deserialize;

use crate::client::stream::Events;
use crate::client::uri::{self, Astray};
use crate::client::{Config, Refusal, SseError, Wait};

/// The most redirects that one request follows.
const MOST_REDIRECTS: usize = 5;
/// The longest body of a refusal that is looked at.
const REFUSAL_LIMIT: usize = 64 << 10;
/// How long the body of a refusal is read.
const REFUSAL_TIME: Duration = Duration::from_secs(5);
/// How long a body is read that says nothing, so that its connection can be used again.
const LINGER: Duration = Duration::from_secs(1);
/// How much of a body that is no JSON-RPC an error shows, in bytes.
const EXCERPT: usize = 256;

/// What all requests of one transport share.
pub(crate) struct Requests {
    pub(crate) config: Config,
    client: Box<dyn HttpClient>,
}

/// A stream that is open, and where messages go.
pub(crate) struct Opened {
    pub(crate) endpoint: Uri,
    pub(crate) events: Events,
}

/// Why a message was not accepted.
pub(crate) struct Failure {
    pub(crate) error: SseError,
    /// The request that the body of the refusal answers with an error.
    pub(crate) answers: Option<RequestId>,
}

impl Requests {
    pub(crate) fn new(config: Config, client: Box<dyn HttpClient>) -> Self {
        Self { config, client }
    }

    /// Opens the stream, and waits for the event that says where messages go.
    pub(crate) async fn open(&self) -> Result<Opened, SseError> {
        let after = self.config.endpoint_timeout;
        let opened = tokio::time::timeout(after, self.open_in_any_time()).await;
        opened.unwrap_or(Err(SseError::TimedOut { wait: Wait::Endpoint, after }))
    }

    async fn open_in_any_time(&self) -> Result<Opened, SseError> {
        let (url, head, body) = self.send(Method::GET, &self.config.url, &Bytes::new()).await?;
        if !head.status.is_success() {
            return Err(refused(head, body).await.error);
        }
        if let Err(content_type) = check_events(&head) {
            let excerpt = excerpt(&beginning(body, REFUSAL_TIME).await);
            return Err(SseError::NoStream { status: head.status, content_type, excerpt });
        }
        let mut events = Events::new(body, &self.config);
        let endpoint = loop {
            let event = events.next_event().await?.ok_or(SseError::Ended)?;
            match (event.name.as_deref(), event.data) {
                (Some("endpoint"), Some(uri)) => break uri,
                (None | Some("message"), Some(_)) => {
                    return Err(SseError::NoEndpoint { event: "message".to_owned() });
                }
                // Events that nobody knows mean nothing, here as later.
                _ => {}
            }
        };
        let endpoint = uri::resolve(&url, &endpoint).map_err(|astray| match astray {
            Astray::Invalid => SseError::InvalidEndpoint { uri: endpoint.to_string() },
            Astray::Foreign => SseError::ForeignEndpoint { uri: endpoint.to_string() },
        })?;
        Ok(Opened { endpoint, events })
    }

    /// Sends a message; whatever a response says that accepts it is none of the session's.
    pub(crate) async fn post(&self, endpoint: &Uri, body: Bytes, wait: Wait) -> Result<(), Failure> {
        let after = match wait {
            Wait::FirstByte => self.config.first_byte_timeout,
            _ => self.config.acceptance_timeout,
        };
        let sent = tokio::time::timeout(after, self.send(Method::POST, endpoint, &body)).await;
        let (_, head, body) = sent.unwrap_or(Err(SseError::TimedOut { wait, after }))?;
        if !head.status.is_success() {
            return Err(refused(head, body).await);
        }
        beginning(body, LINGER).await;
        Ok(())
    }

    /// Sends a request, and again where it is redirected to. Gives also the place where it was answered.
    async fn send(&self, method: Method, url: &Uri, body: &Bytes) -> Result<(Uri, Parts, Body), SseError> {
        let mut headers = self.config.headers.clone();
        if method == Method::GET {
            headers.insert(ACCEPT, HeaderValue::from_static("text/event-stream"));
        } else {
            headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        }
        let mut url = url.clone();
        let mut redirects = 0;
        loop {
            let mut request = Request::new(body.clone());
            *request.method_mut() = method.clone();
            *request.uri_mut() = url.clone();
            *request.headers_mut() = headers.clone();
            let response = self.client.send(request).await.map_err(SseError::Unsent)?;
            let (head, body) = response.into_parts();
            if !head.status.is_redirection() {
                return Ok((url, head, body));
            }
            url = redirected(&url, &method, &head)?;
            redirects += 1;
            if redirects > MOST_REDIRECTS {
                return Err(SseError::Redirected { status: head.status, location: url.to_string() });
            }
        }
    }
}

impl From<SseError> for Failure {
    fn from(error: SseError) -> Self {
        Self { error, answers: None }
    }
}

/// Where to send the same request again: only within the origin, because of the headers, and only where the method
/// stays the same.
fn redirected(from: &Uri, method: &Method, head: &Parts) -> Result<Uri, SseError> {
    let status = head.status;
    let location = head.headers.get(LOCATION).map(HeaderValue::as_bytes).unwrap_or_default();
    let location = String::from_utf8_lossy(location);
    let keeps_method = match status {
        StatusCode::TEMPORARY_REDIRECT | StatusCode::PERMANENT_REDIRECT => true,
        StatusCode::MOVED_PERMANENTLY | StatusCode::FOUND => *method == Method::GET,
        _ => false,
    };
    uri::resolve(from, &location)
        .ok()
        .filter(|_| keeps_method)
        .ok_or_else(|| SseError::Redirected { status, location: location.into_owned() })
}

/// The content type where it is not that of a stream of events.
fn check_events(head: &Parts) -> Result<(), String> {
    let value = |name| head.headers.get(name).and_then(|value: &HeaderValue| value.to_str().ok());
    let content_type = value(CONTENT_TYPE).unwrap_or_default();
    match value(CONTENT_ENCODING).filter(|coding| !coding.eq_ignore_ascii_case("identity")) {
        Some(coding) => Err(format!("{content_type} ({coding})")),
        None => {
            let media_type = content_type.split(';').next().unwrap_or_default().trim();
            let events = media_type.eq_ignore_ascii_case("text/event-stream");
            if events { Ok(()) } else { Err(content_type.to_owned()) }
        }
    }
}

/// Reads what a refusal says.
async fn refused(head: Parts, body: Body) -> Failure {
    let start = beginning(body, REFUSAL_TIME).await;
    let answer: Option<ErrorAnswer> = serde_json::from_slice(&start).ok();
    let excerpt = if answer.is_none() { excerpt(&start) } else { String::new() };
    let (error, id) = answer.map_or((None, None), |answer| (Some(answer.error), answer.id));
    let refusal = Refusal { status: head.status, headers: head.headers, error, excerpt };
    // Who may call is nothing that a server says to one request only.
    let about_caller = matches!(refusal.status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN);
    Failure { error: SseError::Refused(Box::new(refusal)), answers: id.filter(|_| !about_caller) }
}

/// An error of JSON-RPC, whose id is left out where the server could not tell it.
#[derive(Deserialize)]
struct ErrorAnswer {
    error: ErrorObject,
    #[serde(default)]
    id: Option<RequestId>,
}

/// The beginning of a body, as much of it as comes in time.
async fn beginning(mut body: Body, time: Duration) -> Vec<u8> {
    let mut start = Vec::new();
    let reading = async {
        while start.len() < REFUSAL_LIMIT {
            match body.next().await {
                Some(Ok(piece)) => {
                    start.extend_from_slice(&piece[..piece.len().min(REFUSAL_LIMIT - start.len())]);
                }
                Some(Err(_)) | None => break,
            }
        }
    };
    // What came until then is what there is.
    let _ = tokio::time::timeout(time, reading).await;
    start
}

/// The beginning of a body as one line of text.
fn excerpt(body: &[u8]) -> String {
    let text = String::from_utf8_lossy(&body[..body.len().min(EXCERPT)]);
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
