//! The correct messages of the peer, and the places where its fault happens.

use std::io::{self, BufRead};

use agentwire_tests::Recording;
use serde_json::{Value, json};

use crate::faults::{self, write};
use crate::script::{Fault, Moment, Role, Script};

pub(crate) struct Peer {
    script: Script,
    /// The fault of all answers from now on.
    habit: Option<Fault>,
    /// The lines of the client, which is under test.
    recording: Recording,
}

impl Peer {
    pub(crate) fn new(script: Script) -> Self {
        let protocol = if script.role == Role::Agent { "acp" } else { "mcp" };
        Self { script, habit: None, recording: Recording::begin(protocol, "client") }
    }

    /// Answers requests until stdin ends.
    pub(crate) fn run(mut self) {
        self.reach(Moment::Start, &Value::Null);
        let mut line = Vec::new();
        loop {
            line.clear();
            match io::stdin().lock().read_until(b'\n', &mut line) {
                Ok(count) if count > 0 => {}
                _ => return,
            }
            if let Some(whole) = line.strip_suffix(b"\n") {
                self.recording.add("client", whole);
            }
            // Lines that are not JSON are ignored.
            if let Ok(message) = serde_json::from_slice::<Value>(&line) {
                self.handle(&message);
            }
        }
    }

    fn handle(&mut self, message: &Value) {
        let Some(method) = message["method"].as_str().filter(|_| message.get("id").is_some()) else {
            return;
        };
        let id = &message["id"];
        let (moment, result) = match (self.script.role, method) {
            (Role::Agent, "initialize") => {
                (Moment::Initialize, json!({ "protocolVersion": 1, "agentCapabilities": {} }))
            }
            (Role::Agent, "session/new") => (Moment::Open, json!({ "sessionId": "scripted" })),
            (Role::Agent, "session/prompt") => {
                self.update("working ");
                (Moment::Turn, json!({ "stopReason": "end_turn" }))
            }
            (Role::Server, "initialize") => (Moment::Initialize, greeting(message)),
            (Role::Server, "tools/list") => (Moment::Open, tools()),
            (Role::Server, "tools/call") => {
                (Moment::Turn, json!({ "content": [{ "type": "text", "text": "pong" }] }))
            }
            _ => {
                return send(json!({ "jsonrpc": "2.0", "id": id, "error":
                    { "code": -32601, "message": "Method not found" } }));
            }
        };
        if !self.reach(moment, id) {
            return;
        }
        if moment == Moment::Turn && self.script.role == Role::Agent {
            self.update("done");
        }
        self.answer(id, result);
    }

    fn update(&self, text: &str) {
        if self.habit == Some(Fault::Silent) {
            return;
        }
        let update = json!({
            "sessionUpdate": "agent_message_chunk", "content": { "type": "text", "text": text },
        });
        send(json!({ "jsonrpc": "2.0", "method": "session/update", "params":
            { "sessionId": "scripted", "update": update } }));
    }

    /// Fails if the script names this moment. Returns true if the request with that id must still be answered.
    fn reach(&mut self, moment: Moment, id: &Value) -> bool {
        let Some((_, fault)) = self.script.fault.filter(|(when, _)| *when == moment) else {
            return true;
        };
        match fault {
            Fault::Exit => faults::exit(),
            Fault::Kill => faults::kill(),
            Fault::HalfLine => faults::half_line(),
            Fault::CloseStdout => faults::close_stdout(),
            Fault::CloseStdin => {
                faults::close_stdin();
                faults::sleep_for_ever();
            }
            Fault::CloseBoth => {
                faults::close_stdout();
                faults::close_stdin();
                faults::sleep_for_ever();
            }
            Fault::Deaf => faults::sleep_for_ever(),
            Fault::Flood => faults::flood(),
            Fault::Garbage => faults::garbage(),
            Fault::LongLine => {
                faults::long_line(
                    "{\"jsonrpc\":\"2.0\",\"method\":\"_pad\",\"params\":{\"pad\":\"",
                    "\"}}\n",
                );
            }
            Fault::LongAnswer => {
                let start = format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{\"pad\":\"");
                faults::long_line(&start, "\"}}\n");
                return false;
            }
            Fault::LongEnd => {
                faults::long_line("", "");
                faults::exit();
            }
            Fault::Chatter => faults::chatter(),
            Fault::Refuse => {
                send(json!({ "jsonrpc": "2.0", "id": id, "error":
                    { "code": -32000, "message": "scripted: I would rather not" } }));
                return false;
            }
            Fault::WrongShape => {
                send(json!({ "jsonrpc": "2.0", "id": id, "result": "scripted" }));
                return false;
            }
            Fault::Silent | Fault::Strays | Fault::WrongId | Fault::Version | Fault::Deafen => {
                self.habit = Some(fault);
            }
        }
        true
    }

    fn answer(&self, id: &Value, mut result: Value) {
        let response =
            |id: &Value, result: &Value| send(json!({ "jsonrpc": "2.0", "id": id, "result": result }));
        let stranger = json!("an id that nobody used");
        match self.habit {
            Some(Fault::Silent) => {}
            Some(Fault::WrongId) => response(&stranger, &result),
            Some(Fault::Strays) => {
                response(&stranger, &result);
                response(id, &result);
                response(id, &result);
            }
            Some(Fault::Version) if self.script.role == Role::Agent => {
                result["protocolVersion"] = json!(99);
                response(id, &result);
            }
            Some(Fault::Version) => {
                result["protocolVersion"] = json!("2999-12-31");
                response(id, &result);
            }
            Some(Fault::Deafen) => {
                response(id, &result);
                faults::sleep_for_ever();
            }
            _ => response(id, &result),
        }
    }
}

fn greeting(message: &Value) -> Value {
    json!({
        "protocolVersion": message["params"]["protocolVersion"],
        "capabilities": { "tools": {} },
        "serverInfo": { "name": "scripted", "version": "1" },
    })
}

fn tools() -> Value {
    json!({ "tools": [{ "name": "ping", "description": "Say pong", "inputSchema": { "type": "object" } }] })
}

fn send(message: Value) {
    write(format!("{message}\n").as_bytes());
}
