//! The HTTP+SSE endpoint as a tower service: a GET opens a session's event stream, a POST delivers one message to it.

use std::convert::Infallible;
use std::fmt;
use std::future::poll_fn;
use std::panic::AssertUnwindSafe;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use agentwire_jsonrpc::{DEFAULT_BATCH_LIMIT, ErrorObject, Frame, Message, RequestId};
use agentwire_store::SessionId;
use agentwire_transport::{MessageSource, Packet, Service};
use agentwire_transport_http::runtime::server::{
    BodyBuffer, Guard, Refusal, Reservation, check_operations, read_frame,
};
use agentwire_transport_http::server::{Body, Caller, CorsHeaders, Denied, Head, Principal};
use bytes::{Buf, Bytes};
use futures_util::FutureExt;
use futures_util::future::{self, BoxFuture};
use http::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderName, HeaderValue};
use http::request::Parts;
use http::{HeaderMap, Method, Response, StatusCode};
use tower_service::Service as TowerService;

use crate::server::session::Session;
use crate::server::session_body::SessionBody;
use crate::server::session_id::{append_to, in_query};
use crate::server::sessions::Sessions;
use crate::server::{Connection, EndpointConfig};

/// Both endpoints of HTTP+SSE in one service: a GET opens the stream of a session, a POST brings a message to the
/// session that its query names.
///
/// It is a [`tower_service::Service`] on the types of the crate `http`, so hyper, axum, tonic and any other tower
/// server can serve it. Mount it at two paths that lie side by side, `/sse` and `/messages`
/// ([`EndpointConfig::messages`] if others); with the feature `hyper`, [`mount`](Self::mount) does. It never fails. Cloning
/// it gives another handle of the same endpoint. When the last is dropped, new requests get 503 and the input of each session
/// ends; [`shutdown`](Self::shutdown) ends an endpoint in good order.
///
/// Needs a tokio runtime with time.
///
/// ```
/// use agentwire_transport::connection_fn;
/// use agentwire_transport_sse::server::{Connection, Endpoint, EndpointConfig};
/// use futures_util::{SinkExt, StreamExt};
///
/// /// Sends every message of a session back.
/// async fn session(mut connection: Connection) {
///     while let Some(Ok(packet)) = connection.next().await {
///         if connection.send(packet).await.is_err() {
///             break;
///         }
///     }
/// }
///
/// let endpoint = Endpoint::serving(EndpointConfig::new(), connection_fn(session));
/// ```
#[derive(Clone, Debug)]
#[must_use = "an endpoint serves no client until it is mounted: `endpoint.mount(routes)`, or two routes of a web server"]
pub struct Endpoint {
    inner: Arc<EndpointInner>,
}

/// Ends the endpoint when the last handle is dropped.
struct EndpointInner {
    sessions: Arc<Sessions>,
    /// Makes the future that serves a session.
    serve: Box<dyn Fn(Connection) -> BoxFuture<'static, ()> + Send + Sync>,
}

impl Drop for EndpointInner {
    fn drop(&mut self) {
        self.sessions.end();
    }
}

impl fmt::Debug for EndpointInner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EndpointInner").field("sessions", &self.sessions).finish_non_exhaustive()
    }
}

impl Endpoint {
    /// An endpoint whose sessions a [`Service`] serves, as its connections. It gets no exchange, because this transport has no
    /// request without a session.
    ///
    /// The future for a connection is part of the stream that the client reads: it is polled with the stream, dropped with it
    /// when the client leaves, and waits while the client does not read. So nothing is spawned. A panic in it ends that
    /// stream only.
    #[must_use = "an endpoint serves no client until it is mounted: `endpoint.mount(routes)`, or two routes of a web server"]
    pub fn serving(
        config: EndpointConfig,
        service: impl Service<Connection> + Send + Sync + 'static,
    ) -> Self {
        // Other futures share the thread, and perhaps the task, so a panic ends this connection alone.
        let serve = move |connection| {
            AssertUnwindSafe(service.connection(connection)).catch_unwind().map(drop).boxed()
        };
        let sessions = Arc::new(Sessions::new(config));
        Self { inner: Arc::new(EndpointInner { sessions, serve: Box::new(serve) }) }
    }

    /// Shuts the endpoint down: refuses new requests at once, lets running ones finish for up to `grace`, and cuts the rest. The
    /// future completes when every stream has ended, at the latest a second after `grace`. It needs a tokio runtime with time.
    ///
    /// From the call on, new clients and new requests get 503 with `Retry-After`. The client of a running call can still
    /// answer the call's questions, and cancel it. A session ends when its last request is answered. A request that is not
    /// answered within `grace` gets an error that names the shutdown, and the future that serves the session is dropped with
    /// the stream. This holds for up to 1024 requests of a session, with ids of up to 128 bytes.
    #[must_use = "requests are refused from the call on, but running ones are awaited and cut only while this future is polled"]
    pub fn shutdown(&self, grace: Duration) -> impl Future<Output = ()> + Send + use<> {
        let endpoint = self.clone();
        endpoint.inner.sessions.begin_drain();
        async move { endpoint.inner.sessions.finish(grace).await }
    }

