//! Builds the POST, GET and DELETE requests of one transport with the session's headers. Classifies response bodies and reads
//! refusals.

use std::sync::Arc;

use agentwire_jsonrpc::{ErrorObject, RequestId, read_bytes};
use agentwire_sync::{Mutex, MutexGuard};
use bytes::Bytes;
use http::header::{ACCEPT, CONTENT_ENCODING, CONTENT_TYPE};
use http::{HeaderMap, HeaderValue, Method, Request, Response, StatusCode};
use serde::Deserialize;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::client::exchange::body;
use crate::client::exchange::body::{REFUSAL_TIME, TimedBody};
use crate::client::exchange::param_headers::ParamHeaders;
use crate::client::url::redirect::send_within_origin;
use crate::client::{Body, Config, HttpClient, HttpError, Refusal, Wait};
use crate::header;

/// Sends the requests of one transport.
pub(crate) struct Requests {
    pub(crate) config: Config,
    client: Box<dyn HttpClient>,
    session: Mutex<SessionHeaders>,
    param_headers: Mutex<ParamHeaders>,
    /// A permit for each request that may be unanswered.
    permits: Arc<Semaphore>,
}

/// The values that the headers of later requests repeat.
#[derive(Clone, Debug, Default)]
pub(crate) struct SessionHeaders {
    /// The id that the server gave with its answer to `initialize`.
    pub(crate) id: Option<HeaderValue>,
    /// The version that it settled on.
    pub(crate) version: Option<HeaderValue>,
    /// The version of the last request that was modern, as long as there is no session.
    pub(crate) modern: Option<HeaderValue>,
}

/// A response whose body has not been read.
pub(crate) struct Reply {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: TimedBody,
}

/// The kind of a response's body.
#[derive(Debug, PartialEq)]
pub(crate) enum Content {
    Json,
    Events,
    Other,
}

impl Requests {
    pub(crate) fn new(config: Config, client: Box<dyn HttpClient>) -> Self {
        let permits = Arc::new(Semaphore::new(config.request_limit));
        Self { config, client, session: Mutex::default(), param_headers: Mutex::default(), permits }
    }

    /// Waits until fewer requests than the limit are unanswered. The permit is held until the answer.
    pub(crate) async fn permit(&self) -> Option<OwnedSemaphorePermit> {
        // It fails only for a semaphore that is closed, which this one never is.
        self.permits.clone().acquire_owned().await.ok()
    }

    pub(crate) fn session(&self) -> MutexGuard<'_, SessionHeaders> {
        // Nothing that happens while it is locked leaves it half changed.
        self.session.lock()
    }

    pub(crate) fn param_headers(&self) -> MutexGuard<'_, ParamHeaders> {
        self.param_headers.lock()
    }

    /// Sends a message.
    pub(crate) async fn post(&self, headers: HeaderMap, body: Bytes, wait: Wait) -> Result<Reply, HttpError> {
        let mut all = self.config.headers.clone();
        // They replace all headers of the user that have the same name.
        headers.keys().for_each(|name| drop(all.remove(name)));
        all.extend(headers);
        all.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        all.insert(ACCEPT, HeaderValue::from_static("application/json, text/event-stream"));
        self.send(Method::POST, all, body, wait).await
    }

    /// Opens a stream of the session, or resumes one.
    pub(crate) async fn get(&self, last_event_id: Option<HeaderValue>) -> Result<Reply, HttpError> {
        let mut headers = self.of_session();
        headers.insert(ACCEPT, HeaderValue::from_static("text/event-stream"));
        if let Some(id) = last_event_id {
            headers.insert(header::LAST_EVENT_ID, id);
        }
        self.send(Method::GET, headers, Bytes::new(), Wait::Acceptance).await
    }

    /// Ends the session.
    pub(crate) async fn delete(&self) -> Result<(), HttpError> {
        let reply = self.send(Method::DELETE, self.of_session(), Bytes::new(), Wait::Acceptance).await?;
        reply.body.drain().await;
        Ok(())
    }

    /// The headers of a request in the session, those of the user included.
    fn of_session(&self) -> HeaderMap {
        let mut headers = self.config.headers.clone();
        headers.extend(self.session_headers());
        headers
    }

    /// The headers with the session of a request and its version.
    pub(crate) fn session_headers(&self) -> HeaderMap {
        let session = self.session();
        let mut headers = HeaderMap::with_capacity(8);
        headers.extend(session.id.clone().map(|id| (header::SESSION_ID, id)));
        headers.extend(session.version.clone().map(|version| (header::PROTOCOL_VERSION, version)));
        headers
    }

    async fn send(
        &self,
        method: Method,
        headers: HeaderMap,
        body: Bytes,
        wait: Wait,
    ) -> Result<Reply, HttpError> {
        let after = self.config.limits.response_timeout(wait);
        let mut request = Request::new(body);
        *request.method_mut() = method;
        *request.uri_mut() = self.config.url.clone();
        *request.headers_mut() = headers;
        let (_, response) = send_within_origin(&*self.client, request, wait, after).await?;
        let (head, body) = response.into_parts();
        let body = TimedBody::new(body, self.config.idle_timeout);
        Ok(Reply { status: head.status, headers: head.headers, body })
    }
}

