//! `server --log` over HTTP: logs each request to a served path, even one that is refused before the server reads a message.

use std::convert::Infallible;
use std::task::{Context, Poll};
use std::time::Instant;

use agentwire_transport_http::server::{Body, MountService, RequestBody};
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use http::{Request, Response};
use tower_service::Service;

use super::log::RequestLog;

/// A service that logs each response when its head is sent. A response that its client does not wait for is not logged.
#[derive(Clone)]
pub(super) struct LoggedHttp {
    service: MountService,
    log: RequestLog,
}

impl LoggedHttp {
    pub(super) fn new(service: MountService, log: RequestLog) -> Self {
        Self { service, log }
    }
}

impl Service<Request<RequestBody>> for LoggedHttp {
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = BoxFuture<'static, Result<Response<Body>, Infallible>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        self.service.poll_ready(cx)
    }

    fn call(&mut self, request: Request<RequestBody>) -> Self::Future {
        let (method, path) = (request.method().clone(), request.uri().path().to_owned());
        let (log, begin) = (self.log.clone(), Instant::now());
        let answer = self.service.call(request);
        let logged = answer.inspect(move |answer| {
            if let Ok(response) = answer {
                log.response(&method, &path, response.status(), begin.elapsed());
            }
        });
        logged.boxed()
    }
}
