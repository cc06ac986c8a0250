//! The MCP endpoint: the handle by which a program mounts it, runs it and shuts it down.

pub(crate) mod clock;
pub(crate) mod drain;
pub(crate) mod endpoint_core;
pub(crate) mod endpoint_counts;
pub(crate) mod new_connections;
pub(crate) mod readiness;
pub(crate) mod resources;
pub(crate) mod service;
pub(crate) mod spawned_tasks;
pub(crate) mod spawner;

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use agentwire_sync::Mutex;
use agentwire_transport::Service;
use futures::StreamExt;
use futures::future::{BoxFuture, poll_fn, select};
use futures_channel::mpsc;
use http::HeaderMap;

use crate::server::endpoint::endpoint_core::EndpointCore;
use crate::server::endpoint::endpoint_counts::EndpointCounts;
use crate::server::endpoint::new_connections::NewConnections;
use crate::server::endpoint::service::SharedService;
use crate::server::endpoint::spawned_tasks::SpawnedTasks;
use crate::server::nodes::{self, BusListener};
use crate::server::{Connection, CorsHeaders, EndpointConfig, Spawner};

/// The MCP endpoint: a service that is mounted at one path of a web server.
///
/// It is a [`tower_service::Service`] on the types of the crate `http`, so hyper, axum, tonic and any other tower
/// server can serve it. It never fails, and it does not look at the path. Cloning it gives another handle of
/// the same endpoint. When the last is dropped, new requests get 503 and the input of each session ends;
/// [`shutdown`](Self::shutdown) ends an endpoint in good order.
///
/// [`serve`](crate::server::serve) runs an endpoint. Beside another web server, spawn [`run`](Self::run): without it sessions
/// are not served, and the request that opens one is answered 500 after a second.
///
/// # In axum
///
/// [`EndpointConfig::bearer`](crate::server::EndpointConfig::bearer) checks tokens that a function can look up. A check that
/// takes I/O is a layer. Here the endpoint is nested under a path, behind such a check. It names the caller as a
/// [`Principal`](crate::server::Principal), which limits and sessions distinguish, and which the service finds in the
/// [`Head`](crate::server::Head) of each request. Web pages of `app.example` may call: the endpoint answers the
/// preflights of their browsers, and the check adds the headers of [`cors`](Self::cors) to its refusals.
///
/// ```
/// use agentwire_jsonrpc::{RawJson, Response as Answer};
/// use agentwire_transport::{Exchange, service_fn};
/// use agentwire_transport_http::server::{Connection, Endpoint, EndpointConfig, Head, Principal};
/// use axum::Router;
/// use axum::extract::{Request, State};
/// use axum::middleware::{Next, from_fn_with_state};
/// use axum::response::Response;
/// use http::header::{AUTHORIZATION, HeaderValue, WWW_AUTHENTICATE};
/// use http::{Method, StatusCode};
///
/// /// Answers with the name of the caller. A real program has a `Server` of `agentwire-mcp-server` here, whose
/// /// `Context::source` is the head.
/// async fn whoami(exchange: Exchange) -> Answer {
///     let head = exchange.source.as_ref().and_then(|source| source.downcast_ref::<Head>());
///     let caller = head.and_then(|head| head.extensions().get::<Principal>());
///     let name = caller.map_or("anonymous", Principal::as_str);
///     Answer::new(exchange.request.id, Ok(RawJson::encode(name).expect("a name has a JSON form")))
/// }
///
/// async fn bearer(State(endpoint): State<Endpoint>, mut request: Request, next: Next) -> Response {
///     let sent = request.headers().get(AUTHORIZATION).map(HeaderValue::as_bytes);
///     let caller = (sent == Some(b"Bearer token-of-ann")).then_some("ann");
///     if let Some(caller) = caller {
///         request.extensions_mut().insert(Principal::new(caller));
///     } else if request.method() != Method::OPTIONS {
///         let mut refusal = Response::new(axum::body::Body::empty());
///         *refusal.status_mut() = StatusCode::UNAUTHORIZED;
///         refusal.headers_mut().insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
///         endpoint.cors(request.headers()).add_to(refusal.headers_mut());
///         return refusal;
///     }
///     next.run(request).await
/// }
///
/// fn router(endpoint: &Endpoint) -> Router {
///     let api = Router::new()
///         .route_service("/mcp", endpoint.clone())
///         .layer(from_fn_with_state(endpoint.clone(), bearer));
///     Router::new().nest("/api", api)
/// }
///
/// # async fn serve_session(connection: Connection) { drop(connection) }
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let config = EndpointConfig::new().hosts(["api.example"]).origins(["https://app.example"]);
/// let endpoint = Endpoint::serving(config, service_fn(serve_session, whoami));
/// tokio::spawn(endpoint.run());
/// let router = router(&endpoint);
/// # use http_body_util::BodyExt;
/// # let call = |method: Method, token: &'static str| {
/// #     let request = http::Request::builder().method(method).uri("/api/mcp").header("host", "api.example")
/// #         .header("origin", "https://app.example").header("authorization", token)
/// #         .header("content-type", "application/json").header("mcp-protocol-version", "2026-07-28")
/// #         .header("mcp-method", "whoami");
/// #     let body = r#"{"jsonrpc":"2.0","id":1,"method":"whoami","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}"#;
/// #     tower_service::Service::call(&mut router.clone(), request.body(axum::body::Body::from(body)).unwrap())
/// # };
/// # let refused = call(Method::POST, "Bearer x").await.unwrap();
/// # assert_eq!(refused.status(), 401);
/// # assert_eq!(refused.headers()["access-control-allow-origin"], "https://app.example");
/// # assert_eq!(call(Method::OPTIONS, "").await.unwrap().status(), 204);
/// # let answered = call(Method::POST, "Bearer token-of-ann").await.unwrap();
/// # assert_eq!(answered.status(), 200);
/// # let body = answered.into_body().collect().await.unwrap().to_bytes();
/// # assert_eq!(&body[..], br#"{"jsonrpc":"2.0","id":1,"result":"ann"}"#);
/// # }
/// ```
///
/// [`shutdown`](Self::shutdown) has an example with axum, too.
///
/// # A stdio server behind HTTP
///
/// Each session gets a process of its own, which ends with the session. Over stdio a message does not name the request that it
/// belongs to, so messages other than answers go to the stream that the client opens with GET.
///
/// ```no_run
/// use std::error::Error;
///
/// use agentwire_jsonrpc::WithCauses;
/// use agentwire_transport::{connection_fn, bridge};
/// use agentwire_transport_http::server::{Connection, Endpoint, EndpointConfig, Era};
/// use agentwire_transport_stdio::{Child, Command};
///
/// async fn session(connection: Connection) -> Result<(), Box<dyn Error + Send + Sync>> {
///     bridge(connection, Child::spawn(Command::new("my-server"))?).await?;
///     Ok(())
/// }
///
/// let service = connection_fn(async |connection| {
///     // The client gets status 500 without an answer: the reason is for the operator.
///     session(connection).await.unwrap_or_else(|error| eprintln!("{}", WithCauses::new(&*error)));
/// });
/// let endpoint = Endpoint::serving(EndpointConfig::new().era(Era::Legacy), service);
/// ```
#[derive(Clone, Debug)]
#[must_use = "an endpoint serves no client until it is passed to `serve`, or mounted in a web server with `endpoint.run()` spawned"]
pub struct Endpoint {
    inner: Arc<EndpointInner>,
}

