//! A client of the endpoint, and its sessions.

pub(crate) use agentwire_test_support::net::{JSON, Raw};
use serde_json::{Value, json};

/// A session: its stream, and how to post to it.
pub(crate) struct Session {
    pub(crate) raw: Raw,
    pub(crate) endpoint: String,
    text: String,
    port: u16,
}

impl Session {
    pub(crate) async fn open(port: u16) -> Self {
        Self::open_at(port, "/sse").await
    }

    pub(crate) async fn open_at(port: u16, path: &str) -> Self {
        let mut raw = Raw::connect(port).await;
        raw.send(&format!("GET {path}"), &[("Accept", "text/event-stream")], "").await;
        let head = raw.head().await;
        assert_eq!((head.status, head.header("content-type")), (200, Some("text/event-stream")));
        let mut session = Self { raw, endpoint: String::new(), text: String::new(), port };
        let (name, endpoint) = session.event().await.expect("an event");
        assert_eq!(name, "endpoint");
        session.endpoint = endpoint;
        session
    }

    /// The name and the data of the next event. None at the end.
    pub(crate) async fn event(&mut self) -> Option<(String, String)> {
        loop {
            if let Some(at) = self.text.find("\n\n") {
                let block: String = self.text.drain(..at + 2).collect();
                if block.starts_with(':') {
                    continue;
                }
                let block = block.strip_prefix("event: ").expect("the name is always said");
                let (name, data) = block.split_once("\ndata: ").expect("one line of data");
                return Some((name.to_owned(), data.trim_end().to_owned()));
            }
            self.text += std::str::from_utf8(&self.raw.chunk().await?).unwrap();
        }
    }

    /// The next message, as JSON.
    pub(crate) async fn message(&mut self) -> Value {
        let (name, data) = self.event().await.expect("a message");
        assert_eq!(name, "message");
        serde_json::from_str(&data).unwrap_or_else(|error| panic!("{error}: {data}"))
    }

    /// Posts a text on a connection of its own. Gives the status and the body.
    pub(crate) async fn post(&self, body: &str) -> (u16, String) {
        let (head, body) =
            Raw::connect(self.port).await.exchange(&format!("POST {}", self.endpoint), &[JSON], body).await;
        (head.status, body)
    }

    /// Posts a request.
    pub(crate) async fn call(&self, id: u64, method: &str, params: Value) {
        let request = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        assert_eq!(self.post(&request.to_string()).await, (202, String::new()));
    }
}

pub(crate) fn result(id: u64, result: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "result": result})
}
