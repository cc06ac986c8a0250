//! `agentwire chat` with agents of the draft of version 2.

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::binaries::{acting, scripted};
use crate::chat::{chat, script, update};
use crate::program::{Program, SOON};

fn greeting() -> Value {
    let session = json!({ "delete": {}, "prompt": { "embeddedContext": {} } });
    let info = json!({ "name": "acting", "title": "Acting", "version": "1" });
    json!([{ "answer": { "protocolVersion": 2, "info": info, "capabilities": { "session": session } } }])
}

fn text(text: &str) -> Value {
    json!({ "type": "text", "text": text })
}

fn state(state: Value) -> Value {
    update("state_update", state)
}

fn idle() -> Value {
    state(json!({ "state": "idle", "stopReason": "end_turn" }))
}

/// An agent of version 2 whose turns go like this.
fn newer(turn: &[Value], more: Value) -> Value {
    let begin = [json!({ "answer": { "messageId": "u1" } }), state(json!({ "state": "running" }))];
    let turn: Vec<_> = begin.iter().chain(turn).collect();
    let mut script = script(json!({}), json!({ "initialize": greeting(), "session/prompt": turn }));
    let more = more.as_object().expect("a script is an object").clone();
    script.as_object_mut().expect("a script is an object").extend(more);
    script
}

fn working() -> [Value; 7] {
    let entries = json!([{ "content": "Look", "priority": "high", "status": "completed" }]);
    let permission = json!({ "sessionId": "s1", "title": "Delete it?", "options": [
        { "optionId": "y", "name": "Yes", "kind": "allow_once" },
        { "optionId": "n", "name": "No", "kind": "reject_once" },
    ] });
    [
        update("plan_update", json!({ "plan": { "type": "items", "planId": "p", "entries": entries } })),
        update("tool_call_update", json!({ "toolCallId": "t", "title": "Delete", "status": "in_progress" })),
        json!({ "ask": ["session/request_permission", permission] }),
        json!("hear"),
        update(
            "tool_call_update",
            json!({ "toolCallId": "t", "status": "completed",
            "content": [{ "type": "content", "content": text("gone") }] }),
        ),
        update("agent_message_chunk", json!({ "messageId": "m2", "content": text("Done.") })),
        idle(),
    ]
}

#[test]
fn a_turn_is_shown() {
    let agent = newer(&working(), json!({}));
    for protocol in ["2", "auto"] {
        let ended = chat(&agent, &["--protocol", protocol, "--yes", "hello"]);
        ended
            .exits(0)
            .reports("Plan\n  ● Look\n◐ Delete\n")
            .prints("heard ")
            .prints("\"optionId\":\"y\"")
            .reports("● Delete\n  gone\n")
            .prints("Done.\n");
    }
    chat(&agent, &["--protocol", "2", "hello"]).exits(6).prints("\"optionId\":\"n\"");
    let ended = chat(&agent, &["--protocol", "2", "--json", "hello"]);
    let objects = ended.exits(6).objects();
    let has = |kind: &str| objects.iter().filter(|object| object.get(kind).is_some()).count();
    assert_eq!(objects[0]["initialized"]["protocolVersion"], 2, "{ended}");
    assert_eq!(objects[1]["session"]["sessionId"], "s1", "{ended}");
    assert_eq!((has("update"), has("permission")), (7, 1), "{ended}");
    // The refused permission comes last.
    let end = &objects[objects.len() - 2..];
    assert_eq!(end[0], json!({ "stopReason": "end_turn" }), "{ended}");
    assert!(end[1]["error"]["message"].is_string(), "{ended}");
}

#[test]
fn a_turn_is_cancelled() {
    let turn = [
        update("agent_message_chunk", json!({ "messageId": "m1", "content": text("working") })),
        json!({ "await": "session/cancel" }),
        state(json!({ "state": "idle", "stopReason": "cancelled" })),
    ];
    let agent = acting(&newer(&turn, json!({})));
    let mut program = Program::start(&["chat", "--agent", &agent, "--protocol", "2", "hello"]);
    program.close_stdin();
    program.stdout.words("working");
    program.signal(Signal::INT);
    program.end(SOON).exits(130).reports("[cancelled]");
}

#[test]
fn a_session_is_gone_on_with() {
    let replay = json!([
        update("user_message", json!({ "messageId": "u0", "content": [text("What was it?")] })),
        update("agent_message", json!({ "messageId": "m0", "content": [text("It was this.")] })),
        "hear",
        { "answer": {} },
    ]);
    let sessions = json!([
        { "sessionId": "s0", "cwd": "/", "updatedAt": "2026-01-01T00:00:00Z" },
        { "sessionId": "s1", "cwd": "/", "updatedAt": "2026-03-01T00:00:00Z" },
    ]);
    let more = json!({
        "session/list": [{ "answer": { "sessions": sessions } }],
        "session/resume": replay,
        "session/delete": [{ "answer": {} }],
    });
    let agent = newer(&[idle()], more);
    let ended = chat(&agent, &["--protocol", "2", "--continue", "hello"]);
    ended.exits(0).reports("> What was it?\nIt was this.\nheard ").reports("\"sessionId\":\"s1\"");
    ended.reports("── end of the earlier conversation ──\n> hello\n");
    assert_eq!(ended.stdout, "", "{ended}");
    chat(&agent, &["--protocol", "2", "--list"]).exits(0).prints("s1  2026-03-01 00:00  /\n");
    chat(&agent, &["--protocol", "2", "--delete", "s0"]).exits(0).prints("deleted s0");
}

#[test]
fn an_older_agent_is_accepted_if_the_protocol_is_auto() {
    let older = script(json!({}), json!({}));
    chat(&older, &["--protocol", "auto", "hello"]).exits(0).prints("heard {\"prompt\":");
    chat(&older, &["--protocol", "2", "hello"])
        .exits(1)
        .reports("the agent speaks version 1 of the protocol");
    let newer = newer(&[idle()], json!({}));
    chat(&newer, &["--protocol", "1", "hello"])
        .exits(1)
        .reports("the agent speaks version 2 of the protocol");
    let silent = scripted("agent initialize silent");
    let ended =
        Program::run(&["chat", "--protocol", "auto", "--timeout", "4", "--agent", &silent, "hello"], SOON);
    ended.exits(124).reports("the agent did not answer initialize within 4s");
}