impl Reply {
    pub(crate) fn content(&self) -> Content {
        let media_type = self.content_type().split(';').next().unwrap_or_default().trim();
        if self.coding().is_some() {
            Content::Other
        } else if media_type.eq_ignore_ascii_case("application/json") {
            Content::Json
        } else if media_type.eq_ignore_ascii_case("text/event-stream") {
            Content::Events
        } else {
            Content::Other
        }
    }

    fn content_type(&self) -> &str {
        self.headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default()
    }

    /// The compression that the client has left on the body.
    fn coding(&self) -> Option<String> {
        let coding = self.headers.get(CONTENT_ENCODING).filter(|coding| *coding != "identity")?;
        Some(String::from_utf8_lossy(coding.as_bytes()).into_owned())
    }

    /// The error for a response that is neither JSON nor a stream.
    pub(crate) fn unexpected(&self) -> HttpError {
        match (self.status, self.coding()) {
            (StatusCode::ACCEPTED | StatusCode::NO_CONTENT, _) => {
                HttpError::OtherContent { found: format!("HTTP status {}", self.status) }
            }
            (_, Some(coding)) => HttpError::ContentEncoding { coding },
            (_, None) => HttpError::ContentType { content_type: self.content_type().to_owned() },
        }
    }

    /// Reads the body of a refusal. Returns also the id of the request that it answers.
    pub(crate) async fn refusal(self) -> (Refusal, Option<RequestId>) {
        let start = self.body.beginning(REFUSAL_TIME).await;
        let answer: Option<ErrorAnswer> = read_bytes(&start).ok();
        // Compressed bytes make no readable excerpt.
        let readable = answer.is_none() && self.headers.get(CONTENT_ENCODING).is_none();
        let excerpt = if readable { body::excerpt(&start) } else { String::new() };
        let (error, id) = answer.map_or((None, None), |answer| (Some(answer.error), answer.id));
        (Refusal { status: self.status, headers: self.headers, error, excerpt }, id)
    }
}

impl Refusal {
    /// Reads the body of a response that refuses a request, for up to 5 s. Returns also the id of the request that it
    /// answers, where it is an error of JSON-RPC with an id.
    ///
    /// It is for other transports over an [`HttpClient`]; [`Http`](crate::client::Http) does it by itself.
    pub async fn read(response: Response<Body>) -> (Self, Option<RequestId>) {
        let (head, body) = response.into_parts();
        let body = TimedBody::new(body, REFUSAL_TIME);
        Reply { status: head.status, headers: head.headers, body }.refusal().await
    }
}

/// An error of JSON-RPC. Its id is absent if the server could not read that of the request.
#[derive(Deserialize)]
struct ErrorAnswer {
    error: ErrorObject,
    #[serde(default)]
    id: Option<RequestId>,
}
