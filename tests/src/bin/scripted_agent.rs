//! An ACP agent of either version that follows a script; an MCP server if the script has tools.
//!
//! ```text
//! scripted_agent '{"METHOD": [STEP, …], …}'
//! ```
//!
//! When a request comes, the steps of its method are done. A step is one of
//!
//! - `{"update": UPDATE}`: sends a `session/update` of the session `s1`;
//! - `{"large": [POINTER, LENGTH, UPDATE]}`: the same, with a text of so many bytes at a place in it; each `#` in it becomes
//!   a number that is used once;
//! - `"hear"`: sends, as a message of the agent's, the last received data: the params of a request or notification, or the
//!   response to its request;
//! - `{"ask": [METHOD, PARAMS]}`: sends a request and waits for its response; `{"begin": [METHOD, PARAMS]}` does not wait,
//!   and `"response"` does what is left;
//! - `{"notify": [METHOD, PARAMS]}`: sends a notification;
//! - `{"raw": TEXT}`: writes a line, or several at once, as they are, but for the request's id in the place of `ID`;
//! - `{"fill": [LENGTH, ITEM, TEXT]}`: the same, with as many items as make about so many bytes in the place of `FILL`; a `#`
//!   becomes a number that is used once;
//! - `{"await": METHOD}`: waits for a notification;
//! - `{"until": PATH}`: waits until there is such a file;
//! - `{"wait": MILLISECONDS}`: waits so long;
//! - `{"touch": PATH}`: makes a file;
//! - `{"unless": [PATH, STEP]}`: does a step, which ends the request, if there is no such file;
//! - `{"stderr": TEXT}`: writes to stderr;
//! - `{"progress": MESSAGE}`: reports progress of the last received request;
//! - `{"exit": CODE}`: ends;
//! - `{"repeat": [TIMES, STEP]}`: does a step again and again;
//! - `{"answer": RESULT}`, `{"refuse": ERROR}`: answers the request.
//!
//! A method without steps is "method not found". It only waits for one thing at a time: a request that comes while it waits for
//! something else is passed over.

use std::io::{self, BufRead, Write};
use std::path::Path;
use std::time::Duration;

use agentwire_tests::Recording;
use serde_json::{Value, json};

fn main() {
    let script = std::env::args().nth(1).expect("there is a script");
    let script: Value = serde_json::from_str(&script).expect("the script is JSON");
    let is_server = ["tools/list", "tools/call"].iter().any(|method| script.get(method).is_some());
    let protocol = if is_server { "mcp" } else { "acp" };
    let mut agent =
        Agent { recording: Recording::begin(protocol, "client"), received: Value::Null, count: 0 };
    while let Some(message) = agent.next() {
        let (Some(method), Some(id)) = (message["method"].as_str(), message.get("id")) else { continue };
        agent.received = message["params"].clone();
        match script[method].as_array() {
            Some(steps) => {
                for step in steps {
                    match step.get("unless") {
                        Some(unless)
                            if !Path::new(unless[0].as_str().expect("a path is a string")).exists() =>
                        {
                            agent.step(&unless[1], id);
                            break;
                        }
                        Some(_) => {}
                        None => agent.step(step, id),
                    }
                }
            }
            None => agent.answer(id, "error", &json!({ "code": -32601, "message": "Method not found" })),
        }
    }
}

struct Agent {
    /// Both sides' lines. Only those of the client are checked.
    recording: Recording,
    /// The data that `"hear"` sends.
    received: Value,
    /// Numbers that have been used, for `#` and for ids of requests.
    count: u64,
}

