//! Text of other parties reaches the terminal as text only, in every place where it is shown.
//!
//! Scripted peers put controls, marks that reorder text and line breaks into every text of theirs, and what the command
//! writes goes through a terminal's parser, which takes no control that is not ours.

use agentwire_test_support::http;
use serde_json::{Value, json};

use crate::binaries::acting;
use crate::chat::{chat, script};
use crate::program::{Ended, Program, SOON};
use crate::rows;
use crate::strict_terminal::{at_pipe, at_terminal};
use crate::terminal::{Terminal, answer, leaves, next};

/// Clears the screen, names the window, turns text around, takes back, and breaks lines.
const HOSTILE: &str = "\u{1b}[2J\u{1b}]0;own\u{7}\u{1b}P1$r\u{9b}31m\u{90}\u{9c}\u{7f}\u{8}\u{8}\r\nerror: none\n> y\
                       \u{202e}\u{2066}\u{200f}\u{61c}\u{feff}\u{2028}\u{e0041}\u{1b}";

/// Members whose values are words of the protocol, which distinguish messages.
const WORDS: &[&str] = &[
    "type",
    "sessionUpdate",
    "kind",
    "status",
    "priority",
    "severity",
    "state",
    "sessionId",
    "mode",
    "operation",
    "stopReason",
    "protocolVersion",
    "data",
    "url",
];

/// The same value with every text in it made hostile; equal texts stay equal. `all` spares not even the protocol's words.
fn hostile(value: &Value, all: bool) -> Value {
    let text = |text: &str| format!("{text}{HOSTILE}");
    match value {
        Value::String(said) => text(said).into(),
        Value::Array(values) => values.iter().map(|value| hostile(value, all)).collect(),
        Value::Object(members) => {
            let member = |(name, value): (&String, &Value)| {
                let is_word = WORDS.contains(&&**name) && value.is_string();
                let spared = is_word && (!all || name == "sessionId");
                (name.clone(), if spared { value.clone() } else { hostile(value, all) })
            };
            Value::Object(members.iter().map(member).collect())
        }
        other => other.clone(),
    }
}

/// The updates twice: with hostile texts, and with unknown words as well.
fn updates(updates: &Value) -> Vec<Value> {
    let updates = updates.as_array().expect("they are many");
    let both = |update| [false, true].map(|all| json!({ "update": hostile(update, all) }));
    updates.iter().flat_map(both).collect()
}

fn blocks() -> Value {
    json!([
        { "type": "text", "text": "text" },
        { "type": "resource_link", "name": "name", "uri": "uri:" },
        { "type": "image", "data": "aGk=", "mimeType": "image/png" },
        { "type": "audio", "data": "aGk=", "mimeType": "audio/wav" },
        { "type": "resource", "resource": { "uri": "uri:", "text": "text" } },
    ])
}

fn options() -> Value {
    let choices = json!([{ "value": "large", "name": "Large", "description": "about" }]);
    json!([{ "id": "model", "name": "Model", "description": "about", "type": "select", "currentValue": "large", "options": choices }])
}

fn permission() -> Value {
    let options = json!([
        { "optionId": "yes", "name": "Yes", "kind": "allow_once" },
        { "optionId": "no", "name": "No", "kind": "reject_once" },
        { "optionId": "other", "name": "Other", "kind": format!("other{HOSTILE}") },
    ]);
    let content = json!([
        { "type": "content", "content": { "type": "text", "text": "text" } },
        { "type": "diff", "path": "/path", "oldText": "old\n", "newText": "new\n" },
    ]);
    let call = json!({ "toolCallId": "c2", "title": "Delete", "kind": "delete", "name": "rm", "content": content,
        "locations": [{ "path": "/path", "line": 1 }], "rawInput": { "path": "/path" } });
    hostile(
        &json!({ "sessionId": "s1", "toolCall": call, "options": options, "title": "Delete", "description": "about" }),
        false,
    )
}

