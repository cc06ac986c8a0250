//! Endpoints on a socket, by hyper.

mod elsewhere;
mod io;
mod routes;
mod turns;

use std::convert::Infallible;
use std::fmt;
use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use futures::FutureExt;
use futures::future::{self, BoxFuture, Map};
use http::{Request, Response};
use hyper::body::Incoming;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::conn::auto::Builder;
use hyper_util::server::graceful::GracefulShutdown;
use tokio::net::{TcpListener, TcpStream};

use crate::server::serve::elsewhere::Elsewhere;
use crate::server::serve::io::Watched;
use crate::server::serve::turns::{InTurn, Turns};
use crate::server::tasks::Tasks;
use crate::server::{Body, Spawner};

pub use routes::{Mount, Routes};

/// How many connections are taken before the others get their turn.
const ACCEPTED_AT_ONCE: usize = 32;
/// How long to wait after a connection could not be taken, such as for want of file descriptors.
const PAUSE: Duration = Duration::from_millis(50);

/// Serves an endpoint on a listener: HTTP/1.1 and HTTP/2, without TLS, at the path `/mcp`; or several
/// [`Mount`]s, each at its path.
///
/// The future that this becomes does all of it, and needs a tokio runtime with I/O and time. Nothing is spawned
/// unless [`spawn_with`](Serve::spawn_with) says how.
///
/// ```no_run
/// use agentwire_transport_http::server::{Config, Endpoint, Link, serve};
///
/// /// Whatever serves a transport.
/// async fn attend(link: Link) {}
///
/// # async fn run() -> std::io::Result<()> {
/// let listener = tokio::net::TcpListener::bind("127.0.0.1:8080").await?;
/// serve(listener, Endpoint::serving(Config::new(), attend))
///     .spawn_with(|task| drop(tokio::spawn(task)))
///     .shutdown(async { drop(tokio::signal::ctrl_c().await) })
///     .await;
/// # Ok(())
/// # }
/// ```
pub fn serve(listener: TcpListener, routes: impl Into<Routes>) -> Serve {
    let front = Front {
        listener,
        routes: Arc::new(routes.into()),
        header_timeout: Duration::from_secs(30),
        write_timeout: Duration::from_secs(60),
        connection_limit: 16_384,
    };
    Serve { front, grace: Duration::from_secs(10), shutdown: None, spawn: None }
}

/// Endpoints on a listener; see [`serve`].
pub struct Serve {
    front: Front,
    grace: Duration,
    shutdown: Option<BoxFuture<'static, ()>>,
    spawn: Option<Spawner>,
}

/// What takes connections.
struct Front {
    listener: TcpListener,
    routes: Arc<Routes>,
    header_timeout: Duration,
    write_timeout: Duration,
    connection_limit: usize,
}

impl Serve {
    /// How long a client may take for the head of a request, and how long it may keep a connection without one
    /// (default 30 s). In HTTP/2 that is so until the first request; after it a client that is silent for so long is
    /// asked whether it is there, and has the same time to say so.
    #[must_use]
    pub fn header_timeout(mut self, timeout: Duration) -> Self {
        self.front.header_timeout = timeout;
        self
    }

    /// How long a client may take nothing of what is sent to it before its connection is closed (default 60 s).
    #[must_use]
    pub fn write_timeout(mut self, timeout: Duration) -> Self {
        self.front.write_timeout = timeout;
        self
    }

    /// How many connections may be open (default 16,384). Further ones wait to be accepted.
    #[must_use]
    pub fn connection_limit(mut self, connections: usize) -> Self {
        self.front.connection_limit = connections.max(1);
        self
    }

    /// When `signal` completes, no more connections are taken, and every mount is [shut](Mount::shut). What is
    /// unanswered has some time to finish.
    #[must_use]
    pub fn shutdown(mut self, signal: impl Future<Output = ()> + Send + 'static) -> Self {
        self.shutdown = Some(signal.boxed());
        self
    }

    /// How long after the shutdown signal what is unanswered may take (default 10 s). Then it is dropped.
    #[must_use]
    pub fn grace(mut self, grace: Duration) -> Self {
        self.grace = grace;
        self
    }

