//! Requests to an endpoint in this process.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

use agentwire_jsonrpc::{ErrorObject, Response};
use agentwire_transport::{Exchange, service_fn};
use agentwire_transport_http::server::{Connection, Endpoint, EndpointConfig, Spawner};
use bytes::Bytes;
use futures::channel::mpsc;
use futures::future::{BoxFuture, ready};
use futures::{FutureExt, Stream, StreamExt};
use http::Request;

/// A body of some pieces, and whether it ends after them.
pub(crate) struct Sent {
    pieces: std::vec::IntoIter<Bytes>,
    ends: bool,
}

impl http_body::Body for Sent {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _cx: &mut Context<'_>,
    ) -> Poll<Option<Result<http_body::Frame<Bytes>, Infallible>>> {
        match self.pieces.next() {
            None if !self.ends => Poll::Pending,
            piece => Poll::Ready(piece.map(|piece| Ok(http_body::Frame::data(piece)))),
        }
    }
}

pub(crate) fn post(session: Option<&str>, body: impl Into<Bytes>) -> Request<Sent> {
    send(session, vec![body.into()], true)
}

pub(crate) fn send(session: Option<&str>, pieces: Vec<Bytes>, ends: bool) -> Request<Sent> {
    let mut request =
        Request::post("/").header("host", "localhost").header("content-type", "application/json");
    if let Some(session) = session {
        request = request.header("mcp-session-id", session);
    }
    request.body(Sent { pieces: pieces.into_iter(), ends }).unwrap()
}

/// The sessions of an endpoint, to be served by a test. Time goes on for the endpoint while it is polled.
pub(crate) struct Connections {
    running: BoxFuture<'static, ()>,
    coming: mpsc::UnboundedReceiver<Connection>,
}

/// An endpoint whose sessions a test serves. It answers no request without a session.
pub(crate) fn endpoint(config: EndpointConfig) -> (Endpoint, Connections) {
    let (give, coming) = mpsc::unbounded();
    let connection = move |connection| {
        let _ = give.unbounded_send(connection);
        ready(())
    };
    let exchange = |exchange: Exchange| {
        let error = ErrorObject::method_not_found(&exchange.request.method);
        ready(Response::new(exchange.request.id, Err(error)))
    };
    let endpoint = Endpoint::serving(config, service_fn(connection, exchange));
    // What is spawned has given its connection away when it was polled once.
    let running = endpoint.run_with(Spawner::new(|task| _ = task.now_or_never()));
    (endpoint, Connections { running: running.boxed(), coming })
}

impl Stream for Connections {
    type Item = Connection;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Connection>> {
        let _ended = self.running.poll_unpin(cx);
        self.coming.poll_next_unpin(cx)
    }
}