/// An agent of version 1 that is hostile in every message.
fn agent() -> Value {
    let mut said: Vec<_> = ["user_message_chunk", "agent_message_chunk", "agent_thought_chunk"]
        .iter()
        .flat_map(|kind| {
            let chunk = |block: &Value| json!({ "sessionUpdate": kind, "messageId": kind, "content": block });
            blocks().as_array().expect("they are many").iter().map(chunk).collect::<Vec<_>>()
        })
        .collect();
    let content = json!([
        { "type": "content", "content": { "type": "text", "text": "one\ntwo" } },
        { "type": "content", "content": { "type": "resource_link", "name": "name", "uri": "uri:" } },
        { "type": "diff", "path": "/path", "oldText": "old\n", "newText": "new\n" },
        { "type": "terminal", "terminalId": "t" },
    ]);
    let call = json!({ "sessionUpdate": "tool_call", "toolCallId": "c", "title": "Title", "kind": "edit", "status": "pending",
        "name": "name", "content": content, "locations": [{ "path": "/path" }], "rawInput": { "a": "b" } });
    said.extend([
        call,
        json!({ "sessionUpdate": "tool_call_update", "toolCallId": "c", "title": "Other", "status": "completed" }),
        json!({ "sessionUpdate": "plan", "entries": [{ "content": "Step", "priority": "high", "status": "pending" }] }),
        json!({ "sessionUpdate": "available_commands_update", "availableCommands": [
            { "name": "name", "description": "about", "input": { "hint": "hint" } }] }),
        json!({ "sessionUpdate": "current_mode_update", "currentModeId": "code" }),
        json!({ "sessionUpdate": "config_option_update", "configOptions": options() }),
        json!({ "sessionUpdate": "session_info_update", "title": "Title", "updatedAt": "now" }),
        json!({ "sessionUpdate": "usage_update", "used": 1, "size": 2, "cost": { "amount": 1.5, "currency": "EUR" } }),
        json!({ "sessionUpdate": "notice", "severity": "error", "title": "Title", "description": "about" }),
        json!({ "sessionUpdate": "compaction_update", "compactionId": "k", "status": "failed", "error": "why" }),
        json!({ "sessionUpdate": "nobody_knows_it", "text": "text" }),
    ]);
    let mut steps = updates(&said.into());
    steps.extend([
        json!({ "stderr": format!("{HOSTILE}\n{}\n", "long ".repeat(4000)) }),
        json!({ "notify": ["session/update", hostile(&json!({ "sessionId": "s1", "update": { "sessionUpdate": "plan" } }), false)] }),
        json!({ "ask": ["session/request_permission", permission()] }),
        "hear".into(),
        json!({ "answer": { "stopReason": format!("why{HOSTILE}") } }),
    ]);
    let modes = json!({ "currentModeId": "code", "availableModes": [{ "id": "code", "name": "Code", "description": "about" }] });
    let opened = hostile(&json!({ "sessionId": "s1", "modes": modes, "configOptions": options() }), false);
    let session = json!({ "cwd": "/", "title": "Title", "updatedAt": "now" });
    let mut listed = hostile(&session, false);
    listed["sessionId"] = format!("id{HOSTILE}").into();
    let info = hostile(&json!({ "name": "name", "title": "Title", "version": "1" }), false);
    let methods = hostile(&json!([{ "id": "login", "name": "Log in", "description": "about" }]), false);
    let capabilities = json!({ "sessionCapabilities": { "list": {}, "delete": {} } });
    script(
        json!({}),
        json!({
            "initialize": [{ "answer": { "protocolVersion": 1, "agentInfo": info, "authMethods": methods,
                "agentCapabilities": capabilities } }],
            "session/new": [{ "answer": opened }],
            "session/list": [{ "answer": { "sessions": [listed] } }],
            "session/delete": [{ "refuse": error() }],
            "session/set_mode": [{ "refuse": error() }],
            "session/prompt": steps,
        }),
    )
}

fn error() -> Value {
    json!({ "code": -32000, "message": HOSTILE, "data": { "why": HOSTILE } })
}

#[track_caller]
fn is_plain(ended: &Ended) {
    at_pipe("stdout", &ended.stdout);
    at_pipe("stderr", &ended.stderr);
}

