//! The MCP endpoint as a tower service. Checks each request's head, then answers POST, GET and DELETE for sessions and stateless
//! requests.

use std::convert::Infallible;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use agentwire_jsonrpc::RequestId;
use agentwire_mcp_wire::Revision;
use agentwire_sync::Mutex;
use agentwire_transport::Service;
use bytes::Bytes;
use futures::StreamExt;
use futures::future::{self, poll_fn};
use futures_channel::mpsc;
use http::request::Parts;
use http::{Extensions, HeaderMap, Method, Request};
use tower_service::Service as TowerService;

use crate::server::endpoint_core::EndpointCore;
use crate::server::fields::{Field, Fields};
use crate::server::guard;
use crate::server::incoming::Incoming;
use crate::server::post::PostHeaders;
use crate::server::quota::MIN_COST;
use crate::server::refusal::Refusal;
use crate::server::response::ResponseFuture;
use crate::server::service::SharedService;
use crate::server::session::Session;
use crate::server::tasks::Tasks;
use crate::server::{
    Body, Caller, Connection, CorsHeaders, EndpointConfig, EventId, Head, Principal, RemoteAddr, SessionId,
    Spawner,
};

/// The MCP endpoint: a service that is mounted at one path of a web server.
///
/// It is a [`tower_service::Service`] on the types of the crate `http`, so hyper, axum, tonic and any other tower
/// server can serve it. It never fails, and it does not look at the path. Cloning it gives another handle of
/// the same endpoint. When the last is dropped, new requests get 503 and the input of each session ends;
/// [`shutdown`](Self::shutdown) ends an endpoint in good order.
///
/// [`serve`](crate::server::serve) runs an endpoint. Beside another web server, spawn [`run`](Self::run): without it sessions
/// are not served, and the request that opens one is answered 500 after a second.
#[derive(Clone, Debug)]
#[must_use = "an endpoint serves nobody until it is passed to `serve`, or mounted in a web server with `endpoint.run()` spawned"]
pub struct Endpoint {
    inner: Arc<EndpointInner>,
}

/// Shuts the endpoint with the last handle.
#[derive(Debug)]
struct EndpointInner {
    core: Arc<EndpointCore>,
    /// The sessions, until [`Endpoint::run`] takes them.
    connections: Mutex<Option<Incoming>>,
}

impl Drop for EndpointInner {
    fn drop(&mut self) {
        self.core.end();
    }
}

impl Endpoint {
    /// An endpoint whose clients a [`Service`] serves.
    ///
    /// The response to a request without a session polls the service's future itself, so no task is started and none is
    /// woken. It drops the future when that has answered, and when the client has left. [`run`](Endpoint::run), which
    /// [`serve`](crate::server::serve) calls, serves sessions and counts time. A request for a session also polls the
    /// session's future, unless another thread does. A panic in a future of the service ends that future only.
    ///
    /// ```
    /// use agentwire_jsonrpc::{RawJson, Response};
    /// use agentwire_transport::{Exchange, Service};
    /// use agentwire_transport_http::server::{Connection, Endpoint, EndpointConfig};
    /// use futures::{SinkExt, StreamExt};
    ///
    /// /// Sends every message of a session back, and answers other requests with their params.
    /// struct Echo;
    ///
    /// impl Service<Connection> for Echo {
    ///     fn connection(&self, mut connection: Connection) -> impl Future<Output = ()> + Send + 'static {
    ///         async move {
    ///             while let Some(Ok(packet)) = connection.next().await {
    ///                 if connection.send(packet).await.is_err() {
    ///                     break;
    ///                 }
    ///             }
    ///         }
    ///     }
    ///
    ///     fn exchange(&self, exchange: Exchange) -> impl Future<Output = Response> + Send + 'static {
    ///         let params = exchange.request.params.unwrap_or(RawJson::EMPTY_OBJECT);
    ///         std::future::ready(Response::new(exchange.request.id, Ok(params)))
    ///     }
    /// }
    ///
    /// let endpoint = Endpoint::serving(EndpointConfig::new(), Echo);
    /// ```
    #[must_use = "an endpoint serves nobody until it is passed to `serve`, or mounted in a web server with `endpoint.run()` spawned"]
    pub fn serving(
        config: EndpointConfig,
        service: impl Service<Connection> + Send + Sync + 'static,
    ) -> Self {
        let (connections, coming) = mpsc::unbounded();
        let core = Arc::new(EndpointCore::new(config, SharedService::new(service), connections));
        let connections = Incoming::new(core.clone(), coming);
        Self { inner: Arc::new(EndpointInner { core, connections: Mutex::new(Some(connections)) }) }
    }

