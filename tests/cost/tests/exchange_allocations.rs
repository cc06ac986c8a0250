//! How many allocations a call takes in an HTTP server, without a session and in one. A binary of its own, because it counts
//! with another allocator.

use std::alloc::System;
use std::convert::Infallible;
use std::future::poll_fn;
use std::pin::Pin;
use std::task::{Context, Poll};

use agentwire_jsonrpc::{ErrorObject, RawJson, Response};
use agentwire_mcp_server::{NoArguments, Server};
use agentwire_store::{Clock, Node, StoreLimits, Stores};
use agentwire_transport::{Exchange, Service, service_fn};
use agentwire_transport_http::server::{AnswerForm, Connection, Endpoint, EndpointConfig};
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

fn post(headers: &[(&str, &str)], body: &'static [u8]) -> Request<Whole> {
    let mut request = Request::post("/mcp");
    // As hyper has it from the second request of a connection on: it reads the head into the table of the last response.
    request.headers_mut().expect("a request").reserve(12);
    let every = [
        ("host", "localhost"),
        ("content-type", "application/json"),
        ("accept", "application/json, text/event-stream"),
    ];
    let request =
        every.iter().chain(headers).fold(request, |request, (name, value)| request.header(*name, *value));
    request.body(Whole(Some(Bytes::from_static(body)))).expect("a request")
}

fn request() -> Request<Whole> {
    let headers =
        [("mcp-protocol-version", "2026-07-28"), ("mcp-method", "tools/call"), ("mcp-name", "hello")];
    post(&headers, CALL)
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

const INITIALIZE: &[u8] = br#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}"#;
const INITIALIZED: &[u8] = br#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
const SESSION_CALL: &[u8] =
    br#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"hello","arguments":{}}}"#;

/// Allocations of one call in a session, counted as in [`allocations`].
async fn allocations_in_a_session(config: EndpointConfig, server: Server) -> f64 {
    let mut endpoint = Endpoint::serving(config, server);
    let serving = tokio::spawn(endpoint.run());
    let opened = endpoint.call(post(&[], INITIALIZE)).await.unwrap_or_else(|never| match never {});
    let session = opened.headers()["mcp-session-id"].to_str().expect("text").to_owned();
    let headers = [("mcp-protocol-version", "2025-11-25"), ("mcp-session-id", &*session)];
    let accepted = endpoint.call(post(&headers, INITIALIZED)).await.unwrap_or_else(|never| match never {});
    assert_eq!(accepted.status(), 202);
    let mut call = async |request| {
        let response = endpoint.call(request).await.unwrap_or_else(|never| match never {});
        assert_eq!(response.status(), 200);
        let mut body = response.into_body();
        let frame = poll_fn(|cx| http_body::Body::poll_frame(Pin::new(&mut body), cx)).await;
        let text = frame.expect("a frame").expect("no error").into_data().expect("the text");
        let end = poll_fn(|cx| http_body::Body::poll_frame(Pin::new(&mut body), cx)).await;
        assert!(end.is_none(), "the answer is one piece");
        text
    };
    let text = call(post(&headers, SESSION_CALL)).await;
    let text = std::str::from_utf8(&text).expect("UTF-8");
    assert!(text.contains(r#"{"jsonrpc":"2.0","id":1,"result":{"#), "{text:?}");
    let requests: Vec<_> = (0..CALLS).map(|_| post(&headers, SESSION_CALL)).collect();
    let region = Region::new(&INSTRUMENTED_SYSTEM);
    for request in requests {
        drop(call(request).await);
    }
    let change = region.change();
    serving.abort();
    (change.allocations + change.reallocations) as f64 / CALLS as f64
}

#[tokio::test]
#[allow(clippy::print_stdout, reason = "the numbers are the result")]
async fn a_call_takes_few_allocations() {
    let session = |_: Connection| async {};
    let transport = service_fn(session, |exchange: Exchange| async move {
        Response::new(exchange.request.id, Ok::<_, ErrorObject>(RawJson::EMPTY_OBJECT))
    });
    let server = || Server::new("hello", "1").tool("hello", "Greets", async |_: NoArguments, _| "hello");
    let answered = |form| EndpointConfig::new().legacy_answer(form);
    // The parts of each number are in docs/tool-call.md. The tests count one after the other: the counter is one for all threads.
    let node = Node::join(Stores::memory(&StoreLimits::new(), &Clock::system())).await.expect("a node");
    let nodes = allocations_in_a_session(answered(AnswerForm::Events).node(node), server()).await;
    let rows = [
        ("the transport", allocations(transport), 5.2),
        ("with mcp-server", allocations(server()), 11.2),
        ("in a session, as JSON", allocations_in_a_session(answered(AnswerForm::Json), server()).await, 10.2),
        (
            "in a session, as an event",
            allocations_in_a_session(answered(AnswerForm::Events), server()).await,
            11.2,
        ),
        ("in a session of several nodes", nodes, 11.4),
    ];
    for (what, allocations, _) in rows {
        println!("{what}: {allocations} allocations");
    }
    for (what, allocations, most) in rows {
        assert!(allocations <= most, "{what}: {allocations} instead of {most}");
    }
}
