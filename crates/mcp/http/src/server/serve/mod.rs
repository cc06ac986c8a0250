//! Endpoints on a socket, by hyper.

mod connection_state;
mod connections;
mod descriptors;
mod guarded_response;
mod io;
mod request_body;
mod routes;

use std::convert::Infallible;
use std::fmt;
use std::future::poll_fn;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::{Duration, Instant};

use agentwire_wire_derive::Build;
use futures::FutureExt;
use futures::future::{self, BoxFuture, Map};
use http::{Request, Response};
use hyper::body::Incoming;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::conn::auto::Builder;
use tokio::net::{TcpListener, TcpStream};

use crate::server::admission::quota::Quota;
use crate::server::endpoint::drain::CUT_TIME;
use crate::server::endpoint::spawned_tasks::SpawnedTasks;
use crate::server::serve::connection_state::ConnectionState;
use crate::server::serve::connections::{ConnectionLimits, ConnectionSlot, Connections, Full};
use crate::server::serve::guarded_response::GuardedResponse;
use crate::server::serve::io::{TimedSocket, Timeouts};
use crate::server::{Body, Caller, RemoteAddr, Spawner};

pub use descriptors::ServeWarning;
pub use request_body::RequestBody;
pub use routes::{Mount, MountService, Routes};

/// How many connections are accepted before the others are polled.
const ACCEPTED_AT_ONCE: usize = 32;
/// How long to wait after a connection could not be accepted, for example because file descriptors ran out.
const PAUSE: Duration = Duration::from_millis(50);
/// How many connections may be open, and how many of them one caller has.
const CONNECTIONS: (usize, usize) = (16_384, 1024);
/// How many connections of HTTP/2 one caller may have: each has as many requests at once as a hundred of HTTP/1.1.
const CALLER_HTTP2: usize = 128;
/// How many requests a connection of HTTP/2 may have at once. RFC 9113 advises against fewer.
const HTTP2_STREAMS: u32 = 100;
/// The longest head of a request, and so the memory of a connection that sends half a head.
const HEAD_LIMIT: usize = 32 << 10;

/// Serves an endpoint on a listener: HTTP/1.1 and HTTP/2, without TLS, at the path `/mcp`; or several
/// [`Mount`]s, each at its path.
///
/// Each connection, each request of HTTP/2 and each session runs in a task of its own, so they spread over the threads of the
/// runtime. The future that this becomes accepts connections and waits for the tasks. Dropping it ends them. It needs a tokio
/// runtime with I/O and time.
///
/// A tool that blocks its thread stalls the connection and the session that it serves, and a runtime of *n* threads
/// stands still while *n* tools block. While a thread blocks, tokio may watch no socket until another thread has work.
/// Run long work by `tokio::task::spawn_blocking` or `block_in_place`.
///
/// ```no_run
/// use agentwire_transport::Service;
/// use agentwire_transport_http::server::{Connection, Endpoint, EndpointConfig, serve};
///
/// # async fn run(server: impl Service<Connection> + Send + Sync + 'static) -> std::io::Result<()> {
/// let listener = tokio::net::TcpListener::bind("127.0.0.1:8080").await?;
/// serve(listener, Endpoint::serving(EndpointConfig::new(), server))
///     .shutdown(async { drop(tokio::signal::ctrl_c().await) })
///     .await;
/// # Ok(())
/// # }
/// ```
pub fn serve(listener: TcpListener, routes: impl Into<Routes>) -> Serve {
    let acceptor = Acceptor {
        listener,
        routes: Arc::new(routes.into()),
        header_timeout: Duration::from_secs(30),
        idle_timeout: Duration::from_secs(300),
        write_timeout: Duration::from_secs(60),
        connection_limit: None,
        caller_connection_limit: None,
        caller_http2_limit: CALLER_HTTP2,
    };
    Serve { acceptor, grace: Duration::from_secs(10), shutdown: None, spawn: Spawner::tokio(), warn: None }
}

/// Endpoints on a listener; see [`serve`].
///
/// ```
/// use std::time::Duration;
///
/// use agentwire_transport_http::server::{Routes, Serve, serve};
/// use tokio::net::TcpListener;
///
/// /// Up to 1000 connections. On a signal, calls have 30 s to finish.
/// fn configured(listener: TcpListener, routes: Routes) -> Serve {
///     serve(listener, routes)
///         .connection_limit(1000)
///         .on_warning(|warning| eprintln!("{warning}"))
///         .shutdown(async { drop(tokio::signal::ctrl_c().await) })
///         .grace(Duration::from_secs(30))
/// }
/// ```
#[derive(Build)]
pub struct Serve {
    acceptor: Acceptor,
    /// How long unanswered requests may take after the shutdown signal (default 10 s). Then their clients get an error, have a
    /// second to read it, and all that is left is dropped.
    grace: Duration,
    shutdown: Option<BoxFuture<'static, ()>>,
    spawn: Spawner,
    /// Sets the function that is called with each warning (default: none).
    #[build(name = on_warning, dynamic)]
    warn: Option<Box<dyn Fn(ServeWarning) + Send>>,
}

