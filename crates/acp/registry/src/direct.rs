//! An HTTP client for servers on this machine: without TLS, and never through a proxy.

use std::time::Duration;

use agentwire_transport_http::client::{Body, BoxError, HttpClient};
use bytes::Bytes;
use futures_util::future::BoxFuture;
use futures_util::{FutureExt as _, StreamExt as _, TryStreamExt as _};
use http::{Request, Response};
use http_body_util::{BodyDataStream, Full};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;

/// HTTP/1.1 by hyper alone. It uses no proxy of the environment: at a proxy, `127.0.0.1` is another machine.
pub(crate) struct Direct(Client<HttpConnector, Full<Bytes>>);

impl Direct {
    pub(crate) fn new(connect_timeout: Duration) -> Self {
        let mut connector = HttpConnector::new();
        connector.set_connect_timeout(Some(connect_timeout));
        Self(Client::builder(TokioExecutor::new()).build(connector))
    }
}

impl HttpClient for Direct {
    fn send(&self, request: Request<Bytes>) -> BoxFuture<'static, Result<Response<Body>, BoxError>> {
        let client = self.0.clone();
        async move {
            let response = client.request(request.map(Full::new)).await?;
            Ok(response.map(|body| BodyDataStream::new(body).map_err(BoxError::from).boxed()))
        }
        .boxed()
    }
}
