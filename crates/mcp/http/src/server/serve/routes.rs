//! Maps request paths to mounts. A mount is an `Endpoint` or any other implementation of the trait `Mount`.

use std::convert::Infallible;
use std::fmt;
use std::future::poll_fn;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use futures::FutureExt;
use futures::future::{self, BoxFuture};
use http::{HeaderMap, Request, Response, StatusCode};
use tower_service::Service;

use crate::server::response::refusal::Refusal;
use crate::server::{Body, CorsHeaders, Endpoint, RemoteAddr, RequestBody, Spawner};

/// A service at a path: an [`Endpoint`], or one of your own beside it.
pub trait Mount: Send + Sync + 'static {
    /// Answers a request with any method. Dropping the future, or the body of the response, means that the client has left.
    fn answer(&self, request: Request<RequestBody>) -> BoxFuture<'static, Response<Body>>;

    /// [Answers](Self::answer) a request of the client at `remote`. The server calls this method. The default puts the address
    /// into the request's extensions, where layers find it.
    fn answer_from(
        &self,
        mut request: Request<RequestBody>,
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

    /// The headers that let a web page read the response to a request with these headers. A layer that answers in front of
    /// the mount adds them to its refusals. The default allows no page.
    fn cors(&self, request: &HeaderMap) -> CorsHeaders {
        let _ = request;
        CorsHeaders::allowing(None)
    }

    /// Refuses new requests at the call, lets running ones finish for up to `grace`, and cuts the rest. The future completes when
    /// nothing runs. The server goes on to accept connections.
    fn shutdown(&self, grace: Duration) -> BoxFuture<'static, ()>;
}

impl Mount for Endpoint {
    fn answer(&self, request: Request<RequestBody>) -> BoxFuture<'static, Response<Body>> {
        infallible(self.answer(request)).boxed()
    }

    /// Extensions are a table on the heap, which an endpoint does without.
    fn answer_from(
        &self,
        request: Request<RequestBody>,
        remote: RemoteAddr,
    ) -> BoxFuture<'static, Response<Body>> {
        infallible(self.answer_from(request, Some(remote))).boxed()
    }

    fn run(&self, spawner: Spawner) -> BoxFuture<'static, ()> {
        self.run_with(spawner).boxed()
    }

    fn cors(&self, request: &HeaderMap) -> CorsHeaders {
        self.cors(request)
    }

    fn shutdown(&self, grace: Duration) -> BoxFuture<'static, ()> {
        self.shutdown(grace).boxed()
    }
}

/// A path without the `/` at its end, which many clients add to or leave out of a URL.
fn unslashed(path: &str) -> &str {
    path.strip_suffix('/').unwrap_or(path)
}

fn infallible<T>(answer: impl Future<Output = Result<T, Infallible>>) -> impl Future<Output = T> {
    answer.map(|answer| answer.unwrap_or_else(|never| match never {}))
}

