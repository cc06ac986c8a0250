//! The tower layer that lets only requests with a valid token through.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::task::{Context, Poll};

use agentwire_transport_http::server::CorsHeaders;
use bytes::Bytes;
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use http::header::{ACCESS_CONTROL_REQUEST_METHOD, ORIGIN, WWW_AUTHENTICATE};
use http::request::Parts;
use http::{HeaderMap, Method, Request, Response, StatusCode};
use tower_layer::Layer;
use tower_service::Service;

use crate::server::admission::{AdmittedRequest, DPOP_NONCE};
use crate::server::rejection::Rejection;
use crate::server::resource_server::ResourceServer;

type Cors = dyn Fn(&HeaderMap) -> CorsHeaders + Send + Sync;

/// Lets requests with a valid token through to a service; see [`ResourceServer::layer`].
#[derive(Clone)]
pub struct TokenLayer {
    server: Arc<ResourceServer>,
    cors: Option<Arc<Cors>>,
}

/// A service behind a [`TokenLayer`].
#[derive(Clone)]
pub struct TokenService<S> {
    inner: S,
    layer: TokenLayer,
}

impl ResourceServer {
    /// The layer that checks requests. Those with a valid token go on, with the
    /// [`Principal`](agentwire_transport_http::server::Principal) and the [`AccessToken`](crate::server::AccessToken) in their
    /// extensions, and without the token. Any other is refused, and so is one that a web page may not make by itself; the
    /// preflights of browsers, which bring no token, go on. A handler for `OPTIONS` is for everybody, therefore.
    ///
    /// It is for any service on the types of the crate `http` whose response body can be made of bytes: an endpoint, or a
    /// router of axum.
    pub fn layer(&self) -> TokenLayer {
        TokenLayer { server: Arc::new(self.clone()), cors: None }
    }
}

impl TokenLayer {
    /// Sets the function that gives the headers by which web pages can read a refusal: that of the endpoint behind the layer,
    /// `|headers| endpoint.cors(headers)` (default: no page can).
    #[must_use]
    pub fn cors(mut self, cors: impl Fn(&HeaderMap) -> CorsHeaders + Send + Sync + 'static) -> Self {
        self.cors = Some(Arc::new(cors));
        self
    }

    /// Lets a request go on, or answers it.
    async fn decide(&self, parts: &mut Parts) -> Result<AdmittedRequest, Response<Bytes>> {
        match self.server.admit(parts).await {
            Ok(admitted) => Ok(admitted),
            Err(rejection) => Err(self.refuse(parts, &rejection)),
        }
    }

    fn refuse(&self, parts: &Parts, rejection: &Rejection) -> Response<Bytes> {
        let (status, headers, body) = self.server.refuse(parts, rejection);
        let mut response = Response::new(body);
        *response.status_mut() = status;
        *response.headers_mut() = headers;
        if let Some(cors) = &self.cors {
            cors(&parts.headers).add_to(response.headers_mut());
        }
        response
    }
}

impl<S> Layer<S> for TokenLayer {
    type Service = TokenService<S>;

    fn layer(&self, inner: S) -> TokenService<S> {
        TokenService { inner, layer: self.clone() }
    }
}

impl<S, B, R> Service<Request<B>> for TokenService<S>
where
    S: Service<Request<B>, Response = Response<R>> + Clone + Send + 'static,
    S::Future: Send + 'static,
    B: Send + 'static,
    R: From<Bytes>,
{
    type Response = Response<R>;
    type Error = S::Error;
    type Future = BoxFuture<'static, Result<Response<R>, S::Error>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        // The one that was made ready serves this request; its clone is made ready for the next.
        let next = self.inner.clone();
        let mut inner = std::mem::replace(&mut self.inner, next);
        if is_preflight(&request) {
            return inner.call(request).boxed();
        }
        let layer = self.layer.clone();
        let answer = async move {
            let (mut parts, body) = request.into_parts();
            // Other connections may share the task, so a panic in a function of the program ends this request alone.
            let decided = AssertUnwindSafe(layer.decide(&mut parts)).catch_unwind().await;
            let admitted = match decided {
                Ok(Ok(admitted)) => admitted,
                Ok(Err(refusal)) => return Ok(refusal.map(R::from)),
                Err(_) => return Ok(panicked().map(R::from)),
            };
            let mut response = inner.call(Request::from_parts(parts, body)).await?;
            let demand = catch_unwind(AssertUnwindSafe(|| layer.server.demand(&admitted)));
            if let Some(challenge) = demand.unwrap_or_default()
                && response.status().is_success()
            {
                *response.status_mut() = StatusCode::FORBIDDEN;
                response.headers_mut().insert(WWW_AUTHENTICATE, challenge);
            }
            response.headers_mut().extend(layer.server.nonce().map(|nonce| (DPOP_NONCE, nonce)));
            Ok(response)
        };
        answer.boxed()
    }
}

/// The answer where a function of the program panicked. The panic hook has reported it.
fn panicked() -> Response<Bytes> {
    let mut response = Response::new(Bytes::new());
    *response.status_mut() = StatusCode::INTERNAL_SERVER_ERROR;
    response
}

/// Whether a browser asks on behalf of a page what the page may send.
fn is_preflight<B>(request: &Request<B>) -> bool {
    let headers = request.headers();
    *request.method() == Method::OPTIONS
        && headers.contains_key(ORIGIN)
        && headers.contains_key(ACCESS_CONTROL_REQUEST_METHOD)
}

impl fmt::Debug for TokenLayer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TokenLayer").field("server", &self.server).finish_non_exhaustive()
    }
}

impl<S> fmt::Debug for TokenService<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TokenService").field("server", &self.layer.server).finish_non_exhaustive()
    }
}
