//! `agentwire chat` at a terminal: what a question about a permission shows, what answers it, and what a session keeps that goes on.

use std::ffi::OsStr;
use std::fs;

use serde_json::{Value, json};

use crate::binaries::acting;
use crate::chat::script;
use crate::program::Program;
use crate::terminal::{Terminal, answer, leaves, next};

/// Where the answer is typed, below the line that asks for it.
const ANSWER: &str = "\x1b[2K> ";

fn permission(call: &Value) -> Value {
    let options = json!([
        { "optionId": "yes", "name": "Yes", "kind": "allow_once" },
        { "optionId": "no", "name": "No", "kind": "reject_once" },
    ]);
    json!({ "ask": ["session/request_permission", { "sessionId": "s1", "toolCall": call, "options": options }] })
}

fn end() -> Value {
    json!({ "answer": { "stopReason": "end_turn" } })
}

/// A question may name its call by the id alone.
#[test]
fn a_question_shows_the_known_details_of_its_call() {
    let call = json!({ "sessionUpdate": "tool_call", "toolCallId": "t", "title": "Clean up", "kind": "execute",
        "rawInput": { "command": "rm -r build" } });
    let steps = json!([{ "update": call }, permission(&json!({ "toolCallId": "t" })), "hear", end()]);
    let agent = acting(&script(json!({}), json!({ "session/prompt": steps })));
    let terminal = Terminal::new();
    let mut chat = Program::start_at(&terminal, &["chat", "--agent", &agent, "hello"]);
    let mut seen = 0;
    next(
        &chat,
        &mut seen,
        "  kind: execute\r\n  input: {\"command\":\"rm -r build\"}\r\n  Clean up\r\n  1) allow",
    );
    next(&chat, &mut seen, ANSWER);
    answer(&mut chat, &mut seen, "> ", "r", "\"optionId\":\"no\"");
    leaves(chat, &terminal, 0);
}

/// The same at a terminal that edits lines itself.
#[test]
fn a_line_that_was_typed_before_the_question_is_no_answer() {
    let folder = tempfile::tempdir().expect("there is room");
    let now = folder.path().join("now");
    let call = json!({ "toolCallId": "t", "title": "Delete" });
    let steps = json!(["hear", { "until": now }, permission(&call), "hear", end()]);
    let agent = acting(&script(json!({}), json!({ "session/prompt": steps })));
    let terminal = Terminal::new();
    let variables = [("TERM", OsStr::new("dumb"))];
    let mut chat = Program::start_at_with(&terminal, &variables, &["chat", "--agent", &agent, "hello"]);
    let mut seen = 0;
    next(&chat, &mut seen, "\"text\":\"hello\"");
    chat.write(b"1\n1");
    fs::write(&now, "").expect("there is room");
    next(&chat, &mut seen, "then Enter:");
    next(&chat, &mut seen, "> ");
    chat.write(b"r\n");
    next(&chat, &mut seen, "\"optionId\":\"no\"");
    leaves(chat, &terminal, 0);
}

#[test]
fn text_typed_before_a_question_belongs_to_the_next_prompt() {
    let folder = tempfile::tempdir().expect("there is room");
    let now = folder.path().join("now");
    let call = json!({ "toolCallId": "t", "title": "Delete" });
    let steps = json!(["hear", { "until": now }, permission(&call), "hear", end()]);
    let agent = acting(&script(json!({}), json!({ "session/prompt": steps })));
    let terminal = Terminal::new();
    let mut chat = Program::start_at(&terminal, &["chat", "--agent", &agent]);
    let mut seen = 0;
    next(&chat, &mut seen, "> ");
    chat.write(b"first\r");
    next(&chat, &mut seen, "\"text\":\"first\"");
    chat.write(b"1\nand then");
    fs::write(&now, "").expect("there is room");
    next(&chat, &mut seen, ANSWER);
    answer(&mut chat, &mut seen, "> ", "r", "\"optionId\":\"no\"");
    next(&chat, &mut seen, "and then");
    chat.write(b" more\r");
    next(&chat, &mut seen, "\"text\":\"1\\nand then more\"");
    next(&chat, &mut seen, ANSWER);
    answer(&mut chat, &mut seen, "> ", "r", "\"optionId\":\"no\"");
    next(&chat, &mut seen, "> ");
    chat.write(b"\x04");
    leaves(chat, &terminal, 0);
}

/// The settings of a session are known again when another one cannot be opened in its place.
#[test]
fn a_session_that_goes_on_has_its_settings() {
    let modes = json!({ "currentModeId": "ask", "availableModes": [
        { "id": "ask", "name": "Ask" }, { "id": "code", "name": "Code", "description": "Write code" },
    ] });
    let refuse = json!([{ "refuse": { "code": 1, "message": "gone" } }]);
    let older = script(
        json!({ "loadSession": true }),
        json!({
            "session/new": [{ "answer": { "sessionId": "s1", "modes": modes } }],
            "session/load": refuse,
            "session/set_mode": [{ "answer": {} }],
        }),
    );
    let terminal = Terminal::new();
    let mut chat = Program::start_at(&terminal, &["chat", "--agent", &acting(&older)]);
    let mut seen = 0;
    for (line, shows) in [(":resume s2\r", "gone"), (":mode\r", "Write code"), (":mode code\r", "mode: code")]
    {
        next(&chat, &mut seen, "> ");
        chat.write(line.as_bytes());
        next(&chat, &mut seen, shows);
    }
    next(&chat, &mut seen, "> ");
    chat.write(b"\x04");
    leaves(chat, &terminal, 0);

    let option = json!({ "configId": "model", "name": "Model", "type": "select", "currentValue": "small",
        "options": [{ "value": "small", "name": "Small" }, { "value": "large", "name": "Large" }] });
    let info = json!({ "name": "acting", "title": "Acting", "version": "1" });
    let newer = script(
        json!({}),
        json!({
            "initialize": [{ "answer": { "protocolVersion": 2, "info": info, "capabilities": { "session": {} } } }],
            "session/new": [{ "answer": { "sessionId": "s1", "configOptions": [option] } }],
            "session/resume": refuse,
        }),
    );
    let terminal = Terminal::new();
    let agent = acting(&newer);
    let mut chat = Program::start_at(&terminal, &["chat", "--protocol", "2", "--agent", &agent]);
    let mut seen = 0;
    for (line, shows) in [
        (":resume s2\r", "gone"),
        (":option\r", "model            small of small, large  Model"),
        (":option model huge\r", "`model` cannot be `huge`; it can be: small, large"),
    ] {
        next(&chat, &mut seen, "> ");
        chat.write(line.as_bytes());
        next(&chat, &mut seen, shows);
    }
    next(&chat, &mut seen, "> ");
    chat.write(b"\x04");
    leaves(chat, &terminal, 0);
}