    /// Serves the sessions, and counts time. Unless [`serve`](crate::server::serve) serves the endpoint, run this beside the web
    /// server: sessions wait for it for a second, and then are refused with status 500. It ends when the endpoint has
    /// [shut down](Self::shutdown) and every session has ended.
    ///
    /// It needs a tokio runtime with time. Only the first call for an endpoint has an effect.
    #[must_use = "sessions are served while this future is polled: `tokio::spawn(endpoint.run())`"]
    pub fn run(&self) -> impl Future<Output = ()> + Send + use<> {
        let mut tasks = Tasks::default();
        let taking = self.run_with(tasks.spawner());
        async move {
            let mut taking = pin!(future::maybe_done(taking));
            poll_fn(|cx| {
                let taken = taking.as_mut().poll(cx);
                if tasks.poll(cx).is_pending() { Poll::Pending } else { taken }
            })
            .await;
        }
    }

    /// As [`run`](Endpoint::run), but gives each session to the spawner, and does not wait for its end.
    #[must_use = "sessions are taken while this future is polled: `tokio::spawn(endpoint.run_with(spawner))`"]
    pub fn run_with(&self, spawner: Spawner) -> impl Future<Output = ()> + Send + use<> {
        let connections = self.inner.connections.lock().take();
        let core = self.core().clone();
        async move {
            let Some(mut connections) = connections else { return };
            while let Some(connection) = connections.next().await {
                spawner.spawn(core.task(connection));
            }
        }
    }

    /// Shuts the endpoint down: refuses what is new at once, lets what runs finish for up to `grace`, and cuts the rest. The
    /// future completes when all of that is done, at the latest a second after `grace`. It needs a tokio runtime with time.
    ///
    /// From the call on, new requests and sessions get 503 with `Retry-After`. The client of a running call can still answer
    /// what the call asks it, cancel it, and come back for a stream that it has lost. A session ends when its last request
    /// is answered, and so does its GET stream; [`NotificationSink::closing`](agentwire_transport::NotificationSink::closing)
    /// completes in each exchange, so that a subscription ends with its result.
    ///
    /// A request that is not answered within `grace` is answered with an error that says so, and the future that serves it
    /// is dropped. Its client has a second to read that.
    ///
    /// [`Serve::shutdown`](crate::server::Serve::shutdown) calls this. Beside another web server, call it before that server
    /// stops taking connections:
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// use agentwire_transport::Service;
    /// use agentwire_transport_http::server::{Connection, Endpoint, EndpointConfig};
    /// use axum::Router;
    ///
    /// # async fn run(server: impl Service<Connection> + Send + Sync + 'static) -> std::io::Result<()> {
    /// let endpoint = Endpoint::serving(EndpointConfig::new(), server);
    /// tokio::spawn(endpoint.run());
    /// let router = Router::new().route_service("/mcp", endpoint.clone());
    /// let drained = async move {
    ///     let _ = tokio::signal::ctrl_c().await;
    ///     endpoint.shutdown(Duration::from_secs(10)).await;
    /// };
    /// let listener = tokio::net::TcpListener::bind("127.0.0.1:8080").await?;
    /// axum::serve(listener, router).with_graceful_shutdown(drained).await
    /// # }
    /// ```
    #[must_use = "requests are refused from the call on, but what runs is only awaited and cut while this future is polled"]
    pub fn shutdown(&self, grace: Duration) -> impl Future<Output = ()> + Send + use<> {
        let endpoint = self.clone();
        endpoint.core().begin_drain();
        async move { endpoint.core().finish(grace).await }
    }

    /// The headers that let a web page read the response to a request with these headers, where
    /// [`EndpointConfig::origins`] allows the page. The endpoint adds them to its own responses; a layer in front of it adds them
    /// to its refusals, without which a page could not read their `WWW-Authenticate`. Such a layer passes `OPTIONS` on.
    ///
    /// ```
    /// use agentwire_transport_http::server::Endpoint;
    /// use axum::body::Body;
    /// use axum::response::Response;
    /// use http::{Request, StatusCode};
    ///
    /// fn unauthorized(endpoint: &Endpoint, request: &Request<Body>) -> Response {
    ///     let mut response = Response::new(Body::empty());
    ///     *response.status_mut() = StatusCode::UNAUTHORIZED;
    ///     response.headers_mut().insert("www-authenticate", "Bearer".parse().expect("a header's value"));
    ///     endpoint.cors(request.headers()).add_to(response.headers_mut());
    ///     response
    /// }
    /// ```
    pub fn cors(&self, request: &HeaderMap) -> CorsHeaders {
        self.core().resources.config.guard.cors(request)
    }

    pub(crate) fn core(&self) -> &Arc<EndpointCore> {
        &self.inner.core
    }
}

