//! How many allocations a request without a session takes in an HTTP server. A binary of its own, because it counts by
//! another allocator.

use std::alloc::System;
use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

use agentwire_jsonrpc::{ErrorObject, RawJson, Response};
use agentwire_mcp_server::{NoArguments, Server};
use agentwire_transport::{Exchange, Service, service_fn};
use agentwire_transport_http::server::{Connection, Endpoint, EndpointConfig};
use bytes::Bytes;
use futures::FutureExt;
use http::Request;
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};
use tower_service::Service as _;

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

const CALLS: usize = 200;

const CALL: &[u8] = br#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"hello","arguments":{},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/clientInfo":{"name":"x","version":"1"}}}}"#;

/// A body that is there at once, as hyper mostly has it.
struct Whole(Option<Bytes>);

impl http_body::Body for Whole {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _cx: &mut Context<'_>,
    ) -> Poll<Option<Result<http_body::Frame<Bytes>, Infallible>>> {
        Poll::Ready(self.0.take().map(|bytes| Ok(http_body::Frame::data(bytes))))
    }
}

fn request() -> Request<Whole> {
    let mut request = Request::post("/mcp");
    // As hyper has it from the second request of a connection on: it reads the head into the table of the last response.
    request.headers_mut().expect("a request").reserve(12);
    request
        .header("host", "localhost")
        .header("content-type", "application/json")
        .header("accept", "application/json, text/event-stream")
        .header("mcp-protocol-version", "2026-07-28")
        .header("mcp-method", "tools/call")
        .header("mcp-name", "hello")
        .body(Whole(Some(Bytes::from_static(CALL))))
        .expect("a request")
}

/// Allocations of one call, from the request as hyper gives it to the last byte of the body of the response.
fn allocations(service: impl Service<Connection> + Send + Sync + 'static) -> f64 {
    let mut endpoint = Endpoint::serving(EndpointConfig::new(), service);
    let mut call = move |request| {
        let response = endpoint.call(request).now_or_never().expect("it is answered at once");
        let mut response = response.unwrap_or_else(|never| match never {});
        assert_eq!(response.status(), 200);
        let mut cx = Context::from_waker(std::task::Waker::noop());
        match http_body::Body::poll_frame(Pin::new(response.body_mut()), &mut cx) {
            Poll::Ready(Some(Ok(frame))) => frame.into_data().expect("the text"),
            _ => panic!("no text"),
        }
    };
    let text = call(request());
    assert!(text.starts_with(br#"{"jsonrpc":"2.0","id":1,"result":{"#), "{text:?}");
    let requests: Vec<_> = (0..CALLS).map(|_| request()).collect();
    let region = Region::new(&INSTRUMENTED_SYSTEM);
    for request in requests {
        drop(call(request));
    }
    let change = region.change();
    (change.allocations + change.reallocations) as f64 / CALLS as f64
}

/// The transport takes one each for the head, the queue of notifications, the service's future the scan of the body, and
/// the text. Two of those of `mcp-server` are the tool's result: a text, in a list.
#[test]
#[allow(clippy::print_stdout, reason = "the numbers are the result")]
fn a_request_without_a_session_takes_few_allocations() {
    let session = |_: Connection| async {};
    let transport = service_fn(session, |exchange: Exchange| async move {
        Response::new(exchange.request.id, Ok::<_, ErrorObject>(RawJson::EMPTY_OBJECT))
    });
    let server = Server::new("hello", "1").tool("hello", "Greets", async |_: NoArguments, _| "hello");
    let rows =
        [("the transport", allocations(transport), 5.2), ("with mcp-server", allocations(server), 11.2)];
    for (what, allocations, _) in rows {
        println!("{what}: {allocations} allocations");
    }
    for (what, allocations, most) in rows {
        assert!(allocations <= most, "{what}: {allocations} instead of {most}");
    }
}
