//! The endpoint: requests by method and headers, and the table of connections.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use agentwire_jsonrpc::{ErrorObject, Frame, Message, Request as RpcRequest, Response as RpcResponse};
use http::header::{ACCEPT, CONTENT_LENGTH, CONTENT_TYPE, UPGRADE};
use http::request::Parts;
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, Response, StatusCode};
use http_body_util::{BodyExt as _, Limited};
use hyper::body::Incoming;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::connection::{Connection, FromAgent, InitializeOutcome, NoStream, NotTaken, RunAgent, new_id};
use super::responses::{self, Body, CONNECTION_ID, SESSION_ID, refusal, status};
use super::routes::Refusal;
use super::{guard, websocket};

/// The path of the endpoint.
pub(super) const PATH: &str = "/acp";
/// How many connections there may be.
const MAX_CONNECTIONS: usize = 256;
/// The most bytes of a message in a POST.
const MAX_BODY: usize = 16 << 20;

/// All connections of the agent.
pub(super) struct Endpoint {
    run: RunAgent,
    slots: Arc<Semaphore>,
    connections: Mutex<HashMap<String, Arc<Connection>>>,
}

impl Endpoint {
    pub(super) fn new(run: RunAgent) -> Self {
        Self { run, slots: Arc::new(Semaphore::new(MAX_CONNECTIONS)), connections: Mutex::default() }
    }

    /// Answers a request.
    pub(super) async fn answer(self: &Arc<Self>, mut request: Request<Incoming>) -> Response<Body> {
        if request.uri().path() != PATH {
            return status(StatusCode::NOT_FOUND);
        }
        let upgrades =
            header(request.headers(), UPGRADE).is_some_and(|to| to.eq_ignore_ascii_case("websocket"));
        let upgrade = upgrades.then(|| hyper::upgrade::on(&mut request));
        let (parts, body) = request.into_parts();
        if !guard::admits(&parts) {
            return status(StatusCode::FORBIDDEN);
        }
        match (&parts.method, upgrade) {
            (&Method::GET, Some(upgrade)) => match self.slot() {
                Some(slot) => websocket::accept(&parts.headers, upgrade, &self.run, slot),
                None => responses::full(),
            },
            (&Method::GET, None) => self.get(&parts),
            (&Method::POST, _) => self.post(&parts, body).await,
            (&Method::DELETE, _) => self.delete(&parts),
            _ => responses::not_allowed(),
        }
    }

    async fn post(self: &Arc<Self>, parts: &Parts, body: Incoming) -> Response<Body> {
        let kind = header(&parts.headers, CONTENT_TYPE).and_then(|kind| kind.split(';').next());
        if !kind.is_some_and(|kind| kind.trim().eq_ignore_ascii_case("application/json")) {
            return status(StatusCode::UNSUPPORTED_MEDIA_TYPE);
        }
        let length = header(&parts.headers, CONTENT_LENGTH).and_then(|length| length.parse::<usize>().ok());
        if length.is_some_and(|length| length > MAX_BODY) {
            return status(StatusCode::PAYLOAD_TOO_LARGE);
        }
        let body = match Limited::new(body, MAX_BODY).collect().await {
            Ok(body) => body.to_bytes(),
            Err(error) if error.is::<http_body_util::LengthLimitError>() => {
                return status(StatusCode::PAYLOAD_TOO_LARGE);
            }
            Err(_) => return status(StatusCode::BAD_REQUEST),
        };
        if body.trim_ascii_start().starts_with(b"[") {
            return refusal(StatusCode::NOT_IMPLEMENTED, None, "batches are not implemented");
        }
        let message = match Frame::parse_bytes(body) {
            Frame::Single(message) => message,
            frame => return responses::malformed(&frame),
        };
        match (header(&parts.headers, HeaderName::from_static(CONNECTION_ID)), message) {
            (None, Message::Request(request)) if &*request.method == "initialize" => {
                self.begin(request).await
            }
            (None, message) => {
                refusal(StatusCode::BAD_REQUEST, id_of(&message).as_ref(), "Acp-Connection-Id is missing")
            }
            (Some(connection), message) => self.take(connection, message, session(parts)).await,
        }
    }

