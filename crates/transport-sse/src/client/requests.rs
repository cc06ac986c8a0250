use std::time::Duration;

use agentwire_jsonrpc::RequestId;
use agentwire_transport_http::client::{Astray, Body, HttpClient, Refusal, within_origin};
use bytes::Bytes;
use futures::{StreamExt, future};
use http::header::{ACCEPT, CONTENT_ENCODING, CONTENT_TYPE, LOCATION};
use http::response::Parts;
use http::{HeaderValue, Method, Request, Response, StatusCode, Uri};

use crate::client::stream::Events;
use crate::client::{Config, SseError, Wait};

/// The most redirects that one request follows.
const MOST_REDIRECTS: usize = 5;
/// How long a body is read that says nothing, so that its connection can be used again.
const LINGER: Duration = Duration::from_secs(1);
/// How many pieces of it are read.
const MOST_PIECES: usize = 64;

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
        let (url, head, body) = self.send(Method::GET, self.config.server.url(), &Bytes::new()).await?;
        if !head.status.is_success() {
            return Err(refused(head, body).await.error);
        }
        if let Err(content_type) = check_events(&head) {
            let (page, _) = Refusal::read(Response::from_parts(head, body)).await;
            let excerpt = page.error.map_or(page.excerpt, |error| error.to_string());
            return Err(SseError::NoStream { status: page.status, content_type, excerpt });
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
        let endpoint = within_origin(&url, &endpoint).map_err(|astray| match astray {
            Astray::Foreign => SseError::ForeignEndpoint { uri: endpoint.to_string() },
            _ => SseError::InvalidEndpoint { uri: endpoint.to_string() },
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
        drain(body).await;
        Ok(())
    }

    /// Sends a request, and again where it is redirected to. Gives also the place where it was answered.
    async fn send(&self, method: Method, url: &Uri, body: &Bytes) -> Result<(Uri, Parts, Body), SseError> {
        let mut headers = self.config.server.headers().clone();
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
                return Err(SseError::Redirected { status: head.status, location: location(&head) });
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
    let location = location(head);
    let keeps_method = match status {
        StatusCode::TEMPORARY_REDIRECT | StatusCode::PERMANENT_REDIRECT => true,
        StatusCode::MOVED_PERMANENTLY | StatusCode::FOUND => *method == Method::GET,
        _ => false,
    };
    within_origin(from, &location)
        .ok()
        .filter(|_| keeps_method)
        .ok_or_else(|| SseError::Redirected { status, location })
}

/// Where a response points, as the server wrote it.
fn location(head: &Parts) -> String {
    let location = head.headers.get(LOCATION).map(HeaderValue::as_bytes).unwrap_or_default();
    String::from_utf8_lossy(location).into_owned()
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
    let (refusal, id) = Refusal::read(Response::from_parts(head, body)).await;
    // Who may call is nothing that a server says to one request only.
    let about_caller = matches!(refusal.status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN);
    Failure { error: SseError::Refused(Box::new(refusal)), answers: id.filter(|_| !about_caller) }
}

/// Reads on what says nothing, so that its connection can be used again; gives up where that takes long.
async fn drain(body: Body) {
    let reading = body.take(MOST_PIECES).for_each(|_| future::ready(()));
    let _ = tokio::time::timeout(LINGER, reading).await;
}
