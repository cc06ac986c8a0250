//! Every hostile conversation of `chat`, with each kind of output.

use serde_json::json;

use super::{A_WHILE, Table, Turn, agent, chat, chunk, fill, one, turns};
use crate::binaries::acting;
use crate::chat::script;
use crate::program::Program;
use crate::terminal::Terminal;

#[test]
#[ignore = "takes minutes: cargo xtask ci long"]
fn of_chat_with_an_agent() {
    let mut table = Table::default();
    for turn in turns() {
        let Turn { name, protocol, .. } = turn;
        table.add(&format!("chat, version {protocol}: {name}"), &chat(&turn, &[]));
    }
    table.check();
}

#[test]
#[ignore = "takes minutes: cargo xtask ci long"]
fn of_chat_for_programs() {
    let mut table = Table::default();
    for turn in turns() {
        let Turn { name, protocol, .. } = turn;
        table.add(&format!("chat --json, version {protocol}: {name}"), &chat(&turn, &["--json"]));
    }
    table.check();
}

#[test]
#[ignore = "takes minutes: cargo xtask ci long"]
fn of_chat_at_a_terminal() {
    let mut table = Table::default();
    for turn in turns().into_iter().filter(|turn| turn.name != "a question" && turn.name != "choices") {
        let Turn { name, protocol, .. } = turn;
        let terminal = Terminal::new();
        let agent = agent(&turn);
        let chat =
            Program::start_at(&terminal, &["chat", "--protocol", protocol, "--agent", &agent, "hello"]);
        table.add(&format!("chat at a terminal, version {protocol}: {name}"), &chat.end(A_WHILE));
    }
    table.check();
}

/// Opened and listed sessions may be long as well.
#[test]
#[ignore = "takes minutes: cargo xtask ci long"]
fn of_chat_before_a_turn() {
    let answer = |item: &str, result: &str| {
        json!([fill(item, &format!(r#"{{"jsonrpc":"2.0","id":ID,"result":{result}}}"#))])
    };
    let can_list = json!({ "sessionCapabilities": { "list": {} } });
    let session = r#"{"sessionId":"","cwd":"/"},"#;
    let list = [
        ("sessions", answer(session, r#"{"sessions":[FILL{"sessionId":"","cwd":"/"}]}"#)),
        (
            "the title of a session",
            answer("x", r#"{"sessions":[{"sessionId":"","cwd":"/","title":"FILL"}]}"#),
        ),
        (
            "long titles on one page",
            answer(
                &format!(r#"{{"sessionId":"","cwd":"/","title":"{}"}},"#, "\u{9b}".repeat(10_000)),
                r#"{"sessions":[FILL{"sessionId":"","cwd":"/"}]}"#,
            ),
        ),
    ];
    let mode = r#"{"id":"","name":""},"#;
    let new = [
        (
            "modes",
            answer(
                mode,
                r#"{"sessionId":"s1","modes":{"currentModeId":"","availableModes":[FILL{"id":"","name":""}]}}"#,
            ),
        ),
        ("a mode", answer("x", r#"{"sessionId":"s1","modes":{"currentModeId":"FILL","availableModes":[]}}"#)),
        ("the session's id", answer("x", r#"{"sessionId":"FILL"}"#)),
    ];
    let greeting = answer("x", r#"{"protocolVersion":1,"agentInfo":{"name":"FILL","version":"1"}}"#);
    let list = list.map(|(name, steps)| {
        (name, script(can_list.clone(), json!({ "session/list": steps })), &["--list"][..])
    });
    let new =
        new.map(|(name, steps)| (name, script(json!({}), json!({ "session/new": steps })), &["hello"][..]));
    let greeting = ("the agent's name", script(json!({}), json!({ "initialize": greeting })), &["hello"][..]);
    let mut table = Table::default();
    for (name, script, arguments) in list.into_iter().chain(new).chain([greeting]) {
        let agent = acting(&script);
        for json in [&[][..], &["--json"]] {
            let arguments = [&["chat", "--agent", &agent][..], json, arguments].concat();
            table.add(&format!("chat {json:?}: {name}"), &Program::run(&arguments, A_WHILE));
        }
    }
    table.check();
}

/// Each of these takes a session's memory in several ways at once.
#[test]
#[ignore = "takes minutes: cargo xtask ci long"]
fn of_chat_in_which_everything_is_full() {
    let tool = |times: u32| {
        let text = r#"{"type":"content","content":{"type":"text","text":"FILL"}}"#;
        let update =
            format!(r#"{{"sessionUpdate":"tool_call","toolCallId":"c#","title":"t","content":[{text}]}}"#);
        let params = format!(r#"{{"sessionId":"s1","update":{update}}}"#);
        let line = format!(r#"{{"jsonrpc":"2.0","method":"session/update","params":{params}}}"#);
        json!({ "repeat": [times, { "fill": [1 << 20, "x", line] }] })
    };
    let mut table = Table::default();
    for json in [&[][..], &["--json"]] {
        let turn = one("a full conversation, then a long text", [tool(200), chunk("x"), chunk(r"xxxxxxx\n")]);
        table.add(&format!("chat {json:?}: {}", turn.name), &chat(&turn, json));
    }
    table.check();
}
