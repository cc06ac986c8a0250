//! `server --metrics`: pages for operators, with metrics for Prometheus, the liveness and the readiness of the server.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::task::{Context, Poll};

use agentwire_transport_http::runtime::server::Guard;
use agentwire_transport_http::server::{Body, RequestBody, Routes};
use bytes::Bytes;
use clap::Args;
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use http::header::{ALLOW, CACHE_CONTROL, CONTENT_TYPE};
use http::{HeaderValue, Method, Request, Response, StatusCode};
use prometheus::{Registry, TextEncoder};
use tower_service::Service;

use super::readiness::Readiness;
use crate::arguments::values::address;

/// The option `--metrics`.
#[derive(Debug, Args)]
pub(crate) struct Pages {
    /// Serve pages for those who run the server at HOST:PORT, or at PORT of 127.0.0.1: metrics for Prometheus at /metrics, whether
    /// it lives at /livez, and whether it is ready at /readyz; port 0 is any that is free
    #[arg(long, value_name = "ADDR", value_parser = address, requires = "network")]
    metrics: Option<String>,
}

impl Pages {
    /// The address of the pages.
    pub(crate) fn address(&self) -> Option<&str> {
        self.metrics.as_deref()
    }
}

/// The pages, for a listener at that address.
pub(super) fn pages(registry: &Registry, readiness: &Readiness, local: SocketAddr) -> Routes {
    // As for the server itself: if other machines can reach it, its names there are unknown.
    let guard = match local.ip().to_canonical().is_loopback() {
        true => Guard::new(),
        false => Guard::new().any_host(),
    };
    let page = |content| Page { guard: guard.clone(), content };
    Routes::new()
        .service("/metrics", page(Content::Metrics(registry.clone())))
        .service("/livez", page(Content::Live))
        .service("/readyz", page(Content::Ready(readiness.clone())))
}

#[derive(Clone)]
struct Page {
    guard: Guard,
    content: Content,
}

#[derive(Clone)]
enum Content {
    Metrics(Registry),
    Live,
    Ready(Readiness),
}

impl Content {
    async fn response(self) -> Response<Body> {
        match self {
            Self::Metrics(registry) => metrics(&registry),
            Self::Live => text(StatusCode::OK, "alive"),
            Self::Ready(readiness) => match readiness.check().await {
                Ok(()) => text(StatusCode::OK, "ready"),
                Err(why) => text(StatusCode::SERVICE_UNAVAILABLE, &why),
            },
        }
    }
}

impl Service<Request<RequestBody>> for Page {
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = BoxFuture<'static, Result<Response<Body>, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<RequestBody>) -> Self::Future {
        let (parts, _) = request.into_parts();
        let refused = match self.guard.admit(&parts) {
            Err(denied) => Some(text(denied.status, &denied.reason)),
            Ok(()) if !matches!(parts.method, Method::GET | Method::HEAD) => {
                let mut refused = text(StatusCode::METHOD_NOT_ALLOWED, "the HTTP method is not allowed here");
                refused.headers_mut().insert(ALLOW, HeaderValue::from_static("GET, HEAD"));
                Some(refused)
            }
            Ok(()) => None,
        };
        let content = self.content.clone();
        async move {
            Ok(match refused {
                Some(refused) => refused,
                None => content.response().await,
            })
        }
        .boxed()
    }
}

fn metrics(registry: &Registry) -> Response<Body> {
    match TextEncoder::new().encode_to_string(&registry.gather()) {
        Ok(page) => response(StatusCode::OK, "text/plain; version=0.0.4; charset=utf-8", page),
        Err(why) => text(StatusCode::INTERNAL_SERVER_ERROR, &why.to_string()),
    }
}

fn text(status: StatusCode, line: &str) -> Response<Body> {
    response(status, "text/plain; charset=utf-8", format!("{line}\n"))
}

fn response(status: StatusCode, kind: &'static str, text: String) -> Response<Body> {
    let mut response = Response::new(Body::from(Bytes::from(text)));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}