/// Futures that belong to sessions.
type Jobs = mpsc::UnboundedReceiver<BoxFuture<'static, ()>>;

/// Ends the endpoint when the last handle is dropped.
#[derive(Debug)]
struct EndpointInner {
    core: Arc<EndpointCore>,
    /// The connections of new sessions, and futures that belong to sessions, until [`Endpoint::run`] takes them.
    connections: Mutex<Option<(NewConnections, Jobs)>>,
    /// Receives the messages of other nodes until this is dropped.
    _listener: Arc<BusListener>,
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
    #[must_use = "an endpoint serves no client until it is passed to `serve`, or mounted in a web server with `endpoint.run()` spawned"]
    pub fn serving(
        config: EndpointConfig,
        service: impl Service<Connection> + Send + Sync + 'static,
    ) -> Self {
        let (connections, coming) = mpsc::unbounded();
        let (jobs, coming_jobs) = mpsc::unbounded();
        let core = Arc::new(EndpointCore::new(config, SharedService::new(service), connections, jobs));
        let connections = NewConnections::new(core.clone(), coming);
        let listener = nodes::listen(&core);
        let connections = Mutex::new(Some((connections, coming_jobs)));
        Self { inner: Arc::new(EndpointInner { core, connections, _listener: listener }) }
    }