    /// The headers that let a web page read the response to a request with these headers. The endpoint adds them to its own
    /// responses; see [`Endpoint::cors`](agentwire_transport_http::server::Endpoint::cors) of Streamable HTTP.
    pub fn cors(&self, request: &HeaderMap) -> CorsHeaders {
        self.inner.sessions.config.http.guard().cors(request)
    }

    /// Adds the endpoint to the routes of a server, at `/sse` and `/messages`.
    ///
    /// ```no_run
    /// use agentwire_transport::Service;
    /// use agentwire_transport_http::server::{Routes, serve};
    /// use agentwire_transport_sse::server::{Connection, Endpoint, EndpointConfig};
    ///
    /// # async fn run(service: impl Service<Connection> + Send + Sync + 'static) -> std::io::Result<()> {
    /// let endpoint = Endpoint::serving(EndpointConfig::new(), service);
    /// let listener = tokio::net::TcpListener::bind("127.0.0.1:8080").await?;
    /// serve(listener, endpoint.mount(Routes::new())).await;
    /// # Ok(())
    /// # }
    /// ```
    #[cfg(feature = "hyper")]
    pub fn mount(
        self,
        routes: agentwire_transport_http::server::Routes,
    ) -> agentwire_transport_http::server::Routes {
        routes.at("/sse", self.clone()).at("/messages", self)
    }

    /// [`TowerService::call`] without exclusive access.
    fn answer<B>(&self, request: http::Request<B>) -> BoxFuture<'static, Response<Body>>
    where
        B: http_body::Body + Send + Unpin + 'static,
        B::Data: Into<Bytes> + Send,
    {
        let sessions = &self.inner.sessions;
        let (parts, body) = request.into_parts();
        let cors = self.cors(&parts.headers);
        let with_cors = move |mut response: Response<Body>| {
            cors.add_to(response.headers_mut());
            response
        };
        let answer = match start(sessions, &parts) {
            Ok(Start::Stream(session)) => self.inner.stream(session, parts),
            Ok(Start::Message(session)) => {
                return message(sessions.clone(), session, parts, body).map(with_cors).boxed();
            }
            Ok(Start::Preflight(headers)) => {
                let mut answer = Response::new(Body::empty());
                *answer.status_mut() = StatusCode::NO_CONTENT;
                *answer.headers_mut() = headers;
                Ok(answer)
            }
            Err(refusal) => Err(refusal),
        };
        future::ready(with_cors(answer.unwrap_or_else(Refusal::into_response))).boxed()
    }
}

impl<B> TowerService<http::Request<B>> for Endpoint
where
    B: http_body::Body + Send + Unpin + 'static,
    B::Data: Into<Bytes> + Send,
{
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = BoxFuture<'static, Result<Response<Body>, Infallible>>;

    fn poll_ready(&mut self, _cx: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: http::Request<B>) -> Self::Future {
        self.answer(request).map(Ok).boxed()
    }
}

#[cfg(feature = "hyper")]
impl agentwire_transport_http::server::Mount for Endpoint {
    fn answer(
        &self,
        request: http::Request<agentwire_transport_http::server::RequestBody>,
    ) -> BoxFuture<'static, Response<Body>> {
        self.answer(request)
    }

    fn cors(&self, request: &HeaderMap) -> CorsHeaders {
        self.cors(request)
    }

    fn shutdown(&self, grace: Duration) -> BoxFuture<'static, ()> {
        self.shutdown(grace).boxed()
    }
}

impl EndpointInner {
    /// Opens a session and its stream.
    fn stream(&self, session: Arc<Session>, parts: Parts) -> Result<Response<Body>, Refusal> {
        let sessions = &self.sessions;
        let caller = Caller::of(&parts.extensions);
        let connection = Connection::new(sessions.clone(), session.clone(), Arc::new(parts.into()));
        sessions.add(&session, &caller)?;
        let served = (self.serve)(connection);
        let mut response = Response::new(Body::new(SessionBody::new(sessions.clone(), session, served)));
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
        headers.insert(HeaderName::from_static("x-accel-buffering"), HeaderValue::from_static("no"));
        Ok(response)
    }
}

/// The least memory that a message counts as, in bytes: the buffer of its head, and the copied parts of it.
const MIN_COST: usize = 8 << 10;

/// The allowed HTTP methods.
const METHODS: &str = "GET, POST";

/// A request whose head has been checked.
enum Start {
    /// Opens the stream of a new session.
    Stream(Arc<Session>),
    /// Brings a message to a session.
    Message(Arc<Session>),
    /// Answers a CORS preflight.
    Preflight(HeaderMap),
}