#[test]
fn texts_of_an_agent_do_not_control_a_terminal() {
    let with = |method: &str, steps: Value| {
        let mut agent = agent();
        agent[method] = steps;
        agent
    };
    let (refuse, fail) = (json!([{ "refuse": error() }]), json!([{ "stderr": HOSTILE }, { "exit": 3 }]));
    let code = format!("code{HOSTILE}");
    let rows: [(&str, Value, &[&str]); 11] = [
        ("a turn", agent(), &["hello"]),
        ("a turn that is permitted", agent(), &["--yes", "hello"]),
        ("its sessions", agent(), &["--list"]),
        ("a session that is not deleted", agent(), &["--delete", "s1"]),
        ("a mode that is not set", agent(), &["--mode", &code, "hello"]),
        ("a mode that is not there", agent(), &["--mode", "other", "hello"]),
        ("an option that is not there", agent(), &["--option", "other=1", "hello"]),
        ("a greeting that is refused", with("initialize", refuse.clone()), &["hello"]),
        ("a session that is refused", with("session/new", refuse.clone()), &["hello"]),
        ("a turn that is refused", with("session/prompt", refuse), &["hello"]),
        ("its end", with("session/prompt", fail), &["hello"]),
    ];
    rows::for_each(&rows, |(name, agent, arguments)| {
        let ended = chat(agent, arguments);
        assert!(ended.code() == Some(0) || ended.stderr.contains("error: "), "{name}: {ended}");
        is_plain(&ended);
        let ended = chat(agent, &[&["--json"], *arguments].concat());
        assert!(!ended.objects().is_empty(), "{name}: {ended}");
        is_plain(&ended);
    });
}

/// An agent of the draft of version 2.
#[test]
fn texts_of_a_v2_agent_do_not_control_a_terminal() {
    let info = hostile(&json!({ "name": "name", "title": "Title", "version": "1" }), false);
    let greeting = json!({ "protocolVersion": 2, "info": info, "capabilities": { "session": {} } });
    let mut said: Vec<_> = ["user_message_chunk", "agent_message_chunk", "agent_thought_chunk"]
        .iter()
        .flat_map(|kind| {
            let chunk = |block: &Value| json!({ "sessionUpdate": kind, "messageId": kind, "content": block });
            blocks().as_array().expect("they are many").iter().map(chunk).collect::<Vec<_>>()
        })
        .collect();
    let changes = json!([{ "operation": "modify", "path": "/path" }, { "operation": "move", "oldPath": "/a", "path": "/path" }]);
    let content = json!([
        { "type": "content", "content": { "type": "text", "text": "one\ntwo" } },
        { "type": "diff", "changes": changes, "patch": { "format": "unified", "text": "-old\n+new\n" } },
    ]);
    said.extend([
        json!({ "sessionUpdate": "agent_message", "messageId": "whole", "content": blocks() }),
        json!({ "sessionUpdate": "tool_call_update", "toolCallId": "c", "title": "Title", "status": "in_progress", "content": content }),
        json!({ "sessionUpdate": "plan_update", "plan": { "type": "items", "planId": "p", "entries":
            [{ "content": "Step", "priority": "high", "status": "pending" }] } }),
        json!({ "sessionUpdate": "config_option_update", "configOptions": options() }),
        json!({ "sessionUpdate": "session_info_update", "title": "Title" }),
        json!({ "sessionUpdate": "notice", "severity": "error", "title": "Title", "description": "about" }),
        json!({ "sessionUpdate": "nobody_knows_it", "text": "text" }),
    ]);
    let mut steps = vec![
        json!({ "answer": { "messageId": "u1" } }),
        json!({ "update": { "sessionUpdate": "state_update", "state": "running" } }),
    ];
    steps.extend(updates(&said.into()));
    let subject = hostile(&json!({ "type": "command", "command": "rm -rf /", "cwd": "/" }), false);
    let mut permission = permission();
    permission["subject"] = subject;
    steps.extend([
        json!({ "stderr": HOSTILE }),
        json!({ "ask": ["session/request_permission", permission] }),
        "hear".into(),
        json!({ "update": { "sessionUpdate": "state_update", "state": "idle", "stopReason": "end_turn" } }),
    ]);
    let agent = script(
        json!({}),
        json!({ "initialize": [{ "answer": greeting }], "session/prompt": steps,
            "session/new": [{ "answer": hostile(&json!({ "sessionId": "s1", "configOptions": [] }), false) }] }),
    );
    for more in [&[][..], &["--json"], &["--yes"]] {
        let ended = chat(&agent, &[&["--protocol", "2", "hello"], more].concat());
        is_plain(ended.exits(if more == ["--yes"] { 0 } else { 6 }));
    }
}