    /// Serves the sessions, and counts time. Unless [`serve`](crate::server::serve) serves the endpoint, run this beside the web
    /// server: sessions wait for it for a second, and then are refused with status 500. It ends when the endpoint has
    /// [shut down](Self::shutdown) and every session has ended.
    ///
    /// Each session runs in a task of its own, so that a busy one stalls no other. Dropping the future ends them. It needs
    /// a tokio runtime with time. Only the first call for an endpoint has an effect.
    #[must_use = "sessions are served while this future is polled: `tokio::spawn(endpoint.run())`"]
    pub fn run(&self) -> impl Future<Output = ()> + Send + use<> {
        let tasks = SpawnedTasks::default();
        let taking = self.run_with(tasks.spawner(Spawner::tokio()));
        async move {
            taking.await;
            poll_fn(|cx| tasks.poll_idle(cx)).await;
        }
    }

    /// As [`run`](Endpoint::run), but gives each session to the spawner, and does not wait for its end.
    #[must_use = "sessions are taken while this future is polled: `tokio::spawn(endpoint.run_with(spawner))`"]
    pub fn run_with(&self, spawner: Spawner) -> impl Future<Output = ()> + Send + use<> {
        let connections = self.inner.connections.lock().take();
        let core = self.core().clone();
        async move {
            let Some((mut connections, jobs)) = connections else { return };
            let others = nodes::run(&core.resources.config, jobs, spawner.clone());
            let serving = async {
                while let Some(connection) = connections.next().await {
                    spawner.spawn(core.task(connection));
                }
            };
            match others {
                None => serving.await,
                Some(others) => drop(select(pin!(serving), pin!(others)).await),
            }
        }
    }

    /// Shuts the endpoint down: refuses new requests at once, lets running ones finish for up to `grace`, and cuts the rest. The
    /// future completes when all of that is done, at the latest a second after `grace`. It needs a tokio runtime with time.
    ///
    /// From the call on, new requests and sessions get 503 with `Retry-After`. The client of a running call can still answer
    /// the call's questions, cancel it, and resume a stream that it has lost. A session ends when its last request
    /// is answered, and so does its GET stream; [`NotificationSink::closing`](agentwire_transport::NotificationSink::closing)
    /// completes in each exchange, so that a subscription ends with its result.
    ///
    /// A request that is not answered within `grace` gets an error that names the shutdown, and the future that serves it
    /// is dropped. Its client has a second to read the error.
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
    #[must_use = "requests are refused from the call on, but running ones are awaited and cut only while this future is polled"]
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

    /// Returns how many sessions, streams and exchanges are open, for metrics. It takes time in proportion to the streams.
    pub fn counts(&self) -> EndpointCounts {
        let EndpointCore { resources, sessions, .. } = &**self.core();
        EndpointCounts {
            sessions: sessions.len(),
            streams: resources.clock.streams_len(),
            exchanges: resources.exchanges(),
        }
    }

    pub(crate) fn core(&self) -> &Arc<EndpointCore> {
        &self.inner.core
    }
}
