//! A server that has forgotten the session of a request, such as one that was restarted, has not worked on it.

use std::sync::{Arc, Mutex};

use agentwire_test_support::http::{self, Message};
use serde_json::{Value, json};

use crate::program::{Program, SOON};

/// The methods that a server received, and the number of its sessions.
#[derive(Default)]
struct State {
    heard: Vec<String>,
    sessions: usize,
}

/// Plays a server that forgets so many sessions before their first call. Returns its URL.
fn forgetting(sessions: usize, state: Arc<Mutex<State>>) -> String {
    http::serve(move |request| answer(&request, sessions, &mut state.lock().unwrap())) + "/mcp"
}

fn answer(request: &Message, forgotten: usize, state: &mut State) -> Vec<u8> {
    let request: Value = serde_json::from_slice(&request.body).unwrap_or_default();
    let method = request["method"].as_str().unwrap_or_default();
    state.heard.push(method.to_owned());
    let (status, header, result) = match method {
        "initialize" => {
            state.sessions += 1;
            let info = json!({ "name": "s", "version": "1" });
            let result = json!({ "protocolVersion": "2025-11-25", "capabilities": { "tools": {} }, "serverInfo": info });
            (200, format!("mcp-session-id: s-{}\r\n", state.sessions), result)
        }
        "notifications/initialized" => (202, String::new(), Value::Null),
        "tools/call" if state.sessions > forgotten => {
            (200, String::new(), json!({ "content": [{ "type": "text", "text": "done" }] }))
        }
        "tools/list" if state.sessions > forgotten => {
            (200, String::new(), json!({ "tools": [{ "name": "t", "inputSchema": { "type": "object" } }] }))
        }
        _ => (404, String::new(), Value::Null),
    };
    let text = match result {
        Value::Null => String::new(),
        result => json!({ "jsonrpc": "2.0", "id": request["id"], "result": result }).to_string(),
    };
    http::response(&format!("{status} Any\r\n{header}content-type: application/json"), text)
}

#[test]
fn command_is_repeated_once_in_a_new_session() {
    for (forgotten, code) in [(0, 0), (1, 0), (2, 1)] {
        let state = Arc::<Mutex<State>>::default();
        let url = forgetting(forgotten, state.clone());
        let program = Program::run(&["call", &url, "t"], SOON);
        let ended = program.exits(code);
        let calls = state.lock().unwrap().heard.iter().filter(|method| *method == "tools/call").count();
        assert_eq!(calls, forgotten.min(1) + 1, "{}", ended.stderr);
        match code {
            0 => assert_eq!(ended.stdout, "done\n"),
            _ => assert!(ended.stderr.contains("the server has ended the session"), "{}", ended.stderr),
        }
    }
}

#[test]
fn inspect_that_is_repeated_prints_once() {
    let url = forgetting(1, Arc::default());
    let program = Program::run(&["inspect", "--json", &url], SOON);
    let objects = program.exits(0).objects();
    assert_eq!(objects.len(), 1, "{program}");
    assert_eq!(objects[0]["tools"][0]["name"], "t", "{program}");
}
