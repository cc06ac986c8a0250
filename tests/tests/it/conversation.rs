//! The other side of a program of ours: raw lines, written and read by the test itself.

use serde_json::{Value, json};

use crate::program::Program;

/// A program, and the messages of the test to it and from it.
pub(crate) struct Conversation {
    pub(crate) program: Program,
    requests: u64,
}

impl Conversation {
    /// Starts `agentwire` with these arguments.
    pub(crate) fn with(arguments: &[&str]) -> Self {
        Self { program: Program::start(arguments), requests: 0 }
    }

    /// Starts our agent and initializes it.
    pub(crate) fn with_agent() -> Self {
        Self::with_agent_of("60")
    }

    /// The same, with the seconds that it gives its MCP servers to answer.
    pub(crate) fn with_agent_of(limit: &str) -> Self {
        let mut agent = Self::with(&["agent", "--timeout", limit]);
        let answer = agent.ask(
            "initialize",
            json!({ "protocolVersion": 1, "clientCapabilities":
            { "fs": { "readTextFile": true } } }),
        );
        assert_eq!(answer["result"]["protocolVersion"], 1, "{answer}");
        agent
    }

    /// Starts our MCP server and initializes it.
    pub(crate) fn with_server() -> Self {
        let mut server = Self::with(&["server"]);
        let answer = server.ask(
            "initialize",
            json!({ "protocolVersion": "2025-11-25", "capabilities": {},
            "clientInfo": { "name": "test", "version": "1" } }),
        );
        assert_eq!(answer["result"]["protocolVersion"], "2025-11-25", "{answer}");
        server.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        server
    }

    /// Sends a message. Returns whether the program took it.
    pub(crate) fn send(&mut self, message: &Value) -> bool {
        self.program.write(format!("{message}\n").as_bytes())
    }

    /// Sends a request and gives its id.
    pub(crate) fn request(&mut self, method: &str, params: Value) -> u64 {
        self.requests += 1;
        let id = self.requests;
        let sent = self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        assert!(sent, "{method} was not sent");
        id
    }

    /// Waits for the answer to a request.
    pub(crate) fn answer(&self, id: u64) -> Value {
        self.receive("an answer", |message| message["id"] == id && message.get("method").is_none())
    }

    /// Sends a request and waits for its answer.
    pub(crate) fn ask(&mut self, method: &str, params: Value) -> Value {
        let id = self.request(method, params);
        self.answer(id)
    }

    /// Waits for a message that `is_it` accepts.
    pub(crate) fn receive(&self, what: &str, is_it: impl Fn(&Value) -> bool) -> Value {
        self.program.stdout.until(what, |bytes| {
            let lines = bytes.split_inclusive(|byte| *byte == b'\n').filter(|line| line.ends_with(b"\n"));
            let mut messages =
                lines.map(|line| serde_json::from_slice(line).expect("each line is a message"));
            messages.find(|message| is_it(message))
        })
    }

    /// Opens a session with MCP servers, each a name and an array of the program and its arguments.
    pub(crate) fn open(&mut self, servers: &[(&str, Value)]) -> String {
        let servers = servers.iter().map(|(name, words)| {
            let arguments = &words.as_array().expect("they are words")[1..];
            json!({ "name": name, "command": words[0], "args": arguments, "env": [] })
        });
        let servers: Vec<_> = servers.collect();
        let answer = self.ask("session/new", json!({ "cwd": "/", "mcpServers": servers }));
        answer["result"]["sessionId"].as_str().expect("there is a session").to_owned()
    }

    /// Begins a turn and gives the request's id.
    pub(crate) fn prompt(&mut self, session: &str, text: &str) -> u64 {
        let prompt = json!([{ "type": "text", "text": text }]);
        self.request("session/prompt", json!({ "sessionId": session, "prompt": prompt }))
    }

    /// Takes a turn, and returns all updates of the agent in it, as one text of JSON.
    pub(crate) fn turn(&mut self, session: &str, text: &str) -> String {
        let before = self.program.stdout.text().len();
        let id = self.prompt(session, text);
        let answer = self.answer(id);
        assert_eq!(answer["result"]["stopReason"], "end_turn", "{answer}");
        self.program.stdout.text()[before..].to_owned()
    }
}
