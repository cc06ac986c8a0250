//! Services that panic, beside others that do not.

use std::convert::Infallible;
use std::time::Duration;

use agentwire_transport_http::server::{Body, EndpointConfig, Mount, RequestBody, Routes, serve};
use bytes::Bytes;
use futures::future::BoxFuture;
use futures::{FutureExt, StreamExt};
use http::{Request, Response};
use http_body_util::{BodyExt, Full, StreamBody};
use hyper::body::Frame;
use hyper::client::conn::http2;
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::net::{TcpListener, TcpStream};

use super::inline::endpoint;
use super::raw::Raw;
use super::script::Server;

/// A mount that panics when it is asked, or while its answer is read.
struct Panics;

impl Mount for Panics {
    fn answer(&self, request: Request<RequestBody>) -> BoxFuture<'static, Response<Body>> {
        if request.method() == "POST" {
            return async { panic!("on purpose, in an answer") }.boxed();
        }
        let pieces = futures::stream::once(async { panic!("on purpose, in a body") }.boxed());
        let body = StreamBody::new(pieces.map(|piece: Bytes| Ok::<_, Infallible>(Frame::data(piece))));
        async { Response::new(Body::new(body)) }.boxed()
    }

    fn shutdown(&self, _grace: Duration) -> BoxFuture<'static, ()> {
        std::future::ready(()).boxed()
    }
}

/// Other connections, and other requests of the same task, go on.
#[tokio::test]
async fn a_panic_ends_its_own_connection_alone() {
    let (endpoint, heard) = endpoint(EndpointConfig::new());
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let routes = Routes::new().at("/mcp", endpoint).at("/panics", Panics);
    let server = Server { port, heard, tasks: vec![tokio::spawn(serve(listener, routes).into_future())] };

    let mut session = server.open("2025-11-25").await.get().await;
    session.next().await.unwrap();
    for method in ["POST", "GET"] {
        let mut raw = Raw::mcp(port).await;
        let head = format!("{method} /panics HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n");
        raw.write(head.as_bytes()).await;
        while raw.read().await > 0 {}

        let stream = TcpStream::connect(("127.0.0.1", port)).await.unwrap();
        let (mut sender, connection) =
            http2::handshake::<_, _, Full<Bytes>>(TokioExecutor::new(), TokioIo::new(stream)).await.unwrap();
        let connection = tokio::spawn(connection);
        let request = Request::builder().method(method).uri("http://localhost/panics");
        match sender.send_request(request.body(Full::default()).unwrap()).await {
            Ok(response) => drop(response.into_body().collect().await.unwrap_err()),
            Err(error) => assert!(error.is_canceled() || !error.is_user(), "{error}"),
        }
        drop((sender, connection));
    }
    assert!(server.tasks.iter().all(|task| !task.is_finished()), "the server goes on");
    server.open("2025-11-25").await;
    assert!(session.next().now_or_never().is_none(), "and so does a stream that was there before");
}
