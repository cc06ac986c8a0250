//! `agentwire chat` at a terminal: commands that change the session, and how a conversation is continued.

use std::time::{Duration, Instant};

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::binaries::acting;
use crate::chat::script;
use crate::program::{Program, SOON};
use crate::terminal::{Terminal, converse, leaves, next};

fn agent(more: Value) -> String {
    let capabilities = json!({ "loadSession": true, "sessionCapabilities": { "list": {} } });
    let sessions =
        ["s1", "s2"].map(|id| json!({ "sessionId": id, "cwd": "/", "title": format!("title of {id}") }));
    let mut steps = json!({
        "session/list": [{ "answer": { "sessions": sessions } }],
        "session/load": ["hear", { "answer": {} }],
    });
    steps.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    acting(&script(capabilities, steps))
}

#[test]
fn a_conversation_changes_its_session() {
    let (terminal, mut chat, mut seen) = converse(&["chat", "--agent", &agent(json!({}))]);
    chat.write(b":sessions\r");
    next(&chat, &mut seen, "* s1  /  title of s1\r\n");
    next(&chat, &mut seen, "  s2  /  title of s2\r\n");
    next(&chat, &mut seen, "> ");
    chat.write(b":resume s2\r");
    next(&chat, &mut seen, "session s2");
    next(&chat, &mut seen, "> ");
    chat.write(b"hello\r");
    next(&chat, &mut seen, "> ");
    chat.write(b":sessions\r");
    next(&chat, &mut seen, "  s1  /  title of s1\r\n");
    next(&chat, &mut seen, "* s2  /  title of s2\r\n");
    next(&chat, &mut seen, "> ");
    chat.write(b":new\r");
    next(&chat, &mut seen, "session s1");
    next(&chat, &mut seen, "> ");
    chat.write(b"hello\r");
    next(&chat, &mut seen, "\"sessionId\":\"s1\"");
    next(&chat, &mut seen, "> ");
    chat.write(b"\x04");
    leaves(chat, &terminal, 0);
}

/// A session that cannot be opened leaves the open one as it is.
#[test]
fn a_session_that_cannot_be_resumed_leaves_the_open_one() {
    let agent = agent(json!({ "session/load": [{ "refuse": { "code": 1, "message": "gone" } }] }));
    let (terminal, mut chat, mut seen) = converse(&["chat", "--agent", &agent]);
    chat.write(b":resume s2\r");
    next(&chat, &mut seen, "error: ");
    next(&chat, &mut seen, "> ");
    chat.write(b"hello\r");
    next(&chat, &mut seen, "\"sessionId\":\"s1\"");
    next(&chat, &mut seen, "> ");
    chat.write(b"\x04");
    leaves(chat, &terminal, 0);
}

#[test]
fn an_interrupt_ends_a_command_and_not_the_conversation() {
    let folder = tempfile::tempdir().unwrap();
    let loads = folder.path().join("loads");
    let agent = agent(json!({ "session/load": [{ "touch": loads }, { "await": "session/cancel" }] }));
    let (terminal, mut chat, mut seen) = converse(&["chat", "--agent", &agent]);
    chat.write(b":resume s2\r");
    let deadline = Instant::now() + SOON;
    while !loads.exists() {
        assert!(Instant::now() < deadline, "the session is not loaded");
        std::thread::sleep(Duration::from_millis(10));
    }
    chat.signal(Signal::INT);
    next(&chat, &mut seen, "error: interrupted");
    next(&chat, &mut seen, "> ");
    chat.write(b"\x04");
    leaves(chat, &terminal, 0);
}

#[test]
fn the_command_to_continue_is_shown_at_the_end() {
    let terminal = Terminal::new();
    let agent = agent(json!({}));
    let chat = Program::start_at(&terminal, &["chat", "--agent", &agent, "--resume", "s1", "hello"]);
    let mut seen = 0;
    next(&chat, &mut seen, "\"text\":\"hello\"");
    next(&chat, &mut seen, "continue with: agentwire chat --agent ");
    next(&chat, &mut seen, "--cwd / --session=s1");
    leaves(chat, &terminal, 0);
}

#[test]
fn open_session_is_not_deleted() {
    let delete = json!({ "sessionCapabilities": { "delete": {} } });
    let agent = acting(&script(delete, json!({ "session/delete": [{ "answer": {} }] })));
    let (terminal, mut chat, mut seen) = converse(&["chat", "--agent", &agent]);
    chat.write(b":delete s1\r");
    next(&chat, &mut seen, "error: this session is open; `:new` first");
    next(&chat, &mut seen, "> ");
    chat.write(b":delete s2\r");
    next(&chat, &mut seen, "deleted s2");
    next(&chat, &mut seen, "> ");
    chat.write(b"\x04");
    leaves(chat, &terminal, 0);
}

#[test]
fn help_lists_every_command() {
    let (terminal, mut chat, mut seen) = converse(&["chat"]);
    chat.write(b":help\r");
    for line in [
        ":mode [ID]           show the modes, or change to one\r\n",
        ":option [ID VALUE]   show the options, or set one\r\n",
        ":new                 begin a new session\r\n",
        ":resume ID           go on with another session\r\n",
        ":sessions            list the agent's sessions of this directory; * marks this one\r\n",
        ":delete ID           delete a session\r\n",
        ":help                show this\r\n",
        ":quit                end the conversation; ^D does too\r\n",
    ] {
        next(&chat, &mut seen, line);
    }
    next(&chat, &mut seen, "> ");
    chat.write(b":quit\r");
    leaves(chat, &terminal, 0);
}

/// An agent with two modes and an option. Setting the option changes the mode, and leaves the option at a value.
fn with_settings(kept: &str) -> String {
    let options = |value: &str| {
        json!([{ "id": "model", "name": "Model", "type": "select", "currentValue": value,
            "options": [{ "value": "a", "name": "Small" }, { "value": "b", "name": "Large" }] }])
    };
    let modes = json!({ "currentModeId": "ask",
        "availableModes": [{ "id": "ask", "name": "Ask" }, { "id": "code", "name": "Write Code" }] });
    let reset = json!({ "update": { "sessionUpdate": "current_mode_update", "currentModeId": "ask" } });
    acting(&script(
        json!({}),
        json!({
            "session/new": [{ "answer": { "sessionId": "s1", "modes": modes, "configOptions": options("a") } }],
            "session/set_config_option": [reset, { "answer": { "configOptions": options(kept) } }],
            "session/set_mode": ["hear", { "answer": {} }],
        }),
    ))
}

#[test]
fn mode_and_option_of_the_command_line_hold_or_are_an_error() {
    let run = |kept: &str, arguments: &[&str]| {
        let agent = with_settings(kept);
        Program::run(&[&["chat", "--agent", &agent], arguments, &["hello"]].concat(), SOON)
    };
    let ended = run("b", &["--mode", "write code", "--option", "model=Large"]);
    ended.exits(0).prints("\"modeId\":\"code\"");
    let lost = run("a", &["--option", "model=b"]);
    lost.exits(1).reports("the agent does not keep the option `model` at `b`: it is `a`\n");
    assert_eq!(lost.stdout, "", "no prompt is sent");
    run("b", &["--mode", "plan"]).exits(2).reports("there is no mode `plan`; there are: ask, code\n");
    run("b", &["--mode", "cod"]).exits(2).reports("; there are: ask, code; did you mean `code`?\n");
    run("b", &["--option", "modle=b"]).exits(2).reports("there is no option `modle`; there are: model; did");
    run("b", &["--option", "model=larg"]).exits(2).reports("`model` cannot be `larg`; it can be: a, b\n");
}
