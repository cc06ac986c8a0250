//! The check of operations, which a layer puts into the extensions of a request.

use std::convert::Infallible;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};

use agentwire_jsonrpc::{RawJson, Response as Answer};
use agentwire_transport::{Exchange, Packet, service_fn};
use agentwire_transport_http::server::{
    Body, Connection, Denied, Endpoint, EndpointConfig, MountService, OperationCheck, RequestBody, Routes,
    serve,
};
use futures::future::BoxFuture;
use futures::{FutureExt, SinkExt, StreamExt};
use http::{HeaderValue, Request, Response, StatusCode};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tower_service::Service;

use super::raw::Raw;
use super::script::initialize;

/// Puts the check into each request.
#[derive(Clone)]
struct Checked {
    inner: MountService,
    check: OperationCheck,
}

impl Service<Request<RequestBody>> for Checked {
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = BoxFuture<'static, Result<Response<Body>, Infallible>>;

    fn poll_ready(&mut self, _cx: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, mut request: Request<RequestBody>) -> Self::Future {
        request.extensions_mut().insert(self.check.clone());
        self.inner.call(request).boxed()
    }
}

type Seen = Arc<Mutex<Vec<Vec<(String, Option<String>)>>>>;

/// A server that refuses the tool `no` and panics at `panic`. Its port, and what the check was asked.
async fn start() -> (u16, Seen) {
    let seen = Seen::default();
    let kept = seen.clone();
    let check = OperationCheck::new(move |operations| {
        let named = |name: &str| operations.iter().any(|operation| operation.name.as_deref() == Some(name));
        let asked =
            operations.iter().map(|one| (one.method.to_owned(), one.name.as_deref().map(str::to_owned)));
        kept.lock().unwrap().push(asked.collect());
        assert!(!named("panic"), "as a test does");
        let denied = Denied::new(StatusCode::FORBIDDEN, "not this tool");
        if named("no") { Err(denied.with_challenge(HeaderValue::from_static("Bearer x"))) } else { Ok(()) }
    });
    let endpoint = Endpoint::serving(EndpointConfig::new(), service_fn(session, exchange));
    let routes =
        Routes::new().at("/mcp", endpoint).wrap(move |inner| Checked { inner, check: check.clone() });
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let serving = serve(listener, routes);
    tokio::spawn(async move { serving.await });
    (port, seen)
}

async fn session(mut connection: Connection) {
    while let Some(Ok(Packet::Frame { frame, .. })) = connection.next().await {
        for request in requests(frame) {
            let result = json!({ "protocolVersion": "2025-03-26", "capabilities": {} });
            let answer = Answer::new(request.id, Ok(RawJson::encode(&result).unwrap()));
            let _ = connection.send(Packet::new(agentwire_jsonrpc::Message::Response(answer))).await;
        }
    }
}

fn requests(frame: agentwire_jsonrpc::Frame) -> Vec<agentwire_jsonrpc::Request> {
    use agentwire_jsonrpc::{Frame, Message};
    let messages = match frame {
        Frame::Single(message) => vec![message],
        Frame::Batch(messages) => messages.into_iter().flatten().collect(),
        _ => Vec::new(),
    };
    let request = |message| if let Message::Request(request) = message { Some(request) } else { None };
    messages.into_iter().filter_map(request).collect()
}

async fn exchange(exchange: Exchange) -> Answer {
    Answer::new(exchange.request.id, Ok(RawJson::EMPTY_OBJECT))
}

fn call(id: u64, name: &str) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": { "name": name } })
}

#[tokio::test]
async fn the_check_is_asked_about_each_operation_of_a_session() {
    let (port, seen) = start().await;
    let post = async |headers: &[(&str, &str)], body: &str| {
        Raw::mcp(port).await.exchange("POST", headers, body).await
    };
    let (head, _) = post(&[], &initialize("2025-03-26")).await;
    let session = [("Mcp-Session-Id", head.header("mcp-session-id").unwrap())];
    assert_eq!(post(&session, &call(1, "yes").to_string()).await.0.status, 200);
    let (head, body) = post(&session, &call(2, "no").to_string()).await;
    assert_eq!((head.status, head.header("www-authenticate")), (403, Some("Bearer x")));
    let body: Value = serde_json::from_str(&body).unwrap();
    assert_eq!((&body["id"], &body["error"]["message"]), (&json!(2), &json!("not this tool")));
    let batch = json!([call(3, "yes"), { "jsonrpc": "2.0", "method": "notifications/x" }, call(4, "no")]);
    assert_eq!(post(&session, &batch.to_string()).await.0.status, 403);
    assert_eq!(post(&session, &call(5, "panic").to_string()).await.0.status, 500);
    let answer = json!({ "jsonrpc": "2.0", "id": 9, "result": {} });
    assert_eq!(post(&session, &answer.to_string()).await.0.status, 202);
    let text = |text: &str| Some(text.to_owned());
    let tool = |name: &str| ("tools/call".to_owned(), text(name));
    assert_eq!(
        *seen.lock().unwrap(),
        [
            vec![("initialize".to_owned(), None)],
            vec![tool("yes")],
            vec![tool("no")],
            vec![tool("yes"), ("notifications/x".to_owned(), None), tool("no")],
            vec![tool("panic")],
        ]
    );
}

#[tokio::test]
async fn the_check_is_asked_about_a_modern_request() {
    let (port, seen) = start().await;
    let post = async |name: &str| {
        let mut body = call(1, name);
        body["params"]["_meta"] = json!({ "io.modelcontextprotocol/protocolVersion": "2026-07-28" });
        let headers =
            [("MCP-Protocol-Version", "2026-07-28"), ("Mcp-Method", "tools/call"), ("Mcp-Name", name)];
        Raw::mcp(port).await.exchange("POST", &headers, &body.to_string()).await.0.status
    };
    assert_eq!((post("yes").await, post("no").await, post("panic").await), (200, 403, 500));
    assert_eq!(seen.lock().unwrap().len(), 3);
}
