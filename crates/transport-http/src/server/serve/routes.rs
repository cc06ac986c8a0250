//! Maps request paths to mounts. A mount is an `Endpoint` or any other implementation of the trait `Mount`.

use std::convert::Infallible;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;
use futures::future::{self, BoxFuture};
use http::{Request, Response, StatusCode};
use hyper::body::Incoming;

use crate::server::refusal::Refusal;
use crate::server::{Body, Endpoint, RemoteAddr, Spawner};

/// What can be served at a path: an [`Endpoint`], or something of your own beside it.
pub trait Mount: Send + Sync + 'static {
    /// Answers a request, whatever its method is. Dropping the future, or the body of the response, is how the
    /// client leaves.
    fn answer(&self, request: Request<Incoming>) -> BoxFuture<'static, Response<Body>>;

    /// [Answers](Self::answer) a request of the client at that address. This is what the server calls. Unless it is written,
    /// the address is put among the request's extensions, where layers find it.
    fn answer_from(
        &self,
        mut request: Request<Incoming>,
        remote: RemoteAddr,
    ) -> BoxFuture<'static, Response<Body>> {
        request.extensions_mut().insert(remote);
        self.answer(request)
    }

    /// Runs background work of the mount, such as keeping time. Called once, before the first request. The server polls the
    /// future while the mount is served, and waits for its end after [`shutdown`](Mount::shutdown). It also waits
    /// for futures that the mount gives to `spawner`.
    fn run(&self, spawner: Spawner) -> BoxFuture<'static, ()> {
        drop(spawner);
        future::ready(()).boxed()
    }

    /// Refuses new requests at the call, lets what runs finish for up to `grace`, and cuts the rest. The future completes when
    /// nothing runs. The server goes on to take connections meanwhile.
    fn shutdown(&self, grace: Duration) -> BoxFuture<'static, ()>;
}

impl Mount for Endpoint {
    fn answer(&self, request: Request<Incoming>) -> BoxFuture<'static, Response<Body>> {
        infallible(self.answer(request)).boxed()
    }

    /// Extensions are a table on the heap, which an endpoint does without.
    fn answer_from(
        &self,
        request: Request<Incoming>,
        remote: RemoteAddr,
    ) -> BoxFuture<'static, Response<Body>> {
        infallible(self.answer_from(request, Some(remote))).boxed()
    }

    fn run(&self, spawner: Spawner) -> BoxFuture<'static, ()> {
        self.run_with(spawner).boxed()
    }

    fn shutdown(&self, grace: Duration) -> BoxFuture<'static, ()> {
        self.shutdown(grace).boxed()
    }
}

fn infallible<T>(answer: impl Future<Output = Result<T, Infallible>>) -> impl Future<Output = T> {
    answer.map(|answer| answer.unwrap_or_else(|never| match never {}))
}

/// What is served at which path. An [`Endpoint`] alone becomes the one at `/mcp`.
///
/// ```
/// use agentwire_transport::Service;
/// use agentwire_transport_http::server::{Connection, Endpoint, EndpointConfig, Routes};
///
/// fn routes(one: impl Service<Connection> + Send + Sync + 'static, other: impl Service<Connection> + Send + Sync + 'static) -> Routes {
///     let (one, other) = (Endpoint::serving(EndpointConfig::new(), one), Endpoint::serving(EndpointConfig::new(), other));
///     Routes::new().at("/one/mcp", one).at("/other/mcp", other)
/// }
/// ```
#[derive(Clone, Default)]
pub struct Routes(Vec<(Arc<str>, Arc<dyn Mount>)>);

impl Routes {
    /// Nothing: every path gets 404.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds what answers at a path, which must be the whole path of a request. The first of two at the same path is
    /// used.
    #[must_use]
    pub fn at(mut self, path: impl Into<Arc<str>>, mount: impl Mount) -> Self {
        self.0.push((path.into(), Arc::new(mount)));
        self
    }

    pub(crate) fn answer(
        &self,
        request: Request<Incoming>,
        remote: RemoteAddr,
    ) -> BoxFuture<'static, Response<Body>> {
        let path = request.uri().path();
        match self.0.iter().find(|(known, _)| **known == *path) {
            Some((_, mount)) => mount.answer_from(request, remote),
            None => {
                let refusal = Refusal::new(StatusCode::NOT_FOUND, "there is nothing at this path");
                future::ready(refusal.into_response()).boxed()
            }
        }
    }

    pub(crate) fn mounts(&self) -> impl Iterator<Item = &dyn Mount> {
        self.0.iter().map(|(_, mount)| &**mount)
    }
}

impl From<Endpoint> for Routes {
    fn from(endpoint: Endpoint) -> Self {
        Self::new().at("/mcp", endpoint)
    }
}

impl fmt::Debug for Routes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.0.iter().map(|(path, _)| path)).finish()
    }
}
