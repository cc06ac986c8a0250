use std::time::Duration;

use agentwire_jsonrpc::RequestId;
use agentwire_transport_http::client::{
    Astray, Body, EventStream, HttpClient, HttpError, Refusal, Wait, send_within_origin, within_origin,
};
use bytes::Bytes;
use futures::{StreamExt, future};
use http::header::{ACCEPT, CONTENT_ENCODING, CONTENT_TYPE};
use http::response::Parts;
use http::{HeaderValue, Method, Request, Response, StatusCode, Uri};

use crate::client::{Config, SseError};

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
    pub(crate) events: EventStream,
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
        opened.unwrap_or(Err(SseError::EndpointTimedOut { after }))
    }

    async fn open_in_any_time(&self) -> Result<Opened, SseError> {
        // The whole of this has one limit.
        let (wait, after) = (Wait::FirstByte, Duration::MAX);
        let (url, head, body) =
            self.send(Method::GET, self.config.server.url(), Bytes::new(), wait, after).await?;
        if !head.status.is_success() {
            return Err(refused(head, body).await.error);
        }
        if let Err(content_type) = check_events(&head) {
            let (page, _) = Refusal::read(Response::from_parts(head, body)).await;
            let excerpt = page.error.map_or(page.excerpt, |error| error.to_string());
            return Err(SseError::NoStream { status: page.status, content_type, excerpt });
        }
        // The limit is that of the message; the rest of the line is the name of its field.
        let limit = self.config.message_limit.saturating_add("data: ".len());
        let mut events = EventStream::new(body, self.config.idle_timeout, limit);
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
        let (_, head, body) = self.send(Method::POST, endpoint, body, wait, after).await?;
        if !head.status.is_success() {
            return Err(refused(head, body).await);
        }
        drain(body).await;
        Ok(())
    }

    /// Sends a request. Returns also the URL that answered it.
    async fn send(
        &self,
        method: Method,
        url: &Uri,
        body: Bytes,
        wait: Wait,
        after: Duration,
    ) -> Result<(Uri, Parts, Body), SseError> {
        let mut request = Request::new(body);
        *request.headers_mut() = self.config.server.headers().clone();
        let (name, value) = match method {
            Method::GET => (ACCEPT, "text/event-stream"),
            _ => (CONTENT_TYPE, "application/json"),
        };
        request.headers_mut().insert(name, HeaderValue::from_static(value));
        *request.method_mut() = method;
        *request.uri_mut() = url.clone();
        let (url, response) = send_within_origin(&*self.client, request, wait, after).await?;
        let (head, body) = response.into_parts();
        Ok((url, head, body))
    }
}

impl From<SseError> for Failure {
    fn from(error: SseError) -> Self {
        Self { error, answers: None }
    }
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
    Failure { error: HttpError::Refused(Box::new(refusal)).into(), answers: id.filter(|_| !about_caller) }
}

/// Reads on what says nothing, so that its connection can be used again; gives up where that takes long.
async fn drain(body: Body) {
    let reading = body.take(MOST_PIECES).for_each(|_| future::ready(()));
    let _ = tokio::time::timeout(LINGER, reading).await;
}