/// The task that accepts connections.
#[derive(Build)]
#[build(of = Serve, at = acceptor)]
struct Acceptor {
    listener: TcpListener,
    routes: Arc<Routes>,
    /// How long a client may take for the head of a request, and how long it may keep a connection without one
    /// (default 30 s). In HTTP/2 that holds until the first request. After it, a client that is silent for this time gets a
    /// PING, and has the same time to answer.
    header_timeout: Duration,
    /// How long a connection of HTTP/2 may be without an unanswered request and without an open stream before it is
    /// closed, after its first request (default 5 min).
    idle_timeout: Duration,
    /// How long a client may take nothing of what is sent to it before its connection is closed (default 60 s).
    write_timeout: Duration,
    /// How many connections may be open (default 16,384). It is lowered to what the process's limit on open files allows
    /// (`RLIMIT_NOFILE`), with a [warning](Self::on_warning) if the limit was set here, or if fewer than 128 are left.
    ///
    /// A further connection replaces one that waits for the head of a request: the longest waiting one of the caller with most
    /// connections. If none waits, further ones wait to be accepted.
    #[build(min = 1)]
    connection_limit: Option<usize>,
    /// How many connections may be open from one IP address, or one IPv6 network of 64 bits (default 1024, and at most
    /// three quarters of [`connection_limit`](Self::connection_limit)). A further one replaces that of the address which has
    /// waited longest for the head of a request; if none waits, the new one is closed.
    ///
    /// Behind a proxy all clients have one address. There this should be as high as the limit for all.
    #[build(min = 1)]
    caller_connection_limit: Option<usize>,
    /// How many of the [connections of one address](Self::caller_connection_limit) may speak HTTP/2 (default 128). Each of
    /// them costs as much as a hundred of HTTP/1.1, because it has as many requests at once. A further one replaces that which
    /// has waited longest for a request; if none waits, the new one is closed. This limit does not hold if the limit for each
    /// address is as high as that for all.
    #[build(min = 1)]
    caller_http2_limit: usize,
}

impl Serve {
    /// When `signal` completes, every mount is [shut down](Mount::shutdown): unanswered requests have the [`grace`](Self::grace)
    /// to finish, and new requests get 503. Then no more connections are accepted, and the open ones are closed.
    ///
    /// Connections are accepted until then because a running call may need them: the client sends its answers to the call's
    /// questions in new requests.
    #[must_use]
    pub fn shutdown(mut self, signal: impl Future<Output = ()> + Send + 'static) -> Self {
        self.shutdown = Some(signal.boxed());
        self
    }

