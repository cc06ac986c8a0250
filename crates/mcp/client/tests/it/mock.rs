//! A scripted server that reads and writes plain JSON.

use std::time::Duration;

use agentwire_mcp_client::{BoxError, Client, Era, RemoteServer};
use agentwire_schema_tests::{Conversation, Side, checked};
use agentwire_transport::{Duplex, Packet, duplex};
use futures::future::LocalBoxFuture;
use futures::{SinkExt, StreamExt};
use serde_json::{Value, json};

pub(crate) const NEWEST: &str = "2025-11-25";
pub(crate) const MODERN: &str = "2026-07-28";

pub(crate) struct Mock {
    transport: Duplex,
    /// Everything that the client has sent.
    pub(crate) heard: Vec<Value>,
}

type Main<'a, R> = Box<dyn FnOnce(RemoteServer) -> LocalBoxFuture<'a, Result<R, BoxError>> + 'a>;

/// Runs `main` as the code of a client against `script`, which plays the server.
pub(crate) async fn with_mock<R, S>(
    client: Client,
    script: impl AsyncFnOnce(Mock) -> S,
    main: impl AsyncFnOnce(RemoteServer) -> Result<R, BoxError>,
) -> (Result<R, BoxError>, S) {
    let (near, far) = duplex(16);
    let near = checked(near, Conversation::mcp(), Side::Client);
    // Of one type for all tests, so that the whole client is compiled once and not for each.
    let main: Main<'_, R> = Box::new(|server| Box::pin(async move { main(server).await }));
    let (connected, played) = tokio::join!(client.connect(near, main), script(Mock::new(far)));
    (connected.map_err(BoxError::from), played)
}

/// The same, with a legacy server that offers everything.
pub(crate) async fn with_server<R, S>(
    client: Client,
    script: impl AsyncFnOnce(Mock) -> S,
    main: impl AsyncFnOnce(RemoteServer) -> Result<R, BoxError>,
) -> (Result<R, BoxError>, S) {
    let script = async |mut mock: Mock| {
        mock.greet(NEWEST).await;
        script(mock).await
    };
    with_mock(client.era(Era::Legacy), script, main).await
}

/// The same, with a modern server.
pub(crate) async fn with_modern<R, S>(
    client: Client,
    script: impl AsyncFnOnce(Mock) -> S,
    main: impl AsyncFnOnce(RemoteServer) -> Result<R, BoxError>,
) -> (Result<R, BoxError>, S) {
    let script = async |mut mock: Mock| {
        mock.describe().await;
        script(mock).await
    };
    with_mock(client.era(Era::Modern), script, main).await
}

/// The description of a modern server that offers everything.
pub(crate) fn description() -> Value {
    let changing = json!({ "listChanged": true });
    json!({
        "resultType": "complete",
        "supportedVersions": [MODERN],
        "capabilities": {
            "tools": changing, "resources": changing, "prompts": changing, "logging": {}, "completions": {},
        },
        "instructions": "Go.",
        "ttlMs": 0,
        "cacheScope": "private",
        "_meta": { "io.modelcontextprotocol/serverInfo": { "name": "mock", "version": "1" } },
    })
}

impl Mock {
    pub(crate) fn new(transport: Duplex) -> Self {
        Self { transport, heard: Vec::new() }
    }

    pub(crate) async fn send(&mut self, message: Value) {
        self.send_text(&message.to_string()).await;
    }

    pub(crate) async fn packet(&mut self, packet: Packet) {
        self.transport.send(packet).await.expect("the client listens");
    }

    /// Sends text, whether it is a message or not.
    pub(crate) async fn send_text(&mut self, text: &str) {
        self.packet(Packet::from_json(text)).await;
    }

    /// The client's next message, without a time limit. `None` once the client has closed the connection.
    pub(crate) async fn next(&mut self) -> Option<Value> {
        let next = tokio::time::timeout(Duration::from_secs(86_400), self.transport.next()).await;
        let packet = next.expect("a message arrives")?.expect("no fault");
        let message: Value = serde_json::from_str(&packet.into_json().expect("a message")).expect("JSON");
        assert!(message.is_array() || message["jsonrpc"] == "2.0", "{message}");
        self.heard.push(message.clone());
        Some(message)
    }

    /// The next message, which must be this request or notification.
    pub(crate) async fn expect(&mut self, method: &str) -> Value {
        let message = self.next().await.unwrap_or_else(|| panic!("{method} instead of the end"));
        assert_eq!(message["method"], method, "{message}");
        without_progress_token(message)
    }

    /// The client sends nothing more.
    pub(crate) async fn expect_end(mut self) {
        assert_eq!(self.next().await, None);
    }

    pub(crate) async fn answer(&mut self, request: &Value, result: Value) {
        self.send(json!({ "jsonrpc": "2.0", "id": request["id"], "result": result })).await;
    }

    pub(crate) async fn refuse(&mut self, request: &Value, error: Value) {
        self.send(json!({ "jsonrpc": "2.0", "id": request["id"], "error": error })).await;
    }

    /// Asks the client something and gives its answer.
    pub(crate) async fn ask(&mut self, method: &str, params: Value) -> Value {
        self.send(json!({ "jsonrpc": "2.0", "id": "mock", "method": method, "params": params })).await;
        let answer = self.next().await.expect("an answer");
        assert_eq!(answer["id"], "mock", "{answer}");
        answer
    }

    /// Answers `server/discover`.
    pub(crate) async fn describe(&mut self) -> Value {
        self.describe_as(description()).await
    }

    pub(crate) async fn describe_as(&mut self, description: Value) -> Value {
        let request = self.expect("server/discover").await;
        self.answer(&request, description).await;
        request
    }

    pub(crate) async fn notify(&mut self, method: &str, params: Value) {
        self.send(json!({ "jsonrpc": "2.0", "method": method, "params": params })).await;
    }

    pub(crate) async fn greet(&mut self, revision: &str) -> Value {
        let all = json!({
            "tools": {}, "resources": { "subscribe": true }, "prompts": {}, "logging": {}, "completions": {},
        });
        self.greet_with(revision, all).await
    }

    pub(crate) async fn greet_with(&mut self, revision: &str, capabilities: Value) -> Value {
        let request = self.expect("initialize").await;
        let info = json!({ "name": "mock", "version": "1" });
        let result = json!({
            "protocolVersion": revision, "capabilities": capabilities, "serverInfo": info, "instructions": "Go.",
        });
        self.answer(&request, result).await;
        self.expect("notifications/initialized").await;
        request
    }
}

/// A request without its progress token, which is its id wherever it has one.
fn without_progress_token(mut request: Value) -> Value {
    let id = request["id"].clone();
    if let Some(params) = request["params"].as_object_mut()
        && let Some(meta) = params.get_mut("_meta").and_then(Value::as_object_mut)
        && meta.get("progressToken") == Some(&id)
    {
        meta.remove("progressToken");
        if meta.is_empty() {
            params.remove("_meta");
        }
    }
    request
}