/// At a terminal, where colours and questions are drawn.
#[test]
fn questions_of_an_agent_do_not_control_a_terminal() {
    let mut agent = agent();
    let properties = json!({
        "name": { "type": "string", "title": "Name", "description": "about", "default": "it" },
        "size": { "type": "string", "oneOf": [{ "const": "l", "title": "Large" }], "title": "Size" },
    });
    let mut form = hostile(
        &json!({ "sessionId": "s1", "message": "What?", "mode": "form", "requestedSchema":
            { "type": "object", "title": "Title", "description": "about", "properties": properties } }),
        false,
    );
    form["requestedSchema"]["properties"][format!("p{HOSTILE}")] = json!({ "type": "boolean" });
    let visit = hostile(
        &json!({ "sessionId": "s1", "message": "Where?", "mode": "url", "elicitationId": "e", "url": "https://x.test/" }),
        false,
    );
    let steps = agent["session/prompt"].as_array_mut().expect("they are many");
    let end = steps.pop().expect("it ends");
    steps.extend([
        json!({ "ask": ["elicitation/create", form] }),
        json!({ "ask": ["elicitation/create", visit] }),
        end,
    ]);
    let terminal = Terminal::new();
    let mut chat = Program::start_at(&terminal, &["chat", "--agent", &acting(&agent), "hello"]);
    let mut seen = 0;
    next(&chat, &mut seen, "then Enter:");
    next(&chat, &mut seen, "\x1b[2K> ");
    answer(&mut chat, &mut seen, "> ", "r", "asks:");
    for _ in 0..3 {
        next(&chat, &mut seen, "\x1b[2K> ");
        chat.write(b"\r");
    }
    next(&chat, &mut seen, "Send this? [y/n] ");
    answer(&mut chat, &mut seen, "Send this? [y/n] ", "y", "asks:");
    next(&chat, &mut seen, "\x1b[2KDo you agree to visit it? [y/n] ");
    answer(&mut chat, &mut seen, "Do you agree to visit it? [y/n] ", "n", "why");
    let shown = chat.stdout.text();
    // The reason for which the turn stops is none that is known.
    leaves(chat, &terminal, 1);
    at_terminal(&shown);
}

/// A server that is hostile in every message.
fn server() -> Value {
    let schema = json!({ "type": "object", "properties": { format!("a{HOSTILE}"): { "type": "string", "description": HOSTILE } } });
    let mut tool = hostile(&json!({ "name": "tool", "title": "Title", "description": "about\nmore" }), false);
    tool["inputSchema"] = schema;
    let mut content = hostile(&blocks(), false);
    let unknown = hostile(&json!([{ "type": "unknown", "text": "text" }]), true);
    content.as_array_mut().expect("they are many").extend(unknown.as_array().expect("it is one").clone());
    let info = hostile(&json!({ "name": "name", "title": "Title", "version": "1" }), false);
    json!({
        "initialize": [
            { "stderr": HOSTILE },
            { "answer": { "protocolVersion": "2025-11-25", "serverInfo": info, "capabilities": { "tools": {} } } },
        ],
        "tools/list": [{ "answer": { "tools": [tool] } }],
        "tools/call": [
            { "progress": HOSTILE },
            { "notify": ["notifications/message", { "level": "error", "logger": HOSTILE, "data": HOSTILE }] },
            { "stderr": format!("{HOSTILE}\n") },
            { "ask": ["elicitation/create", { "message": HOSTILE, "requestedSchema": { "type": "object", "properties": {} } }] },
            { "answer": { "content": content, "structuredContent": { "a": HOSTILE }, "isError": true } },
        ],
    })
}

#[test]
fn texts_of_a_server_do_not_control_a_terminal() {
    let with = |method: &str, steps: Value| {
        let mut server = server();
        server[method] = steps;
        server
    };
    let (refuse, fail) = (json!([{ "refuse": error() }]), json!([{ "stderr": HOSTILE }, { "exit": 3 }]));
    let rows: [(Value, &[&str]); 6] = [
        (server(), &["tools"]),
        (server(), &["call"]),
        (with("initialize", refuse.clone()), &["tools"]),
        (with("tools/list", refuse.clone()), &["tools"]),
        (with("tools/call", refuse), &["call"]),
        (with("tools/call", fail), &["call"]),
    ];
    rows::for_each(&rows, |(server, arguments)| {
        let server = acting(server);
        let mut arguments = [arguments, &["--era", "legacy", &*server][..]].concat();
        arguments.extend((arguments[0] == "call").then_some("tool"));
        for json in [false, true] {
            arguments.extend(json.then_some("--json"));
            let ended = Program::run(&arguments, SOON);
            assert!(!ended.stdout.is_empty() || ended.stderr.contains("error: "), "{ended}");
            is_plain(&ended);
            // A tool takes one line, even with a hostile name.
            assert!(arguments[0] != "tools" || ended.stdout.lines().count() <= 1, "{ended}");
        }
    });
}

