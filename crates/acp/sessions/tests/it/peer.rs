//! A client that sends and reads raw JSON without this project's types, so that it cannot share their mistakes.

use std::collections::VecDeque;
use std::time::Duration;

use agentwire_acp_sessions::SessionAgent;
use agentwire_schema_tests::{Conversation, Side, checked};
use agentwire_transport::{Duplex, Packet, duplex};
use futures::{SinkExt, StreamExt};
use serde_json::{Value, json};

/// How long the client waits for a message, on a clock that is paused.
const PATIENCE: Duration = Duration::from_secs(600);

pub(crate) struct Peer {
    wire: Duplex,
    next_id: u64,
    /// Read while something else was waited for.
    kept: VecDeque<Value>,
}

/// The capabilities of a client that can do everything.
pub(crate) fn capable() -> Value {
    json!({
        "fs": { "readTextFile": true, "writeTextFile": true },
        "terminal": true,
        "session": { "configOptions": { "boolean": {} }, "notices": {} },
        "auth": { "terminal": true },
    })
}

/// Serves an agent to a client that the test plays. Each message of the agent is checked by the schema.
pub(crate) async fn play(agent: SessionAgent, client: impl AsyncFnOnce(&mut Peer)) {
    let (near, far) = duplex(64);
    let near = checked(near, Conversation::acp(), Side::Server);
    let client = async move {
        let mut peer = Peer { wire: far, next_id: 0, kept: VecDeque::new() };
        client(&mut peer).await;
        drop(peer);
    };
    let (served, ()) = futures::join!(agent.serve(near), client);
    served.expect("the client left in good order");
}

/// As [`play`], with `initialize` done.
pub(crate) async fn with(agent: SessionAgent, client: impl AsyncFnOnce(&mut Peer)) {
    play(agent, async |peer| {
        peer.initialize(capable()).await;
        client(peer).await;
    })
    .await;
}

impl Peer {
    pub(crate) async fn send(&mut self, message: Value) {
        self.wire.send(Packet::from_json(&message.to_string())).await.expect("the agent listens");
    }

    pub(crate) async fn notify(&mut self, method: &str, params: Value) {
        self.send(json!({ "jsonrpc": "2.0", "method": method, "params": params })).await;
    }

