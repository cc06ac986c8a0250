//! The conversation: its correct messages, and the place of the fault.

use std::io::{self, BufRead};

use agentwire_tests::Recording;
use serde_json::{Value, json};

use crate::faults::{self, say};
use crate::script::{Moment, Role, Script, TransportError};

pub(crate) struct Peer {
    script: Script,
    /// How answers are spoiled from now on.
    habit: Option<TransportError>,
    /// Of what we hear: the client is under test, and we are not.
    recording: Recording,
}

impl Peer {
    pub(crate) fn new(script: Script) -> Self {
        let protocol = if script.role == Role::Agent { "acp" } else { "mcp" };
        Self { script, habit: None, recording: Recording::begin(protocol, "client") }
    }

    /// Speaks until stdin ends.
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
            // What cannot be read is not for us.
            if let Ok(message) = serde_json::from_slice::<Value>(&line) {
                self.hear(&message);
            }
        }
    }

    fn hear(&mut self, message: &Value) {
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
        if self.habit == Some(TransportError::Silent) {
            return;
        }
        let update = json!({
            "sessionUpdate": "agent_message_chunk", "content": { "type": "text", "text": text },
        });
        send(json!({ "jsonrpc": "2.0", "method": "session/update", "params":
            { "sessionId": "scripted", "update": update } }));
    }

    /// Goes wrong, if this is the moment. Whether the request with that id is still to be answered.
    fn reach(&mut self, moment: Moment, id: &Value) -> bool {
        let Some((_, fault)) = self.script.fault.filter(|(when, _)| *when == moment) else {
            return true;
        };
        match fault {
            TransportError::Exit => faults::exit(),
            TransportError::Kill => faults::kill(),
            TransportError::HalfLine => faults::half_line(),
            TransportError::CloseStdout => faults::close_stdout(),
            TransportError::CloseStdin => {
                faults::close_stdin();
                faults::sleep_for_ever();
            }
            TransportError::CloseBoth => {
                faults::close_stdout();
                faults::close_stdin();
                faults::sleep_for_ever();
            }
            TransportError::Deaf => faults::sleep_for_ever(),
            TransportError::Flood => faults::flood(),
            TransportError::Garbage => faults::garbage(),
            TransportError::LongLine => {
                faults::long_line(
                    "{\"jsonrpc\":\"2.0\",\"method\":\"_pad\",\"params\":{\"pad\":\"",
                    "\"}}\n",
                );
            }
            TransportError::LongAnswer => {
                let start = format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{\"pad\":\"");
                faults::long_line(&start, "\"}}\n");
                return false;
            }
            TransportError::LongEnd => {
                faults::long_line("", "");
                faults::exit();
            }
            TransportError::Chatter => faults::chatter(),
            TransportError::Refuse => {
                send(json!({ "jsonrpc": "2.0", "id": id, "error":
                    { "code": -32000, "message": "scripted: I would rather not" } }));
                return false;
            }
            TransportError::WrongShape => {
                send(json!({ "jsonrpc": "2.0", "id": id, "result": "scripted" }));
                return false;
            }
            TransportError::Silent
            | TransportError::Strays
            | TransportError::WrongId
            | TransportError::Version
            | TransportError::Deafen => {
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
            Some(TransportError::Silent) => {}
            Some(TransportError::WrongId) => response(&stranger, &result),
            Some(TransportError::Strays) => {
                response(&stranger, &result);
                response(id, &result);
                response(id, &result);
            }
            Some(TransportError::Version) if self.script.role == Role::Agent => {
                result["protocolVersion"] = json!(99);
                response(id, &result);
            }
            Some(TransportError::Version) => {
                result["protocolVersion"] = json!("2999-12-31");
                response(id, &result);
            }
            Some(TransportError::Deafen) => {
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
    say(format!("{message}\n").as_bytes());
}