    /// Begins a connection.
    async fn begin(self: &Arc<Self>, request: RpcRequest) -> Response<Body> {
        if request.id.is_null() {
            return refusal(StatusCode::BAD_REQUEST, None, "initialize needs an id");
        }
        let Some(slot) = self.slot() else { return responses::full() };
        let request_id = request.id.clone();
        let failed = |status, why| {
            responses::json(
                status,
                &RpcResponse::new(request_id.clone(), Err(ErrorObject::internal_error(why))).into(),
            )
        };
        match Connection::begin(&self.run, request, slot).await {
            InitializeOutcome::Open { connection, from_agent, answer } => match new_id() {
                Some(id) => {
                    self.keep(&id, connection, from_agent);
                    let mut response = responses::json(StatusCode::OK, &answer.into());
                    if let Ok(id) = HeaderValue::from_str(&id) {
                        response.headers_mut().insert(CONNECTION_ID, id);
                    }
                    response
                }
                None => failed(StatusCode::INTERNAL_SERVER_ERROR, "there is no randomness"),
            },
            InitializeOutcome::Refused(answer) => responses::json(StatusCode::OK, &answer.into()),
            InitializeOutcome::Silent => failed(StatusCode::GATEWAY_TIMEOUT, "the agent does not answer"),
            InitializeOutcome::Ended => failed(StatusCode::INTERNAL_SERVER_ERROR, "the agent has ended"),
        }
    }

    /// Keeps a connection until it ends.
    fn keep(self: &Arc<Self>, id: &str, connection: Arc<Connection>, from_agent: FromAgent) {
        self.connections().insert(id.to_owned(), Arc::clone(&connection));
        let (endpoint, id) = (Arc::clone(self), id.to_owned());
        tokio::spawn(async move {
            connection.forward(from_agent).await;
            endpoint.connections().remove(&id);
        });
    }

    /// Passes a message to the agent of its connection.
    async fn take(&self, connection: &str, message: Message, session: Option<&str>) -> Response<Body> {
        let id = id_of(&message);
        let refused = |status, why| refusal(status, id.as_ref(), why);
        let Some(connection) = self.connection(connection) else {
            return refused(StatusCode::NOT_FOUND, "the connection is unknown");
        };
        if matches!(&message, Message::Request(request) if &*request.method == "initialize") {
            return refused(StatusCode::BAD_REQUEST, "the connection is initialized");
        }
        match connection.take(message, session).await {
            Ok(()) => status(StatusCode::ACCEPTED),
            Err(NotTaken::Refused(Refusal::Invalid(why))) => refused(StatusCode::BAD_REQUEST, why),
            Err(NotTaken::Refused(Refusal::TooMany)) => {
                refused(StatusCode::TOO_MANY_REQUESTS, "the connection has too many requests or sessions")
            }
            Err(NotTaken::Stalled) => refused(StatusCode::SERVICE_UNAVAILABLE, "the agent takes no message"),
            Err(NotTaken::Ended) => refused(StatusCode::NOT_FOUND, "the connection has ended"),
        }
    }

    fn get(&self, parts: &Parts) -> Response<Body> {
        let accepted = parts.headers.get_all(ACCEPT).iter().filter_map(|value| value.to_str().ok());
        let mut kinds = accepted.flat_map(|value| value.split(',')).filter_map(|kind| kind.split(';').next());
        if !kinds.any(|kind| kind.trim().eq_ignore_ascii_case("text/event-stream")) {
            return status(StatusCode::NOT_ACCEPTABLE);
        }
        let connection = match self.named(parts) {
            Ok(connection) => connection,
            Err(missing) => return status(missing),
        };
        match connection.stream(session(parts)) {
            Ok(body) => responses::stream(body),
            Err(NoStream::Unknown) => status(StatusCode::NOT_FOUND),
            Err(NoStream::Busy) => status(StatusCode::CONFLICT),
        }
    }

    fn delete(&self, parts: &Parts) -> Response<Body> {
        match self.named(parts) {
            Ok(connection) => {
                self.connections().retain(|_, kept| !Arc::ptr_eq(kept, &connection));
                connection.cut();
                status(StatusCode::ACCEPTED)
            }
            Err(missing) => status(missing),
        }
    }

    /// The connection that a request names.
    fn named(&self, parts: &Parts) -> Result<Arc<Connection>, StatusCode> {
        let id = header(&parts.headers, HeaderName::from_static(CONNECTION_ID));
        self.connection(id.ok_or(StatusCode::BAD_REQUEST)?).ok_or(StatusCode::NOT_FOUND)
    }

    fn connection(&self, id: &str) -> Option<Arc<Connection>> {
        self.connections().get(id).cloned()
    }

    fn connections(&self) -> MutexGuard<'_, HashMap<String, Arc<Connection>>> {
        self.connections.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn slot(&self) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.slots).try_acquire_owned().ok()
    }
}

fn session(parts: &Parts) -> Option<&str> {
    header(&parts.headers, HeaderName::from_static(SESSION_ID))
}

fn header(headers: &HeaderMap, name: HeaderName) -> Option<&str> {
    headers.get(name)?.to_str().ok()
}

fn id_of(message: &Message) -> Option<agentwire_jsonrpc::RequestId> {
    match message {
        Message::Request(request) => Some(request.id.clone()),
        _ => None,
    }
}