/// Checks all of a request but its body.
fn start(sessions: &Sessions, parts: &Parts) -> Result<Start, Refusal> {
    let config = &sessions.config;
    config.http.guard().admit(parts)?;
    if parts.method == Method::OPTIONS
        && let Some(headers) = config.http.guard().cors(&parts.headers).preflight(&parts.headers, METHODS)
    {
        return Ok(Start::Preflight(headers));
    }
    // A session may still get the answers that its running calls wait for.
    if sessions.is_closing() && parts.method != Method::POST {
        return Err(Refusal::closing());
    }
    let principal = parts.extensions.get::<Principal>();
    match parts.method {
        Method::GET => {
            Guard::admit_events(&parts.headers)?;
            let id = SessionId::random().ok_or_else(|| {
                Refusal::new(StatusCode::INTERNAL_SERVER_ERROR, "there is no randomness for a session id")
            })?;
            let uri = match &config.messages {
                Some(messages) => append_to(messages, id),
                None => append_to(&beside(parts.uri.path()), id),
            };
            let (caller, budget) = (Caller::of(&parts.extensions), sessions.requests.clone());
            Ok(Start::Stream(Arc::new(Session::new(id, principal.cloned(), caller, budget, &uri))))
        }
        Method::POST => {
            Guard::admit_json(&parts.headers, sessions.limits.body_limit)?;
            let id = parts.uri.query().and_then(in_query).ok_or_else(|| {
                let why = "the query names no session; a GET opens one, and its first event names the URI for messages";
                Refusal::new(StatusCode::BAD_REQUEST, why)
            })?;
            let session = id.and_then(|id| sessions.get(id));
            let session = session.filter(|session| session.belongs_to(principal));
            let gone = if sessions.is_closing() { Refusal::closing } else { Refusal::unknown_session };
            let session = session.ok_or_else(gone)?;
            if !session.is_used() {
                sessions.mark_used(&session);
            }
            Ok(Start::Message(session))
        }
        _ => Err(Refusal::method_not_allowed(METHODS)),
    }
}

/// The default path of the messages, beside that of the stream.
fn beside(path: &str) -> String {
    let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
    format!("{folder}/messages")
}

/// Brings a message to its session.
async fn message<B>(sessions: Arc<Sessions>, session: Arc<Session>, parts: Parts, body: B) -> Response<Body>
where
    B: http_body::Body + Unpin,
    B::Data: Into<Bytes>,
{
    let limits = &sessions.limits;
    let taken = async {
        let mut reservation = sessions.requests.reserve(&Caller::of(&parts.extensions), MIN_COST)?;
        let body = read(body, limits.body_limit, &mut reservation);
        let body = tokio::time::timeout(limits.body_timeout, body).await;
        let body = body.map_err(|_| {
            let why = format!("the body took longer than the limit of {:?}", limits.body_timeout);
            Refusal::new(StatusCode::REQUEST_TIMEOUT, why)
        })?;
        let frame = read_message(body?)?;
        if let Frame::Single(Message::Request(request)) = &frame
            && sessions.is_closing()
        {
            return Err(Refusal::closing().under(request.id.clone()));
        }
        let id = match &frame {
            Frame::Single(Message::Request(request)) => request.id.clone(),
            _ => RequestId::NULL,
        };
        check_operations(&parts.extensions, &frame).map_err(|refusal| refusal.under(id))?;
        // The message counts as memory until its handler drops the source.
        let source: Arc<dyn MessageSource> = Arc::new(Head::from(parts).holding(reservation));
        let packet = Packet::Frame { frame, in_reply_to: None, source: Some(source) };
        if session.deliver(packet, limits.inbox_limit).await {
            Ok(())
        } else if sessions.is_closing() {
            Err(Refusal::closing())
        } else {
            Err(Refusal::unknown_session())
        }
    };
    match taken.await {
        Ok(()) => {
            let mut response = Response::new(Body::empty());
            *response.status_mut() = StatusCode::ACCEPTED;
            response
        }
        Err(refusal) => refusal.into_response(),
    }
}

/// Reads a body of up to `limit` bytes, and reserves its memory.
async fn read<B>(mut body: B, limit: usize, reservation: &mut Reservation) -> Result<Bytes, Refusal>
where
    B: http_body::Body + Unpin,
    B::Data: Into<Bytes>,
{
    let mut read = BodyBuffer::default();
    while let Some(frame) = poll_fn(|cx| Pin::new(&mut body).poll_frame(cx)).await {
        let frame = frame.map_err(|_| Refusal::new(StatusCode::BAD_REQUEST, "the body could not be read"))?;
        let Ok(data) = frame.into_data() else { continue };
        let length = read.len() + data.remaining();
        if length > limit {
            return Err(Denied::too_long(limit).into());
        }
        let left = usize::try_from(body.size_hint().upper().unwrap_or(u64::MAX)).unwrap_or(usize::MAX);
        let expected = length.saturating_add(left).min(limit);
        reservation.grow_to(read.capacity_with(data.remaining(), expected))?;
        read.push(data.into(), expected);
    }
    Ok(read.take())
}

/// Reads a message. Batches are refused, because this transport never had them.
fn read_message(body: Bytes) -> Result<Frame, Refusal> {
    match read_frame(body, DEFAULT_BATCH_LIMIT)? {
        Frame::Batch(_) => {
            let error = ErrorObject::invalid_request("a POST brings one message, and no batch");
            Err(Refusal::error(RequestId::NULL, error))
        }
        frame => Ok(frame),
    }
}