    /// Gives each connection, and each session, to a function that runs it elsewhere, such as in a tokio task, so
    /// that several cores serve. Without this, everything happens within the one future.
    #[must_use]
    pub fn spawn_with(mut self, spawn: impl Fn(BoxFuture<'static, ()>) + Send + Sync + 'static) -> Self {
        self.spawn = Some(Spawner::new(spawn));
        self
    }

    async fn run(self) {
        let Self { front, grace, shutdown, spawn } = self;
        let (mut tasks, elsewhere) = (Tasks::default(), Elsewhere::default());
        let spawn = spawn.map_or_else(|| tasks.spawner(), |spawn| elsewhere.spawner(spawn));
        let mut builder = Builder::new(spawn.clone());
        builder.http1().half_close(true).header_read_timeout(None);
        let mut http2 = builder.http2();
        http2.timer(TokioTimer::new());
        http2.keep_alive_interval(front.header_timeout).keep_alive_timeout(front.header_timeout);
        let graceful = GracefulShutdown::new();
        let beside = future::join_all(front.routes.mounts().map(|mount| mount.run(spawn.clone())));
        let mut beside = pin!(future::maybe_done(beside));
        let mut shutdown = shutdown.unwrap_or_else(|| future::pending().boxed());
        {
            let mut accepting = pin!(front.accept(&builder, &graceful, &spawn));
            poll_fn(|cx| {
                if shutdown.poll_unpin(cx).is_ready() {
                    return Poll::Ready(());
                }
                let accepting = accepting.as_mut().poll(cx);
                let _ = beside.as_mut().poll(cx);
                let _ = tasks.poll(cx);
                accepting
            })
            .await;
        }
        front.routes.mounts().for_each(Mount::shut);
        drop(front);
        let mut ended = pin!(future::maybe_done(future::join(graceful.shutdown(), beside)));
        let ended = poll_fn(|cx| {
            let ended = ended.as_mut().poll(cx);
            let idle = tasks.poll(cx).is_ready() && elsewhere.poll_idle(cx).is_ready();
            if idle { ended } else { Poll::Pending }
        });
        // What has not ended by then is dropped, with what it runs in.
        let _ = tokio::time::timeout(grace, ended).await;
    }
}

impl Front {
    /// Takes connections for ever.
    async fn accept(&self, builder: &Builder<Spawner>, graceful: &GracefulShutdown, spawn: &Spawner) {
        let mut taken = 0;
        loop {
            if graceful.count() >= self.connection_limit {
                tokio::time::sleep(PAUSE).await;
                continue;
            }
            match self.listener.accept().await {
                Ok((stream, _)) => spawn.spawn(self.connection(stream, builder, graceful)),
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
        builder: &Builder<Spawner>,
        graceful: &GracefulShutdown,
    ) -> impl Future<Output = ()> + Send + use<> {
        // Small messages should not wait for more; where that cannot be said, they are only slower.
        let _ = stream.set_nodelay(true);
        let turns = Arc::<Turns>::default();
        let io = Watched::new(stream, turns.clone(), self.header_timeout, self.write_timeout);
        let io = TokioIo::new(io);
        let service = Routed { routes: self.routes.clone(), turns };
        let connection = builder.serve_connection(io, service).into_owned();
        // How a connection ended is for its client to know.
        graceful.watch(connection).map(drop)
    }
}

impl fmt::Debug for Serve {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Serve")
            .field("listener", &self.front.listener)
            .field("routes", &self.front.routes)
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
struct Routed {
    routes: Arc<Routes>,
    turns: Arc<Turns>,
}

impl hyper::service::Service<Request<Incoming>> for Routed {
    type Response = Response<InTurn<Body>>;
    type Error = Infallible;
    type Future = InTurn<
        Map<BoxFuture<'static, Response<Body>>, fn(Response<Body>) -> Result<Response<Body>, Infallible>>,
    >;

    fn call(&self, request: Request<Incoming>) -> Self::Future {
        let turn = self.turns.begin(request.version());
        InTurn::new(self.routes.answer(request).map(Ok), turn)
    }
}

/// Lets others have their turn.
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