    /// Sets the function that runs each connection, each request of HTTP/2 and each session (default: `tokio::spawn`).
    #[must_use]
    pub fn spawn_with(mut self, spawn: impl Fn(BoxFuture<'static, ()>) + Send + Sync + 'static) -> Self {
        self.spawn = Spawner::new(spawn);
        self
    }

    async fn run(self) {
        let Self { acceptor, grace, shutdown, spawn, warn } = self;
        let (limit, warning) =
            descriptors::fit(acceptor.connection_limit, CONNECTIONS.0, descriptors::limit());
        if let Some((warn, warning)) = warn.zip(warning) {
            warn(warning);
        }
        let caller_limit =
            acceptor.caller_connection_limit.unwrap_or_else(|| Quota::share(limit, CONNECTIONS.1));
        let connections = Connections::new(ConnectionLimits {
            all: limit,
            caller: caller_limit,
            caller_http2: acceptor.caller_http2_limit,
        });
        let tasks = SpawnedTasks::default();
        let spawn = tasks.spawner(spawn);
        let mut builder = Builder::new(spawn.clone());
        builder.http1().half_close(true).header_read_timeout(None).max_buf_size(HEAD_LIMIT);
        let mut http2 = builder.http2();
        http2.timer(TokioTimer::new());
        http2.max_concurrent_streams(HTTP2_STREAMS);
        http2.keep_alive_interval(acceptor.header_timeout).keep_alive_timeout(acceptor.header_timeout);
        let beside = future::join_all(acceptor.routes.mounts().map(|mount| mount.run(spawn.clone())));
        let mut beside = pin!(future::maybe_done(beside));
        let shutdown = shutdown.unwrap_or_else(|| future::pending().boxed());
        let mut time_left = None;
        {
            let mut accepting = pin!(acceptor.accept(&builder, &connections, &spawn));
            let mut stopping = pin!(async {
                shutdown.await;
                let (begun, limit) = (tokio::time::Instant::now(), grace.saturating_add(CUT_TIME));
                let drained = future::join_all(acceptor.routes.mounts().map(|mount| mount.shutdown(grace)));
                let _ = tokio::time::timeout(limit, drained).await;
                time_left = Some(limit.saturating_sub(begun.elapsed()));
            });
            poll_fn(|cx| {
                let stopping = stopping.as_mut().poll(cx);
                let _ = accepting.as_mut().poll(cx);
                let _ = beside.as_mut().poll(cx);
                stopping
            })
            .await;
        }
        drop(acceptor);
        connections.close();
        let ended = poll_fn(|cx| {
            let beside = beside.as_mut().poll(cx);
            let idle = tasks.poll_idle(cx).is_ready();
            if idle && connections.poll_empty(cx).is_ready() { beside } else { Poll::Pending }
        });
        // Futures that have not ended by then are dropped with their tasks.
        let _ = tokio::time::timeout(time_left.unwrap_or(grace), ended).await;
    }
}

impl Acceptor {
    /// Accepts connections for ever.
    async fn accept(&self, builder: &Builder<Spawner>, connections: &Arc<Connections>, spawn: &Spawner) {
        let mut taken = 0;
        loop {
            if !connections.has_room() {
                tokio::time::sleep(PAUSE).await;
                continue;
            }
            match self.listener.accept().await {
                Ok((stream, address)) => {
                    let (caller, state) = (Caller::at(address.ip()), ConnectionState::new(Instant::now()));
                    let place = loop {
                        match connections.admit(&caller, &state) {
                            // The idle connection that could have made room has got a request since.
                            Err(Full::OfAll) => tokio::time::sleep(PAUSE).await,
                            admitted => break admitted,
                        }
                    };
                    if let Ok(place) = place {
                        spawn.spawn(self.connection(stream, address, builder, state, place));
                    }
                }
                Err(_) => tokio::time::sleep(PAUSE).await,
            }
            taken += 1;
            if taken % ACCEPTED_AT_ONCE == 0 {
                give_way().await;
            }
        }
    }

    fn connection(
        &self,
        stream: TcpStream,
        address: SocketAddr,
        builder: &Builder<Spawner>,
        state: Arc<ConnectionState>,
        place: ConnectionSlot,
    ) -> impl Future<Output = ()> + Send + use<> {
        // Small messages should not wait for more. If the option cannot be set, they are only slower.
        let _ = stream.set_nodelay(true);
        let timeouts =
            Timeouts { head: self.header_timeout, idle: self.idle_timeout, write: self.write_timeout };
        let io = TokioIo::new(TimedSocket::new(stream, state.clone(), place, timeouts));
        let remote = RemoteAddr::new(address);
        let service = RouteService { routes: self.routes.clone(), state: state.clone(), remote };
        let connection = Box::pin(builder.serve_connection(io, service).into_owned());
        async move {
            state.run(connection, |connection| connection.graceful_shutdown()).await;
        }
    }
}

impl fmt::Debug for Serve {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Serve")
            .field("listener", &self.acceptor.listener)
            .field("routes", &self.acceptor.routes)
            .finish_non_exhaustive()
    }
}

impl IntoFuture for Serve {
    type Output = ();
    type IntoFuture = BoxFuture<'static, ()>;

    fn into_future(self) -> Self::IntoFuture {
        self.run().boxed()
    }
}

/// The routes, as hyper wants a service.
#[derive(Clone)]
struct RouteService {
    routes: Arc<Routes>,
    state: Arc<ConnectionState>,
    remote: RemoteAddr,
}

impl hyper::service::Service<Request<Incoming>> for RouteService {
    type Response = Response<GuardedResponse<Body>>;
    type Error = Infallible;
    type Future = GuardedResponse<
        Map<BoxFuture<'static, Response<Body>>, fn(Response<Body>) -> Result<Response<Body>, Infallible>>,
    >;

    fn call(&self, request: Request<Incoming>) -> Self::Future {
        let guard = self.state.begin();
        let (head, body) = request.into_parts();
        let body = RequestBody::new(body, &head.headers, &self.state);
        let request = Request::from_parts(head, body);
        GuardedResponse::new(self.routes.answer(request, self.remote).map(Ok), guard)
    }
}

/// Lets the other futures of the task run.
fn give_way() -> impl Future<Output = ()> {
    let mut given = false;
    poll_fn(move |cx| {
        if std::mem::replace(&mut given, true) {
            return Poll::Ready(());
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    })
}
