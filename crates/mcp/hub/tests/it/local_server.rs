//! A server in this process whose list of tools changes whenever the test wants.

use std::sync::{Arc, Mutex, MutexGuard};

use agentwire_mcp_hub::{CustomTarget, ServerConfig};
use agentwire_transport::{Duplex, Packet, duplex};
use futures::channel::mpsc;
use futures::stream::select;
use futures::{SinkExt, StreamExt};
use serde_json::{Value, json};

/// Clones are the same server.
#[derive(Clone, Default)]
pub(crate) struct LocalServer(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    tools: Vec<(String, u64)>,
    listings: usize,
    /// Sends a message to the client, or with `None` hangs up.
    wire: Option<mpsc::UnboundedSender<Option<String>>>,
    /// How many times it reports a change right after it has listed its tools.
    restless: usize,
    /// How often the task yields before the next answer.
    delays: Vec<usize>,
}

impl LocalServer {
    pub(crate) fn config(&self, name: &str) -> ServerConfig {
        let this = self.clone();
        let target = CustomTarget::new(name, move || {
            let (near, far) = duplex(8);
            let (say, said) = mpsc::unbounded();
            this.lock().wire = Some(say);
            tokio::spawn(this.clone().serve(far, said));
            Ok(near)
        });
        ServerConfig::new(name, target)
    }

    /// Sets the tools: the name of each, and a number that its description holds. Notifies the client of the change.
    pub(crate) fn set_tools<'a>(&self, tools: impl IntoIterator<Item = (&'a str, u64)>) {
        let tools = tools.into_iter().map(|(name, version)| (name.to_owned(), version)).collect();
        self.lock().tools = tools;
        self.notify();
    }

    pub(crate) fn notify(&self) {
        let changed = json!({ "jsonrpc": "2.0", "method": "notifications/tools/list_changed" });
        if let Some(wire) = &self.lock().wire {
            let _gone = wire.unbounded_send(Some(changed.to_string()));
        }
    }

    pub(crate) fn set_restless(&self, times: usize) {
        self.lock().restless = times;
    }

    pub(crate) fn delay(&self, yields: usize) {
        self.lock().delays.push(yields);
    }

    pub(crate) fn hang_up(&self) {
        if let Some(wire) = self.lock().wire.take() {
            let _gone = wire.unbounded_send(None);
        }
    }

    /// How often its tools were listed.
    pub(crate) fn listings(&self) -> usize {
        self.lock().listings
    }

    async fn serve(self, wire: Duplex, said: mpsc::UnboundedReceiver<Option<String>>) {
        let (mut out, received) = wire.split();
        let received =
            received.map(|packet| packet.expect("memory does not fail").into_json().expect("a frame"));
        let mut happening = select(received.map(Ok), said.map(Err));
        while let Some(event) = happening.next().await {
            let answer = match event {
                Err(None) => return,
                Err(Some(said)) => Some(said),
                Ok(received) => {
                    let delay = self.lock().delays.pop().unwrap_or_default();
                    for _ in 0..delay {
                        tokio::task::yield_now().await;
                    }
                    self.answer(&serde_json::from_str(&received).unwrap())
                }
            };
            let Some(answer) = answer else { continue };
            if out.send(Packet::from_json(&answer)).await.is_err() {
                return;
            }
        }
    }

    fn answer(&self, request: &Value) -> Option<String> {
        let id = request.get("id")?;
        let result = match request["method"].as_str()? {
            "initialize" => json!({
                "protocolVersion": "2025-11-25",
                "capabilities": { "tools": { "listChanged": true } },
                "serverInfo": { "name": "played", "version": "1" },
            }),
            "tools/list" => self.list(),
            // The caller sends the tool that it meant to call, and gets the tool that it called.
            "tools/call" => {
                json!({ "content": [{ "type": "text", "text": request["params"]["name"] }] })
            }
            _ => {
                let error = json!({ "code": -32601, "message": "method not found" });
                return Some(json!({ "jsonrpc": "2.0", "id": id, "error": error }).to_string());
            }
        };
        Some(json!({ "jsonrpc": "2.0", "id": id, "result": result }).to_string())
    }

    fn list(&self) -> Value {
        let mut state = self.lock();
        state.listings += 1;
        let tool = |(name, version): &(String, u64)| json!({ "name": name, "description": version.to_string(), "inputSchema": { "type": "object" } });
        let tools: Vec<_> = state.tools.iter().map(tool).collect();
        let tells = state.restless > 0;
        state.restless = state.restless.saturating_sub(1);
        drop(state);
        if tells {
            self.notify();
        }
        json!({ "tools": tools })
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap()
    }
}