/// Our own agent reports its servers on stderr, and they write there as well.
#[test]
fn texts_of_a_server_of_our_agent_do_not_control_a_terminal() {
    let server = acting(&server());
    for prompt in ["/tools", "/call tool {}"] {
        let mcp = format!("bad={server}");
        is_plain(Program::run(&["chat", "--mcp", &mcp, prompt], SOON).exits(0));
    }
}

/// Answers every request in the same way. Gives its URL.
fn answering(head: &str, body: &str) -> String {
    let response = format!("{head}\r\nconnection: close\r\ncontent-length: {}\r\n\r\n{body}", body.len());
    http::serve(move |_| response.clone())
}

/// The texts of a server on the network beside messages: the status, headers, pages, and the fields of events.
#[test]
fn texts_of_http_do_not_control_a_terminal() {
    // What may stand in a head as bytes, and what may not.
    let high = "\u{9b}31m\u{90}\u{202e}\u{2066}\u{feff}\u{2028}\u{e0041}";
    let low = "\u{1b}[2J\u{1b}]0;own\u{7}\u{7f}\u{8}";
    let error = json!({ "jsonrpc": "2.0", "id": null, "error": hostile(&error(), false) }).to_string();
    let event = |fields: &str| {
        fields.replace('@', &HOSTILE.replace(['\r', '\n'], "")) + "\n\n" + "data: " + &error + "\n\n"
    };
    let json = "content-type: application/json";
    let events = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream";
    let rows: Vec<(String, String)> = [
        (format!("HTTP/1.1 500 {high}"), String::new()),
        (format!("HTTP/1.1 500 {low}"), String::new()),
        (format!("HTTP/1.1 9{high}"), String::new()),
        (HOSTILE.to_owned(), HOSTILE.to_owned()),
        (format!("HTTP/1.1 200 OK\r\ncontent-type: text/{high}"), HOSTILE.to_owned()),
        (format!("HTTP/1.1 200 OK\r\ncontent-type: text/{low}"), HOSTILE.to_owned()),
        (format!("HTTP/1.1 200 OK\r\n{json}\r\ncontent-encoding: {high}"), HOSTILE.to_owned()),
        (format!("HTTP/1.1 200 OK\r\n{json}\r\nmcp-session-id: {high}"), HOSTILE.to_owned()),
        (format!("HTTP/1.1 200 OK\r\n{high}: {high}"), HOSTILE.to_owned()),
        (
            format!("HTTP/1.1 401 No\r\nwww-authenticate: Bearer realm=\"{high}\", error=\"{high}\""),
            HOSTILE.to_owned(),
        ),
        (format!("HTTP/1.1 302 Found\r\nlocation: http://127.0.0.1:1/{high}"), HOSTILE.to_owned()),
        (format!("HTTP/1.1 307 Again\r\nlocation: {high}"), HOSTILE.to_owned()),
        ("HTTP/1.1 308 Gone\r\nlocation: /%1b[2J%9b%0d%0a".to_owned(), HOSTILE.to_owned()),
        ("HTTP/1.1 500 No\r\ncontent-type: text/html".to_owned(), format!("<html><h1>{HOSTILE}</h1></html>")),
        (format!("HTTP/1.1 403 No\r\n{json}"), error.clone()),
        (format!("HTTP/1.1 400 No\r\n{json}"), error.clone()),
        (format!("HTTP/1.1 200 OK\r\n{json}"), HOSTILE.to_owned()),
        (format!("HTTP/1.1 200 OK\r\n{json}"), error.clone()),
        (events.to_owned(), event("event: @\ndata: @")),
        (events.to_owned(), event(": @\nid: @\nretry: @\n@: @\ndata: 1")),
        (events.to_owned(), event("event: endpoint\ndata: @")),
        (events.to_owned(), event("event: endpoint\ndata: http://127.0.0.1:1/@")),
    ]
    .into();
    rows::for_each(&rows, |(head, body)| {
        let url = answering(head, body);
        let mcp = format!("web={url}");
        let commands: [&[&str]; 6] = [
            &["tools", "--era", "legacy", &url],
            &["tools", "--era", "modern", &url],
            &["tools", &url],
            &["tools", "--json", &url],
            &["call", &url, "tool"],
            &["chat", "--mcp", &mcp, "/tools"],
        ];
        for command in commands {
            let limited = [&command[..1], &["--timeout", "10"], &command[1..]].concat();
            let ended = Program::run(&limited, SOON);
            assert!(ended.stderr.contains("error: ") || command[0] == "chat", "{ended}");
            is_plain(&ended);
        }
    });
}
