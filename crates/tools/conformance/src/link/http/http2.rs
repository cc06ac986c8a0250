//! A connection of HTTP/2 that all requests to an address share.

use std::sync::Arc;

use http::{Request, Version};
use hyper::client::conn::http2::{self, SendRequest};
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::sync::oneshot;

use super::body::RequestBody;
use super::response::{Body, Connection};
use super::{HttpRequest, HttpTarget, opened};
use crate::fault::Head;
use crate::link::connect::connect;
use crate::verdict::{Outcome, Stop};

/// A connection. The requests on it are independent of each other.
pub(super) struct Http2 {
    sender: SendRequest<RequestBody>,
    /// Closes the connection with the last request.
    _connection: Connection,
}

impl HttpTarget {
    /// The same address over one connection of HTTP/2: chosen by ALPN over TLS, and with prior knowledge on clear text.
    pub(crate) async fn over_http2(&self) -> Outcome<Self> {
        let stream = connect(&self.url, Version::HTTP_2).await.map_err(Stop::inconclusive)?;
        let (sender, connection) = http2::handshake(TokioExecutor::new(), TokioIo::new(stream))
            .await
            .map_err(|error| Stop::failed("a connection of HTTP/2", error.to_string()))?;
        let connection = Connection::new(tokio::spawn(connection));
        let shared = Arc::new(Http2 { sender, _connection: connection });
        Ok(Self { http2: Some(shared), ..self.clone() })
    }

    /// The same address with a connection of HTTP/1.1 for each request.
    pub(crate) fn over_http1(&self) -> Self {
        Self { http2: None, ..self.clone() }
    }
}

impl HttpRequest {
    /// Sends the request on a connection that it shares with others.
    pub(super) async fn exchange_on(
        self,
        shared: &Http2,
        exchange: u32,
        written: oneshot::Sender<()>,
    ) -> Result<(Head, Body), String> {
        let scheme = self.target.url.scheme_str().unwrap_or("http");
        let url = format!("{scheme}://{}{}", self.target.authority(), self.path);
        let request = Request::builder().method(self.method.as_str()).version(Version::HTTP_2).uri(url);
        let request = self.finish(request, written)?;
        let mut sender = shared.sender.clone();
        opened(sender.send_request(request).await, exchange, None)
    }
}
