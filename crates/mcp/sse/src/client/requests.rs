//! Opens the event stream with GET and waits for its `endpoint` event. Sends messages by POST to the URI of that event.

use std::time::Duration;

use agentwire_jsonrpc::RequestId;
use agentwire_transport_http::client::{Body, HttpClient, HttpError, Refusal, Wait};
use agentwire_transport_http::runtime::client::{
    EventStream, OriginError, send_within_origin, within_origin,
};
use bytes::Bytes;
use futures_util::{StreamExt, future};
use http::header::{ACCEPT, CONTENT_ENCODING, CONTENT_TYPE};
use http::response::Parts;
use http::{HeaderMap, HeaderValue, Method, Request, Response, StatusCode, Uri};

use crate::client::{Config, SseError};

/// How long the body of an accepting response is read, so that its connection can be used again.
const LINGER: Duration = Duration::from_secs(1);
/// The most pieces of it that are read.
const MAX_PIECES: usize = 64;

/// Sends the requests of one transport.
pub(crate) struct Requests {
    pub(crate) config: Config,
    client: Box<dyn HttpClient>,
}

/// An open stream, and the URI of the messages.
pub(crate) struct OpenStream {
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

    /// Opens the stream, and waits for its event `endpoint`.
    pub(crate) async fn open(&self) -> Result<OpenStream, SseError> {
        let after = self.config.endpoint_timeout;
        let opened = tokio::time::timeout(after, self.open_untimed()).await;
        opened.unwrap_or(Err(SseError::EndpointTimedOut { after }))
    }

    async fn open_untimed(&self) -> Result<OpenStream, SseError> {
        // `endpoint_timeout` bounds all of this.
        let (wait, after) = (Wait::FirstByte, Duration::MAX);
        let request = self.request(Method::GET, self.config.http.url(), Bytes::new());
        let (url, head, body) = self.send(request, wait, after).await?;
        if !head.status.is_success() {
            return Err(read_refusal(head, body).await.error);
        }
        if let Err(content_type) = check_events(&head) {
            let (page, _) = Refusal::read(Response::from_parts(head, body)).await;
            let excerpt = page.error.map_or(page.excerpt, |error| error.to_string());
            return Err(SseError::NoStream { status: page.status, content_type, excerpt });
        }
        let limit = self.config.http.limits().line_limit();
        let mut events = EventStream::new(body, self.config.idle_timeout, limit);
        let endpoint = loop {
            let event = events.next_event().await?.ok_or(SseError::Ended)?;
            match (event.name.as_deref(), event.data) {
                (Some("endpoint"), Some(uri)) => break uri,
                (None | Some("message"), Some(_)) => {
                    return Err(SseError::NoEndpoint { event: "message".to_owned() });
                }
                // Unknown events are ignored.
                _ => {}
            }
        };
        let endpoint = within_origin(&url, &endpoint).map_err(|error| match error {
            OriginError::Foreign => SseError::ForeignEndpoint { uri: endpoint.to_string() },
            _ => SseError::InvalidEndpoint { uri: endpoint.to_string() },
        })?;
        Ok(OpenStream { endpoint, events })
    }

    /// Sends a message. The body of an accepting response is ignored.
    pub(crate) async fn post(
        &self,
        endpoint: &Uri,
        (headers, body): (HeaderMap, Bytes),
        wait: Wait,
    ) -> Result<(), Failure> {
        let after = self.config.http.limits().response_timeout(wait);
        let mut request = self.request(Method::POST, endpoint, body);
        request.headers_mut().extend(headers);
        let (_, head, body) = self.send(request, wait, after).await?;
        if !head.status.is_success() {
            return Err(read_refusal(head, body).await);
        }
        drain(body).await;
        Ok(())
    }

    fn request(&self, method: Method, url: &Uri, body: Bytes) -> Request<Bytes> {
        let mut request = Request::new(body);
        *request.headers_mut() = self.config.http.headers().clone();
        let (name, value) = match method {
            Method::GET => (ACCEPT, "text/event-stream"),
            _ => (CONTENT_TYPE, "application/json"),
        };
        request.headers_mut().insert(name, HeaderValue::from_static(value));
        *request.method_mut() = method;
        *request.uri_mut() = url.clone();
        request
    }

    /// Sends a request. Returns also the URL that answered it.
    async fn send(
        &self,
        request: Request<Bytes>,
        wait: Wait,
        after: Duration,
    ) -> Result<(Uri, Parts, Body), SseError> {
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

/// Checks that the response is a stream of events. Fails with its content type.
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

/// Reads the body of a refusal.
async fn read_refusal(head: Parts, body: Body) -> Failure {
    let (refusal, id) = Refusal::read(Response::from_parts(head, body)).await;
    // 401 and 403 concern the caller, not one request.
    let about_caller = matches!(refusal.status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN);
    Failure { error: HttpError::Refused(Box::new(refusal)).into(), answers: id.filter(|_| !about_caller) }
}

/// Reads an ignored body, so that its connection can be used again. Stops after [`LINGER`].
async fn drain(body: Body) {
    let reading = body.take(MAX_PIECES).for_each(|_| future::ready(()));
    let _ = tokio::time::timeout(LINGER, reading).await;
}