impl Agent {
    fn step(&mut self, step: &Value, id: &Value) {
        if step == "hear" {
            let content = json!({ "type": "text", "text": format!("heard {}", self.received) });
            let kind = "agent_message_chunk";
            return self.update(&json!({ "sessionUpdate": kind, "messageId": "m1", "content": content }));
        }
        if step == "response" {
            return self.wait_for_response();
        }
        let (name, value) = step.as_object().and_then(|step| step.iter().next()).expect("a step has a name");
        match &**name {
            "update" => self.update(value),
            "large" => {
                self.count += 1;
                let update = value[2].to_string().replace('#', &self.count.to_string());
                let mut update: Value = serde_json::from_str(&update).expect("a number is put into a text");
                let length = value[1].as_u64().expect("it is a number");
                let text = format!("{:08}{}", self.count, "x".repeat(length as usize));
                let place = value[0].as_str().and_then(|pointer| update.pointer_mut(pointer));
                *place.expect("there is such a place") = text.into();
                self.update(&update);
            }
            "ask" => {
                self.begin(value);
                self.wait_for_response();
            }
            "begin" => self.begin(value),
            "notify" => {
                self.send(&json!({ "jsonrpc": "2.0", "method": value[0], "params": value[1] }));
            }
            "raw" => {
                let text = value.as_str().expect("a line is a string").replace("ID", &id.to_string());
                // A response to it counts as a response to a request.
                let asks =
                    text.lines().filter(|line| line.contains(r#""method""#) && line.contains(r#""id""#));
                asks.for_each(|line| self.recording.add("server", line.as_bytes()));
                write_line(&text);
            }
            "fill" => {
                self.count += 1;
                let part = |index: usize| value[index].as_str().expect("it is text");
                let length = value[0].as_u64().expect("it is a number") as usize;
                let text = part(2).replace("ID", &id.to_string()).replace('#', &self.count.to_string());
                // A response to it counts as a response to a request. Its other members are not checked.
                if text.contains("\"id\":\"") {
                    self.recording.add("server", text.replace("FILL", part(1)).as_bytes());
                }
                write_line(&text.replace("FILL", &part(1).repeat(length / part(1).len())));
            }
            "await" => self.wait(|message| message["method"] == *value, "params"),
            "until" => {
                while !Path::new(value.as_str().expect("a path is a string")).exists() {
                    std::thread::sleep(Duration::from_millis(10));
                }
            }
            "wait" => std::thread::sleep(Duration::from_millis(value.as_u64().expect("it is a number"))),
            "touch" => {
                std::fs::write(value.as_str().expect("a path is a string"), "").expect("there is room")
            }
            "stderr" => {
                let text = value.as_str().expect("it is text");
                io::stderr().write_all(text.as_bytes()).expect("there is a stderr");
            }
            "progress" => {
                let token = &self.received["_meta"]["progressToken"];
                let params = json!({ "progressToken": token, "progress": 1, "total": 2, "message": value });
                self.send(&json!({ "jsonrpc": "2.0", "method": "notifications/progress", "params": params }));
            }
            "exit" => std::process::exit(
                value.as_i64().and_then(|code| code.try_into().ok()).expect("it is a code"),
            ),
            "repeat" => {
                (0..value[0].as_u64().expect("it is a number")).for_each(|_| self.step(&value[1], id))
            }
            "answer" => self.answer(id, "result", value),
            "refuse" => self.answer(id, "error", value),
            other => panic!("there is no step {other}"),
        }
    }

    fn update(&self, update: &Value) {
        let params = json!({ "sessionId": "s1", "update": update });
        self.send(&json!({ "jsonrpc": "2.0", "method": "session/update", "params": params }));
    }

    fn begin(&mut self, what: &Value) {
        self.count += 1;
        let id = self.request_id();
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": what[0], "params": what[1] }));
    }

    fn wait_for_response(&mut self) {
        let id = self.request_id();
        self.wait(|message| message["id"] == id && message.get("method").is_none(), "");
    }

    /// The id of the last request.
    fn request_id(&self) -> Value {
        json!(format!("asked-{}", self.count))
    }

    fn wait(&mut self, is_it: impl Fn(&Value) -> bool, member: &str) {
        while let Some(message) = self.next() {
            if is_it(&message) {
                self.received = message.get(member).unwrap_or(&message).clone();
                return;
            }
        }
        std::process::exit(0);
    }

    fn answer(&self, id: &Value, member: &str, value: &Value) {
        let mut message = json!({ "jsonrpc": "2.0", "id": id });
        message[member] = value.clone();
        self.send(&message);
    }

    fn next(&self) -> Option<Value> {
        let mut line = Vec::new();
        io::stdin().lock().read_until(b'\n', &mut line).expect("stdin can be read");
        let line = line.strip_suffix(b"\n")?;
        self.recording.add("client", line);
        Some(serde_json::from_slice(line).expect("the client writes JSON"))
    }

    /// Writes a message. The agent ends when its reader is gone.
    fn send(&self, message: &Value) {
        let line = message.to_string();
        self.recording.add("server", line.as_bytes());
        write_line(&line);
    }
}

fn write_line(line: &str) {
    let mut stdout = io::stdout().lock();
    if writeln!(stdout, "{line}").and_then(|()| stdout.flush()).is_err() {
        std::process::exit(4);
    }
}
