//! A modern client, of 2026-07-28.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use http::{Method, StatusCode};
use serde_json::{Value, json};

use crate::exchange::{Answer, Exchange};
use crate::history::Count;
use crate::wire::{Events, Reply, Wire, text};

const REVISION: &str = "2026-07-28";
/// The rounds of questions that a call may have.
const ROUNDS: usize = 4;

/// The client. Clones share its request ids.
#[derive(Clone, Debug)]
pub(crate) struct Modern {
    pub(crate) wire: Wire,
    next: Arc<AtomicI64>,
}

impl Modern {
    pub(crate) fn new(wire: &Wire) -> Self {
        Self { wire: wire.clone(), next: Arc::new(AtomicI64::new(1)) }
    }

    fn request(&self, method: &str, mut params: Value) -> (i64, String) {
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        params["_meta"] = json!({
            "io.modelcontextprotocol/protocolVersion": REVISION,
            "io.modelcontextprotocol/clientInfo": { "name": "replicas", "version": "1" },
            "io.modelcontextprotocol/clientCapabilities": {
                "elicitation": { "form": {} },
                "extensions": { "io.modelcontextprotocol/tasks": {} },
            },
            "progressToken": id,
        });
        (id, json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }).to_string())
    }

    /// Sends a request, whose name is that of the tool or the id of the task, and reads the response.
    pub(crate) async fn call(&self, method: &str, name: &str, params: Value) -> Exchange {
        let (id, body) = self.request(method, params);
        let headers = [("mcp-protocol-version", REVISION), ("mcp-method", method), ("mcp-name", name)];
        let response = match self.wire.request(Method::POST, &headers, &body).await {
            Reply::Response(response) => response,
            Reply::Lost => return Exchange::of(Answer::Lost),
            Reply::Unavailable => return Exchange::of(Answer::Refused),
        };
        let history = &self.wire.history;
        let mut exchange = Exchange::default();
        if response.headers().get("content-type").is_some_and(|form| form == "text/event-stream") {
            let mut events = Events::new(response);
            while let Some(event) = events.next(history).await {
                if exchange.take(&serde_json::from_str(&event.data).unwrap_or_default(), id) {
                    break;
                }
            }
            return exchange;
        }
        let status = response.status();
        let Some(body) = text(response).await else { return exchange };
        if !exchange.take(&serde_json::from_str(&body).unwrap_or_default(), id) {
            history.violation(format!("{method} was answered {status}: {body}"));
        }
        exchange
    }

    pub(crate) async fn tool(&self, name: &str, arguments: Value) -> Exchange {
        self.call("tools/call", name, json!({ "name": name, "arguments": arguments })).await
    }

    /// Calls a tool that asks, and answers it. With `again` the last round is sent twice, as by a client that has lost the
    /// answer: the work must not be done twice.
    pub(crate) async fn ask(&self, name: &str, arguments: &Value, again: bool) -> Exchange {
        let mut params = json!({ "name": name, "arguments": arguments });
        for _ in 0..ROUNDS {
            let exchange = self.call("tools/call", name, params.clone()).await;
            let Answer::Result(result) = &exchange.answer else { return exchange };
            if result["resultType"] != "input_required" {
                if again && params.get("requestState").is_some() {
                    self.call("tools/call", name, params).await;
                }
                return exchange;
            }
            self.wire.history.count(Count::Answers);
            let answer = json!({ "action": "accept", "content": { "word": "yes" } });
            let keys =
                result["inputRequests"].as_object().into_iter().flat_map(|asked| asked.keys().cloned());
            params["inputResponses"] =
                keys.map(|key| (key, answer.clone())).collect::<serde_json::Map<_, _>>().into();
            params["requestState"] = result["requestState"].clone();
        }
        self.wire.history.violation(format!("{name} asks more than {ROUNDS} times"));
        Exchange::default()
    }

    /// Subscribes to a resource. `None` if that was not possible now.
    pub(crate) async fn listen(&self, uri: &str) -> Option<Events> {
        const METHOD: &str = "subscriptions/listen";
        let (_, body) = self.request(METHOD, json!({ "notifications": { "resourceSubscriptions": [uri] } }));
        let headers = [("mcp-protocol-version", REVISION), ("mcp-method", METHOD)];
        let Reply::Response(response) = self.wire.request(Method::POST, &headers, &body).await else {
            return None;
        };
        if response.status() == StatusCode::OK {
            return Some(Events::new(response));
        }
        let status = response.status();
        let why = text(response).await.unwrap_or_default();
        self.wire.history.violation(format!("{METHOD} was answered {status}: {why}"));
        None
    }
}
