//! The example of the README as a program, and a client of it that writes and reads lines.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;

use agentwire_schema_tests::{Conversation, Side};
use agentwire_test_support::example;
use serde_json::{Value, json};

/// How long anything that should happen at once may take on a machine that is busy.
const SOON: Duration = Duration::from_secs(20);

/// The agent, started. Each line of it must be a message as the schema has it.
pub(crate) struct Program {
    child: Child,
    stdin: Option<ChildStdin>,
    lines: Receiver<Vec<u8>>,
    conversation: Conversation,
    heard: Vec<Value>,
    next_id: u64,
}

impl Program {
    /// Starts the agent in a folder, in which it keeps its sessions.
    pub(crate) fn start(folder: &Path) -> Self {
        let mut child = Command::new(example("turn"))
            .current_dir(folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("it starts");
        let stdin = child.stdin.take();
        let mut stdout = BufReader::new(child.stdout.take().expect("it is a pipe"));
        let (send, lines) = channel();
        thread::spawn(move || {
            let mut line = Vec::new();
            while stdout.read_until(b'\n', &mut line).is_ok_and(|read| read > 0) {
                let _nobody_listens = send.send(std::mem::take(&mut line));
            }
        });
        Self { child, stdin, lines, conversation: Conversation::acp(), heard: Vec::new(), next_id: 100 }
    }

    /// Starts it and initializes it.
    pub(crate) fn ready(folder: &Path) -> Self {
        let mut program = Self::start(folder);
        let hello = program.call("initialize", json!({ "protocolVersion": 1, "clientCapabilities": {} }));
        assert_eq!(hello["result"]["protocolVersion"], 1, "{hello}");
        program
    }

    /// Writes lines, whatever they are, in one go.
    pub(crate) fn raw(&mut self, lines: &str) {
        for message in lines.lines().filter_map(|line| serde_json::from_str(line).ok()) {
            // A fault of the client's messages does not matter here.
            let _checked = self.conversation.check(Side::Client, &message);
        }
        let stdin = self.stdin.as_mut().expect("stdin is open");
        stdin.write_all(format!("{lines}\n").as_bytes()).expect("the agent reads");
    }

    pub(crate) fn notify(&mut self, method: &str, params: Value) {
        self.raw(&json!({ "jsonrpc": "2.0", "method": method, "params": params }).to_string());
    }

    pub(crate) fn ask(&mut self, id: &Value, method: &str, params: Value) {
        self.raw(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }).to_string());
    }

    pub(crate) fn request(&mut self, method: &str, params: Value) -> u64 {
        self.next_id += 1;
        self.ask(&json!(self.next_id), method, params);
        self.next_id
    }

    /// The next message for which this holds. Those before it stay.
    pub(crate) fn hear(&mut self, is_it: impl Fn(&Value) -> bool) -> Value {
        loop {
            if let Some(place) = self.heard.iter().position(&is_it) {
                return self.heard.remove(place);
            }
            let line = self.lines.recv_timeout(SOON);
            let line = line.unwrap_or_else(|why| panic!("{why}; came {:?}", self.heard));
            self.take(&line);
        }
    }

    /// The response to a request.
    pub(crate) fn answer(&mut self, id: &Value) -> Value {
        self.hear(|message| message["id"] == *id && message.get("method").is_none())
    }

    /// A request and its response.
    pub(crate) fn call(&mut self, method: &str, params: Value) -> Value {
        let id = self.request(method, params);
        self.answer(&json!(id))
    }

    /// The code of the error that a request is refused with.
    pub(crate) fn refused(&mut self, method: &str, params: Value) -> i64 {
        let response = self.call(method, params);
        response["error"]["code"].as_i64().unwrap_or_else(|| panic!("{method}: {response}"))
    }

    /// All messages that came and were not looked at, once whatever was sent before this is done with.
    pub(crate) fn rest(&mut self) -> Vec<Value> {
        self.call("session/list", json!({ "cwd": "/nowhere" }));
        std::mem::take(&mut self.heard)
    }

    /// All updates that came and were not looked at; nothing else may have come.
    pub(crate) fn updates(&mut self) -> Vec<Value> {
        let update = |message: Value| {
            assert_eq!(message["method"], "session/update", "{message}");
            message["params"]["update"].clone()
        };
        self.rest().into_iter().map(update).collect()
    }

    /// A new session with these MCP servers.
    pub(crate) fn open(&mut self, cwd: &str, servers: Value) -> String {
        let response = self.call("session/new", json!({ "cwd": cwd, "mcpServers": servers }));
        response["result"]["sessionId"].as_str().unwrap_or_else(|| panic!("{response}")).to_owned()
    }

    pub(crate) fn begin(&mut self, session: &str, text: &str) -> u64 {
        self.request("session/prompt", prompt(session, text))
    }

    pub(crate) fn stopped(&mut self, id: u64) -> String {
        let response = self.answer(&json!(id));
        response["result"]["stopReason"].as_str().unwrap_or_else(|| panic!("{response}")).to_owned()
    }

    /// Begins a turn that lasts: it waits for a permission, whose request this gives too.
    pub(crate) fn begin_long(&mut self, session: &str) -> (u64, Value) {
        let id = self.begin(session, "/call where");
        let asked = self.hear(|message| message["method"] == "session/request_permission");
        (id, asked)
    }

    /// Closes its stdin and waits for its end.
    pub(crate) fn end(mut self) -> ExitStatus {
        self.stdin = None;
        while let Ok(line) = self.lines.recv_timeout(SOON) {
            self.take(&line);
        }
        self.child.wait().expect("it is our child")
    }

    fn take(&mut self, line: &[u8]) {
        let text = std::str::from_utf8(line).expect("TR-01: it is UTF-8");
        let message: Value = serde_json::from_str(text).expect("TR-03: it is a message");
        self.conversation
            .check(Side::Server, &message)
            .unwrap_or_else(|fault| panic!("{fault}\n  in {message}"));
        if let Some(error) = message.get("error") {
            assert!(message.get("result").is_none() && error["code"].is_i64(), "RPC-02: {message}");
            let text = error["message"].as_str().expect("RPC-02");
            assert!(!text.is_empty() && !text.contains('\n'), "RPC-10: {message}");
        }
        self.heard.push(message);
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ended = self.child.kill();
        let _waited = self.child.wait();
    }
}

pub(crate) fn prompt(session: &str, text: &str) -> Value {
    json!({ "sessionId": session, "prompt": [{ "type": "text", "text": text }] })
}
