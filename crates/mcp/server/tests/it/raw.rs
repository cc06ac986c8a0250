//! A client that reads and writes plain JSON.

use std::time::Duration;

use agentwire_jsonrpc::RequestId;
use agentwire_mcp_server::Server;
use agentwire_schema_tests::{Conversation, Side, checked};
use agentwire_transport::{Duplex, Packet, duplex};
use futures::{SinkExt, StreamExt};
use serde_json::{Value, json};

pub(crate) const REVISIONS: [&str; 4] = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];
pub(crate) const NEWEST: &str = "2025-11-25";
pub(crate) const MODERN: &str = "2026-07-28";

pub(crate) struct Raw(Duplex);

/// Runs `main` as the client of `server`, and the server until the client has left.
pub(crate) async fn with_raw<R>(server: &Server, main: impl AsyncFnOnce(&mut Raw) -> R) -> R {
    let (near, far) = duplex(16);
    let client = async {
        let mut raw = Raw(near);
        main(&mut raw).await
    };
    let (result, served) =
        tokio::join!(client, server.serve(checked(far, Conversation::mcp(), Side::Server)));
    served.expect("a client that leaves in good order is not a fault");
    result
}

/// The same, but what the server sends is not held to the schema, which looks at one era at a time.
pub(crate) async fn with_both_eras<R>(server: &Server, main: impl AsyncFnOnce(&mut Raw) -> R) -> R {
    let (near, far) = duplex(16);
    let client = async {
        let mut raw = Raw(near);
        main(&mut raw).await
    };
    let (result, served) = tokio::join!(client, server.serve(far));
    served.expect("a client that leaves in good order is not a fault");
    result
}

/// The same, after the handshake.
pub(crate) async fn with_session<R>(
    server: &Server,
    revision: &str,
    main: impl AsyncFnOnce(&mut Raw) -> R,
) -> R {
    with_raw(server, async |raw| {
        raw.greet(revision).await;
        main(raw).await
    })
    .await
}

impl Raw {
    pub(crate) fn new(near: Duplex) -> Self {
        Self(near)
    }

    pub(crate) async fn send(&mut self, message: Value) {
        self.send_text(&message.to_string()).await;
    }

    pub(crate) async fn send_text(&mut self, text: &str) {
        self.give(Packet::from_json(text)).await;
    }

    pub(crate) async fn give(&mut self, packet: Packet) {
        self.0.send(packet).await.expect("the server listens");
    }

    /// The next message, however long it takes. The clock is not a real one.
    pub(crate) async fn next(&mut self) -> Value {
        let next = tokio::time::timeout(Duration::from_secs(3600), self.0.next()).await;
        let packet = next.expect("a message arrives").expect("the server is there").expect("no fault");
        serde_json::from_str(&packet.into_json().expect("a message")).expect("JSON")
    }

    /// Nothing arrives in an hour.
    pub(crate) async fn hears_nothing(&mut self) {
        let next = tokio::time::timeout(Duration::from_secs(3600), self.0.next()).await;
        assert!(next.is_err(), "unexpected: {next:?}");
    }

    pub(crate) async fn request(&mut self, id: impl Into<Value>, method: &str, params: Value) {
        self.send(json!({ "jsonrpc": "2.0", "id": id.into(), "method": method, "params": params })).await;
    }

    pub(crate) async fn notify(&mut self, method: &str, params: Value) {
        self.send(json!({ "jsonrpc": "2.0", "method": method, "params": params })).await;
    }

    /// A request and its answer, which must be the next message.
    pub(crate) async fn ask(&mut self, method: &str, params: Value) -> Value {
        self.request("asked", method, params).await;
        let answer = self.next().await;
        assert_eq!(answer["id"], "asked", "{answer}");
        assert_eq!(answer["jsonrpc"], "2.0", "{answer}");
        answer
    }

    pub(crate) async fn result_of(&mut self, method: &str, params: Value) -> Value {
        let mut answer = self.ask(method, params).await;
        assert!(answer.get("result").is_some(), "{answer}");
        answer["result"].take()
    }

    /// The code of the error that a request is answered with. The shape is that of every error.
    pub(crate) async fn refusal_of(&mut self, method: &str, params: Value) -> i64 {
        let answer = self.ask(method, params).await;
        code_of(&answer)
    }

    pub(crate) async fn call(&mut self, tool: &str, arguments: Value) -> Value {
        self.result_of("tools/call", json!({ "name": tool, "arguments": arguments })).await
    }

    /// The client of the request with this id has left, and can be sent nothing.
    pub(crate) async fn abandon(&mut self, id: impl Into<Value>) {
        let id: RequestId = serde_json::from_value(id.into()).expect("an id");
        self.0.send(Packet::CallerLeft(id)).await.expect("the server listens");
    }

    /// Sends nothing more. The server's messages can still be received.
    pub(crate) async fn leave(&mut self) {
        self.0.close().await.expect("nothing is in the way");
    }

    /// The server has closed its side.
    pub(crate) async fn hears_the_end(&mut self) {
        assert!(self.0.next().await.is_none());
    }

    pub(crate) async fn initialize(&mut self, revision: &str) -> Value {
        let params = json!({
            "protocolVersion": revision,
            "capabilities": {},
            "clientInfo": { "name": "raw", "version": "1" },
        });
        self.ask("initialize", params).await
    }

    pub(crate) async fn greet(&mut self, revision: &str) -> Value {
        let answer = self.initialize(revision).await;
        self.notify("notifications/initialized", json!({})).await;
        answer
    }

    /// The connection still works.
    pub(crate) async fn ping(&mut self) {
        let answer = self.ask("ping", json!({})).await;
        assert_eq!(answer["result"], json!({}), "{answer}");
    }
}

/// Params of a modern request, with a description of its client.
pub(crate) fn alone(params: Value) -> Value {
    alone_with(params, json!({}))
}

/// The same, with more in its `_meta`, or with something else there. Null takes out what stands there.
pub(crate) fn alone_with(mut params: Value, more: Value) -> Value {
    let mut meta = json!({
        "io.modelcontextprotocol/protocolVersion": MODERN,
        "io.modelcontextprotocol/clientInfo": { "name": "raw", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    for (key, value) in more.as_object().expect("an object") {
        match value {
            Value::Null => drop(meta.as_object_mut().expect("an object").remove(key)),
            value => meta[key] = value.clone(),
        }
    }
    params["_meta"] = meta;
    params
}

pub(crate) fn code_of(answer: &Value) -> i64 {
    assert!(answer.get("result").is_none(), "{answer}");
    assert!(answer["error"]["message"].is_string(), "{answer}");
    answer["error"]["code"].as_i64().unwrap_or_else(|| panic!("no code: {answer}"))
}