    pub(crate) async fn request(&mut self, method: &str, params: Value) -> u64 {
        self.next_id += 1;
        let id = self.next_id;
        self.send(json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })).await;
        id
    }

    pub(crate) async fn answer(&mut self, request: &Value, result: Value) {
        self.send(json!({ "jsonrpc": "2.0", "id": request["id"], "result": result })).await;
    }

    /// The next message.
    pub(crate) async fn next(&mut self) -> Value {
        match self.kept.pop_front() {
            Some(message) => message,
            None => self.read().await.expect("a message comes"),
        }
    }

    async fn read(&mut self) -> Option<Value> {
        let packet = tokio::time::timeout(PATIENCE, self.wire.next()).await.ok()??;
        let text = packet.expect("memory does not fail").into_json().expect("a frame");
        Some(serde_json::from_str(&text).expect("JSON"))
    }

    /// Forgets what came before what was waited for.
    pub(crate) fn drain(&mut self) {
        self.kept.clear();
    }

    /// The next message, if there is one.
    pub(crate) async fn late(&mut self) -> Option<Value> {
        self.read().await
    }

    /// Sees that nothing comes.
    pub(crate) async fn silence(&mut self) {
        assert!(self.kept.is_empty(), "expected silence, came {:?}", self.kept);
        let came = tokio::time::timeout(PATIENCE, self.wire.next()).await;
        assert!(came.is_err(), "expected silence, came {came:?}");
    }

    /// The next request of that method; what comes before it is kept for later.
    pub(crate) async fn asked(&mut self, method: &str) -> Value {
        self.find(|message| message["method"] == method && message.get("id").is_some()).await
    }

    pub(crate) async fn told(&mut self, update: &str) -> Value {
        let found = self.find(|message| message["params"]["update"]["sessionUpdate"] == update).await;
        found["params"]["update"].clone()
    }

    /// The response to a request; what comes before it is kept for later.
    pub(crate) async fn response(&mut self, id: u64) -> Value {
        self.find(|message| message["id"] == id && message.get("method").is_none()).await
    }

    async fn find(&mut self, wanted: impl Fn(&Value) -> bool) -> Value {
        if let Some(place) = self.kept.iter().position(&wanted) {
            return self.kept.remove(place).unwrap();
        }
        loop {
            let message = self.read().await.unwrap_or_else(|| panic!("it comes; came {:?}", self.kept));
            if wanted(&message) {
                return message;
            }
            self.kept.push_back(message);
        }
    }

    /// All updates that came so far and were not looked at, in order; nothing else may have come.
    pub(crate) fn updates(&mut self) -> Vec<Value> {
        let update = |message: Value| {
            assert_eq!(message["method"], "session/update", "{message}");
            message["params"]["update"].clone()
        };
        self.kept.drain(..).map(update).collect()
    }

    pub(crate) async fn call(&mut self, method: &str, params: Value) -> Value {
        let id = self.request(method, params).await;
        let response = self.response(id).await;
        assert!(response.get("result").is_some(), "{method}: {response}");
        response["result"].clone()
    }

    /// The code of the error that a request is refused with.
    pub(crate) async fn refused(&mut self, method: &str, params: Value) -> i64 {
        let id = self.request(method, params).await;
        let response = self.response(id).await;
        response["error"]["code"].as_i64().unwrap_or_else(|| panic!("{method}: {response}"))
    }

    pub(crate) async fn initialize(&mut self, capabilities: Value) -> Value {
        let params = json!({ "protocolVersion": 1, "clientCapabilities": capabilities });
        self.call("initialize", params).await
    }

    /// A new session.
    pub(crate) async fn open(&mut self, cwd: &str) -> String {
        let session = self.call("session/new", json!({ "cwd": cwd, "mcpServers": [] })).await;
        session["sessionId"].as_str().unwrap().to_owned()
    }

    pub(crate) async fn begin_prompt(&mut self, session: &str, text: &str) -> u64 {
        let prompt = json!([{ "type": "text", "text": text }]);
        self.request("session/prompt", json!({ "sessionId": session, "prompt": prompt })).await
    }

    /// A whole turn: why it stopped.
    pub(crate) async fn prompt(&mut self, session: &str, text: &str) -> String {
        let id = self.begin_prompt(session, text).await;
        self.stopped(id).await
    }

    pub(crate) async fn stopped(&mut self, id: u64) -> String {
        let response = self.response(id).await;
        response["result"]["stopReason"].as_str().unwrap_or_else(|| panic!("{response}")).to_owned()
    }

    pub(crate) async fn cancel(&mut self, session: &str) {
        self.notify("session/cancel", json!({ "sessionId": session })).await;
    }
}

/// The params that open a session again.
pub(crate) fn again(session: &str, cwd: &str) -> Value {
    json!({ "sessionId": session, "cwd": cwd, "mcpServers": [] })
}

/// The text of a chunk.
pub(crate) fn text(update: &Value) -> &str {
    update["content"]["text"].as_str().unwrap_or_default()
}

/// The updates, in short.
pub(crate) fn short(updates: &[Value]) -> Vec<String> {
    let short = |update: &Value| {
        let kind = update["sessionUpdate"].as_str().unwrap();
        match (kind, update["status"].as_str()) {
            ("tool_call" | "tool_call_update", status) => format!("{kind} {}", status.unwrap_or("-")),
            ("agent_message_chunk", _) => format!("agent {}", text(update)),
            ("agent_thought_chunk", _) => format!("thought {}", text(update)),
            ("user_message_chunk", _) => format!("user {}", text(update)),
            _ => kind.to_owned(),
        }
    };
    updates.iter().map(short).collect()
}
