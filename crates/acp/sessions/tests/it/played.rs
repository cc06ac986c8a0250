//! An MCP server in this process whose list of tools the test changes.

use std::sync::{Arc, Mutex, MutexGuard};

use agentwire_acp_sessions::hub::{CustomTarget, ServerConfig};
use agentwire_transport::{Duplex, Packet, duplex};
use futures::channel::mpsc;
use futures::stream::select;
use futures::{SinkExt, StreamExt};
use serde_json::{Value, json};

/// Clones are the same server.
#[derive(Clone, Default)]
pub(crate) struct Played(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    /// The name of each tool, and what it is described by.
    tools: Vec<(String, String)>,
    listings: usize,
    /// The tools that were called, each with its description at that moment.
    calls: Vec<(String, String)>,
    wire: Option<mpsc::UnboundedSender<String>>,
}

impl Played {
    pub(crate) fn new(tools: &[(&str, &str)]) -> Self {
        let this = Self::default();
        this.set_tools(tools);
        this
    }

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

    /// Sets the tools, and notifies the client of the change.
    pub(crate) fn set_tools(&self, tools: &[(&str, &str)]) {
        let own = |(name, about): &(&str, &str)| ((*name).to_owned(), (*about).to_owned());
        let changed = json!({ "jsonrpc": "2.0", "method": "notifications/tools/list_changed" });
        let mut state = self.lock();
        state.tools = tools.iter().map(own).collect();
        if let Some(wire) = &state.wire {
            let _gone = wire.unbounded_send(changed.to_string());
        }
    }

    /// Waits until the client has seen the tools as they are now.
    pub(crate) async fn is_seen(&self) {
        let listings = self.lock().listings;
        while self.lock().listings == listings {
            tokio::time::sleep(std::time::Duration::from_millis(1)).await;
        }
        // The answer is on its way.
        tokio::time::sleep(std::time::Duration::from_millis(1)).await;
    }

    /// The calls so far.
    pub(crate) fn calls(&self) -> Vec<(String, String)> {
        self.lock().calls.clone()
    }

    async fn serve(self, wire: Duplex, said: mpsc::UnboundedReceiver<String>) {
        let (mut out, heard) = wire.split();
        let heard = heard.map(|packet| packet.expect("memory does not fail").into_json().expect("a frame"));
        let mut happening = select(heard.map(Ok), said.map(Err));
        while let Some(event) = happening.next().await {
            let answer = match event {
                Err(said) => Some(said),
                Ok(heard) => self.answer(&serde_json::from_str(&heard).unwrap()),
            };
            if let Some(answer) = answer
                && out.send(Packet::from_json(&answer)).await.is_err()
            {
                return;
            }
        }
    }

    fn answer(&self, request: &Value) -> Option<String> {
        let id = request.get("id")?;
        let mut state = self.lock();
        let result = match request["method"].as_str()? {
            "initialize" => json!({
                "protocolVersion": "2025-11-25",
                "capabilities": { "tools": { "listChanged": true } },
                "serverInfo": { "name": "played", "version": "1" },
            }),
            "tools/list" => {
                state.listings += 1;
                let schema = json!({ "type": "object" });
                let tool = |(name, about): &(String, String)| json!({ "name": name, "description": about, "inputSchema": schema });
                json!({ "tools": state.tools.iter().map(tool).collect::<Vec<_>>() })
            }
            "tools/call" => {
                let name = request["params"]["name"].as_str()?.to_owned();
                let listed = state.tools.iter().find(|(listed, _)| *listed == name);
                let about = listed.map(|(_, about)| about.clone()).unwrap_or_default();
                state.calls.push((name, about));
                json!({ "content": [{ "type": "text", "text": "done" }] })
            }
            _ => {
                let error = json!({ "code": -32601, "message": "method not found" });
                return Some(json!({ "jsonrpc": "2.0", "id": id, "error": error }).to_string());
            }
        };
        Some(json!({ "jsonrpc": "2.0", "id": id, "result": result }).to_string())
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap()
    }
}