/// The services and their paths. An [`Endpoint`] alone becomes the one at `/mcp`.
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
    /// No mounts: every path gets 404.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a mount at a path, which must be the whole path of a request, apart from one `/` at its end. The first of
    /// two at the same path is used.
    #[must_use]
    pub fn at(mut self, path: impl Into<Arc<str>>, mount: impl Mount) -> Self {
        self.0.push((path.into(), Arc::new(mount)));
        self
    }

    /// Adds a tower service at a path, such as a document beside the endpoints. It runs within its responses, and a shutdown
    /// does not wait for it.
    #[must_use]
    pub fn service<S>(self, path: impl Into<Arc<str>>, service: S) -> Self
    where
        S: Service<Request<RequestBody>, Response = Response<Body>, Error = Infallible>
            + Clone
            + Send
            + Sync
            + 'static,
        S::Future: Send,
    {
        self.at(path, ServiceMount { service, mount: None })
    }

    /// Wraps everything that has been added so far in a tower layer. The background work of a mount and its shutdown are not
    /// wrapped.
    ///
    /// ```
    /// use agentwire_transport_http::server::{MountService, RequestBody, Routes};
    /// # #[derive(Clone)]
    /// # struct Counted(MountService);
    /// # impl tower_service::Service<http::Request<RequestBody>> for Counted {
    /// #     type Response = http::Response<agentwire_transport_http::server::Body>;
    /// #     type Error = std::convert::Infallible;
    /// #     type Future = <MountService as tower_service::Service<http::Request<RequestBody>>>::Future;
    /// #     fn poll_ready(&mut self, _: &mut std::task::Context<'_>) -> std::task::Poll<Result<(), Self::Error>> {
    /// #         std::task::Poll::Ready(Ok(()))
    /// #     }
    /// #     fn call(&mut self, request: http::Request<RequestBody>) -> Self::Future { self.0.call(request) }
    /// # }
    ///
    /// /// `Counted` is a service of your own. With the trait `Layer` of tower, the function is `|service| layer.layer(service)`.
    /// fn counted(routes: Routes) -> Routes {
    ///     routes.wrap(|service| Counted(service))
    /// }
    /// ```
    #[must_use]
    pub fn wrap<S>(self, layer: impl Fn(MountService) -> S) -> Self
    where
        S: Service<Request<RequestBody>, Response = Response<Body>, Error = Infallible>
            + Clone
            + Send
            + Sync
            + 'static,
        S::Future: Send,
    {
        let wrap = |(path, mount): (Arc<str>, Arc<dyn Mount>)| {
            let service = layer(MountService(mount.clone()));
            let wrapped: Arc<dyn Mount> = Arc::new(ServiceMount { service, mount: Some(mount) });
            (path, wrapped)
        };
        Self(self.0.into_iter().map(wrap).collect())
    }

    pub(crate) fn answer(
        &self,
        request: Request<RequestBody>,
        remote: RemoteAddr,
    ) -> BoxFuture<'static, Response<Body>> {
        let path = request.uri().path();
        let exact = self.0.iter().find(|(known, _)| **known == *path);
        match exact.or_else(|| self.0.iter().find(|(known, _)| unslashed(known) == unslashed(path))) {
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

/// A [`Mount`] as a tower service, for [`Routes::wrap`].
#[derive(Clone)]
pub struct MountService(Arc<dyn Mount>);

impl MountService {
    /// The headers that let a web page read the response to a request with these headers; see
    /// [`Endpoint::cors`](crate::server::Endpoint::cors).
    pub fn cors(&self, request: &HeaderMap) -> CorsHeaders {
        self.0.cors(request)
    }
}

impl Service<Request<RequestBody>> for MountService {
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = BoxFuture<'static, Result<Response<Body>, Infallible>>;

    fn poll_ready(&mut self, _cx: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<RequestBody>) -> Self::Future {
        self.0.answer(request).map(Ok).boxed()
    }
}

impl fmt::Debug for MountService {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MountService").finish_non_exhaustive()
    }
}

/// A tower service, and the mount behind it if it is a layer around one.
struct ServiceMount<S> {
    service: S,
    mount: Option<Arc<dyn Mount>>,
}

impl<S> Mount for ServiceMount<S>
where
    S: Service<Request<RequestBody>, Response = Response<Body>, Error = Infallible>
        + Clone
        + Send
        + Sync
        + 'static,
    S::Future: Send,
{
    fn answer(&self, request: Request<RequestBody>) -> BoxFuture<'static, Response<Body>> {
        let mut service = self.service.clone();
        let answer = async move {
            poll_fn(|cx| service.poll_ready(cx)).await?;
            service.call(request).await
        };
        infallible(answer).boxed()
    }

    fn cors(&self, request: &HeaderMap) -> CorsHeaders {
        self.mount.as_ref().map_or_else(|| CorsHeaders::allowing(None), |mount| mount.cors(request))
    }

    fn run(&self, spawner: Spawner) -> BoxFuture<'static, ()> {
        self.mount.as_ref().map_or_else(|| future::ready(()).boxed(), |mount| mount.run(spawner))
    }

    fn shutdown(&self, grace: Duration) -> BoxFuture<'static, ()> {
        self.mount.as_ref().map_or_else(|| future::ready(()).boxed(), |mount| mount.shutdown(grace))
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