impl<B> TowerService<Request<B>> for Endpoint
where
    B: http_body::Body + Unpin,
    B::Data: Into<Bytes>,
{
    type Response = http::Response<Body>;
    type Error = Infallible;
    type Future = ResponseFuture<B>;

    fn poll_ready(&mut self, _cx: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> ResponseFuture<B> {
        self.answer(request)
    }
}

impl Endpoint {
    /// As [`TowerService::call`], without exclusive access.
    pub(crate) fn answer<B>(&self, request: Request<B>) -> ResponseFuture<B> {
        self.answer_from(request, None)
    }

    /// The same for a client at `remote`. Without that, the extensions are searched for an address.
    pub(crate) fn answer_from<B>(
        &self,
        request: Request<B>,
        remote: Option<RemoteAddr>,
    ) -> ResponseFuture<B> {
        let (parts, body) = request.into_parts();
        let cors = self.cors(&parts.headers);
        let refused = |refusal| ResponseFuture::refused(self.core(), refusal);
        self.start(parts, remote, body, &cors).unwrap_or_else(refused).with_cors(cors)
    }

    fn start<B>(
        &self,
        parts: Parts,
        remote: Option<RemoteAddr>,
        body: B,
        cors: &CorsHeaders,
    ) -> Result<ResponseFuture<B>, Refusal> {
        let core = self.core();
        let config = &core.resources.config;
        let fields = Fields::of(&parts.headers);
        config.guard.admit_names(&fields, &parts.uri)?;
        let methods = if config.sessions { "GET, POST, DELETE" } else { "POST" };
        if parts.method == Method::OPTIONS
            && let Some(headers) = cors.preflight(&parts.headers, methods)
        {
            return Ok(ResponseFuture::preflight(core, headers));
        }
        if core.resources.is_closing() && !self.continues(&parts, &fields)? {
            return Err(Refusal::closing());
        }
        match parts.method {
            Method::POST => {
                guard::admit_post(&fields, config.limits.body_limit)?;
                let (post_headers, len) = (PostHeaders::of(&fields)?, fields.len());
                Ok(ResponseFuture::reading(core, Arc::new(Head::new(parts, len, remote)), post_headers, body))
            }
            Method::GET => self.get(&fields, &parts.extensions, remote),
            Method::DELETE => {
                let session = self.session(&fields, &parts.extensions)?;
                core.sessions.end(&session);
                Ok(ResponseFuture::deleted(core))
            }
            _ => Err(Refusal::method_not_allowed(methods)),
        }
    }

    /// Whether a request goes on with something that had begun before the endpoint closed: it belongs to a session that has
    /// not ended, and opens no stream of its own.
    fn continues(&self, parts: &Parts, fields: &Fields<'_>) -> Result<bool, Refusal> {
        let resumes = fields.single(Field::LastEventId)?.is_some();
        let id = fields.single(Field::SessionId)?.and_then(SessionId::parse);
        let session = id.and_then(|id| self.core().sessions.find(id, parts.extensions.get::<Principal>()));
        Ok(session.is_some() && (parts.method != Method::GET || resumes))
    }

    /// Opens or resumes a stream.
    fn get<B>(
        &self,
        fields: &Fields<'_>,
        caller: &Extensions,
        remote: Option<RemoteAddr>,
    ) -> Result<ResponseFuture<B>, Refusal> {
        let core = self.core();
        let resources = &core.resources;
        let session = self.session(fields, caller)?;
        guard::admit_stream(fields)?;
        let last = fields.single(Field::LastEventId)?.filter(|last| !last.is_empty());
        let reservation = resources
            .requests
            .reserve(&Caller::new(caller.get(), remote.or_else(|| caller.get().copied())), MIN_COST);
        let reservation = reservation.map_err(Refusal::too_many_bytes)?;
        let Some(last) = last else {
            let reader = session.listen(resources)?;
            reader.reserve(reservation);
            return Ok(ResponseFuture::listening(core, reader));
        };
        let after = std::str::from_utf8(last).ok().and_then(EventId::parse);
        let (Some(after), Some(store)) = (after, &resources.config.store) else {
            return Err(Refusal::unknown_event());
        };
        let resumed = session.resume(after, resources)?;
        let replay = |after| store.replay(session.id(), after);
        Ok(ResponseFuture::resuming(core, resumed, after, reservation, replay))
    }

    /// The session of a GET or a DELETE.
    fn session(&self, fields: &Fields<'_>, caller: &Extensions) -> Result<Arc<Session>, Refusal> {
        let core = self.core();
        let config = &core.resources.config;
        let version = fields.single(Field::ProtocolVersion)?;
        let revision = version.map(|version| std::str::from_utf8(version).ok().and_then(Revision::parse));
        if !config.sessions || revision.flatten().is_some_and(Revision::is_stateless) {
            return Err(Refusal::method_not_allowed("POST"));
        }
        if let Some(None) = revision {
            let version = String::from_utf8_lossy(version.unwrap_or_default());
            return Err(Refusal::unsupported_version(config, RequestId::NULL, &version));
        }
        let id = fields.single(Field::SessionId)?.ok_or_else(Refusal::no_session)?;
        let id = SessionId::parse(id).ok_or_else(Refusal::unknown_session)?;
        core.sessions.find(id, caller.get::<Principal>()).ok_or_else(Refusal::unknown_session)
    }
}
