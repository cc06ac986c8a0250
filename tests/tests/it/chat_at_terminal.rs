//! `agentwire chat` with a person at a terminal who completes, sets, and is asked.

use std::ffi::OsStr;

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::binaries::acting;
use crate::chat::script;
use crate::program::Program;
use crate::terminal::{Terminal, answer, leaves, next};

/// Where the answer to a question of two lines is typed.
const ANSWER: &str = "\x1b[2K> ";

fn start(terminal: &Terminal, script: &Value) -> Program {
    let agent = acting(script);
    let chat = Program::start_at(terminal, &["chat", "--agent", &agent]);
    chat.stdout.words("> ");
    chat
}

#[test]
fn tab_completes_commands_and_files() {
    let commands = json!([{ "name": "summarize", "description": "Say it in short" }]);
    let update = json!({ "sessionUpdate": "available_commands_update", "availableCommands": commands });
    let opened = json!([{ "answer": { "sessionId": "s1" } }, { "update": update }]);
    let agent = script(json!({}), json!({ "session/new": opened }));
    let terminal = Terminal::new();
    let mut chat = start(&terminal, &agent);
    let mut seen = 0;
    next(&chat, &mut seen, "> ");
    // The commands come right behind the answer.
    chat.write(b"/sum\t");
    next(&chat, &mut seen, "/summarize");
    chat.write(b"this\r");
    next(&chat, &mut seen, "\"text\":\"/summarize this\"");
    next(&chat, &mut seen, "> ");
    chat.write(b"see @/etc/hostn\t");
    next(&chat, &mut seen, "see @/etc/hostname");
    chat.write(b"\x03");
    next(&chat, &mut seen, "^C again");
    next(&chat, &mut seen, "> ");
    chat.write(b":he\t\r");
    next(&chat, &mut seen, "list the agent's sessions of this directory");
    next(&chat, &mut seen, "> ");
    chat.write(b":quit\r");
    leaves(chat, &terminal, 0);
}

#[test]
fn the_previous_line_can_be_recalled() {
    let terminal = Terminal::new();
    let mut chat = start(&terminal, &script(json!({}), json!({})));
    let mut seen = 0;
    chat.write(b"once more\r");
    next(&chat, &mut seen, "\"text\":\"once more\"");
    next(&chat, &mut seen, "> ");
    chat.write(b"\x1b[A\r");
    next(&chat, &mut seen, "\"text\":\"once more\"");
    // ^C throws a line away, and another one ends the conversation.
    next(&chat, &mut seen, "> ");
    chat.write(b"not this\x03");
    next(&chat, &mut seen, "^C again ends the conversation.");
    next(&chat, &mut seen, "> ");
    chat.write(b"\x03");
    leaves(chat, &terminal, 0);
}

#[test]
fn no_color_applies_to_the_typed_line() {
    let terminal = Terminal::new();
    let agent = acting(&script(json!({}), json!({})));
    let variables = [("NO_COLOR", OsStr::new("1"))];
    let mut chat = Program::start_at_with(&terminal, &variables, &["chat", "--agent", &agent]);
    let mut seen = 0;
    next(&chat, &mut seen, "> ");
    chat.write(b"typed");
    next(&chat, &mut seen, "typed");
    let shown = chat.stdout.text();
    chat.write(b"\x03");
    next(&chat, &mut seen, "^C again");
    next(&chat, &mut seen, "> ");
    chat.write(b"\x03");
    leaves(chat, &terminal, 0);
    assert!(!shown.contains("\x1b[3"), "{shown:?}");
}

#[test]
fn a_line_at_a_dumb_terminal_answers_the_shown_question() {
    let options = json!([{ "optionId": "no", "name": "No", "kind": "reject_once" }]);
    let call = json!({ "toolCallId": "t", "title": "Delete" });
    let params = json!({ "sessionId": "s1", "options": options, "toolCall": call });
    let opened = json!([{ "answer": { "sessionId": "s1" } },
        { "ask": ["session/request_permission", params] }, "hear"]);
    let terminal = Terminal::new();
    let agent = acting(&script(json!({}), json!({ "session/new": opened })));
    let variables = [("TERM", OsStr::new("dumb"))];
    let mut chat = Program::start_at_with(&terminal, &variables, &["chat", "--agent", &agent]);
    let mut seen = 0;
    // What is typed before the prompt of the question is dropped.
    next(&chat, &mut seen, "then Enter:\r\n> ");
    chat.write(b"r\r");
    next(&chat, &mut seen, "\r\n> ");
    chat.write(b"a prompt\r");
    next(&chat, &mut seen, "\"text\":\"a prompt\"");
    next(&chat, &mut seen, "> ");
    chat.write(b":quit\r");
    leaves(chat, &terminal, 0);
}

#[test]
fn modes_are_shown_and_set() {
    let modes = json!({ "currentModeId": "ask", "availableModes": [
        { "id": "ask", "name": "Ask" }, { "id": "code", "name": "Code", "description": "Write code" },
    ] });
    let opened = json!([{ "answer": { "sessionId": "s1", "modes": modes } }]);
    let agent = script(json!({}), json!({ "session/new": opened, "session/set_mode": [{ "answer": {} }] }));
    let terminal = Terminal::new();
    let mut chat = start(&terminal, &agent);
    chat.write(b":mode\r");
    chat.stdout.words("Write code");
    chat.write(b":mode code\r");
    chat.stdout.words("mode: code");
    chat.write(b":nonsense\r");
    chat.stdout.words("there is no command `:nonsense`");
    chat.write(b":option\r");
    let mut seen = 0;
    next(&chat, &mut seen, "The agent offers no options.");
    next(&chat, &mut seen, "> ");
    chat.write(b"\x04");
    leaves(chat, &terminal, 0);
}

const SEND: &str = "Send this? [y/n] ";
const VISIT: &str = "Do you agree to visit it? [y/n] ";

fn form() -> Value {
    let properties = json!({
        "branch": { "type": "string", "title": "Branch", "minLength": 2 },
        "depth": { "type": "integer", "minimum": 1, "default": 50 },
        "force": { "type": "boolean" },
    });
    let schema = json!({ "type": "object", "properties": properties, "required": ["branch"] });
    let params =
        json!({ "sessionId": "s1", "message": "What to clone?", "mode": "form", "requestedSchema": schema });
    let steps = json!([{ "ask": ["elicitation/create", params] }, "hear", { "answer": { "stopReason": "end_turn" } }]);
    script(json!({}), json!({ "session/prompt": steps }))
}

#[test]
fn a_form_is_filled_in_field_by_field() {
    let terminal = Terminal::new();
    let mut chat = start(&terminal, &form());
    chat.write(b"hello\r");
    chat.stdout.words("What to clone?");
    chat.stdout.words("Branch *: ");
    chat.write(b"m\r");
    chat.stdout.words("at least 2 characters");
    chat.write(b"mayn\x7f\x7fin\r");
    chat.stdout.words("depth [50]: ");
    chat.write(b"\r");
    chat.stdout.words("force: ");
    chat.write(b"y\r");
    let mut seen = 0;
    next(&chat, &mut seen, SEND);
    let content = "{\"action\":\"accept\",\"content\":{\"branch\":\"main\",\"depth\":50,\"force\":true}}";
    answer(&mut chat, &mut seen, SEND, "y", content);
    chat.write(b"hello\r");
    next(&chat, &mut seen, "Branch *: ");
    chat.write(b"\x1b");
    next(&chat, &mut seen, "{\"action\":\"decline\"}");
    next(&chat, &mut seen, "> ");
    chat.write(b"\x04");
    leaves(chat, &terminal, 0);
}

#[test]
fn a_url_is_shown_in_full_and_not_opened() {
    let url = "https://login.example.com/authorize?client=1&next=https%3A%2F%2Fevil.test";
    let params =
        json!({ "sessionId": "s1", "message": "Log in", "mode": "url", "elicitationId": "e1", "url": url });
    let steps = json!([{ "ask": ["elicitation/create", params] }, "hear", { "answer": { "stopReason": "end_turn" } }]);
    let terminal = Terminal::new();
    let mut chat = start(&terminal, &script(json!({}), json!({ "session/prompt": steps })));
    let mut seen = 0;
    chat.write(b"hello\r");
    next(
        &chat,
        &mut seen,
        "https://\x1b[1mlogin.example.com\x1b[0m/authorize?client=1&next=https%3A%2F%2Fevil.test",
    );
    next(&chat, &mut seen, VISIT);
    answer(&mut chat, &mut seen, VISIT, "n", "{\"action\":\"decline\"}");
    next(&chat, &mut seen, "> ");
    chat.write(b"hello\r");
    next(&chat, &mut seen, VISIT);
    answer(&mut chat, &mut seen, VISIT, "y", "{\"action\":\"accept\"");
    next(&chat, &mut seen, "> ");
    chat.write(b"\x04");
    leaves(chat, &terminal, 0);
}

/// Text that is typed before a question stands there was not meant for it.
#[test]
fn a_question_is_not_answered_by_earlier_typing() {
    let options = json!([
        { "optionId": "yes", "name": "Yes", "kind": "allow_once" },
        { "optionId": "no", "name": "No", "kind": "reject_once" },
    ]);
    let params = json!({ "sessionId": "s1", "options": options, "toolCall": { "toolCallId": "t", "title": "Delete it" } });
    let said =
        json!({ "sessionUpdate": "agent_message_chunk", "content": { "type": "text", "text": "Thinking" } });
    let folder = tempfile::tempdir().expect("there is room");
    let now = folder.path().join("now");
    let steps = json!([
        { "update": said },
        { "until": now },
        { "ask": ["session/request_permission", params] },
        "hear",
        { "answer": { "stopReason": "end_turn" } },
    ]);
    let terminal = Terminal::new();
    let mut chat = start(&terminal, &script(json!({}), json!({ "session/prompt": steps })));
    let mut seen = 0;
    chat.write(b"hello\r");
    next(&chat, &mut seen, "Thinking");
    chat.write(b"a\n");
    std::fs::write(now, "").expect("it can be written");
    next(&chat, &mut seen, "2) reject once (r): No");
    next(&chat, &mut seen, ANSWER);
    answer(&mut chat, &mut seen, "> ", "r", "\"optionId\":\"no\"");
    // It belongs to the next prompt.
    next(&chat, &mut seen, "> ");
    chat.write(b"\x03");
    next(&chat, &mut seen, "^C again ends the conversation.");
    next(&chat, &mut seen, "> ");
    chat.write(b"\x04");
    leaves(chat, &terminal, 0);
}

/// An agent may speak and ask while the person types: what they have typed stays.
#[test]
fn a_question_between_turns_keeps_the_typed_text() {
    let options = json!([{ "optionId": "yes", "name": "Yes", "kind": "allow_once" }]);
    let params = json!({ "sessionId": "s1", "options": options, "toolCall": { "toolCallId": "t", "title": "Look around" } });
    let said = json!({ "sessionUpdate": "agent_message_chunk", "content": { "type": "text", "text": "By the way" } });
    let folder = tempfile::tempdir().expect("there is room");
    let now = folder.path().join("now");
    let steps = json!([
        "hear",
        { "answer": { "stopReason": "end_turn" } },
        { "until": now },
        { "update": said },
        { "ask": ["session/request_permission", params] },
        "hear",
    ]);
    let terminal = Terminal::new();
    let mut chat = start(&terminal, &script(json!({}), json!({ "session/prompt": steps })));
    let mut seen = 0;
    chat.write(b"hello\r");
    next(&chat, &mut seen, "\"text\":\"hello\"");
    next(&chat, &mut seen, "> ");
    chat.write(b"half a li");
    next(&chat, &mut seen, "half a li");
    std::fs::write(&now, "").expect("it can be written");
    next(&chat, &mut seen, "By the way");
    std::fs::remove_file(&now).expect("it is there");
    next(&chat, &mut seen, "1) allow once (a): Yes");
    next(&chat, &mut seen, ANSWER);
    answer(&mut chat, &mut seen, "> ", "a", "\"optionId\":\"yes\"");
    next(&chat, &mut seen, "half a li");
    chat.write(b"ne\r");
    next(&chat, &mut seen, "\"text\":\"half a line\"");
    // An interrupt takes the next question away, and ends the conversation. During a turn it would end the turn.
    next(&chat, &mut seen, "> ");
    std::fs::write(&now, "").expect("it can be written");
    next(&chat, &mut seen, "1) allow once (a): Yes");
    chat.signal(Signal::INT);
    leaves(chat, &terminal, 130);
}

/// The form of an MCP server goes by our agent to the person, who need not be asked for a permission here.
#[test]
fn a_server_asks_the_person_by_the_agent() {
    for version in ["1", "2"] {
        let terminal = Terminal::new();
        let arguments = ["chat", "--yes", "--protocol", version, "/call order {}"];
        let mut chat = Program::start_at(&terminal, &arguments);
        let mut seen = 0;
        next(&chat, &mut seen, "The MCP server `demo` asks: What may it be?");
        // In the order of the server.
        next(&chat, &mut seen, "coffee");
        next(&chat, &mut seen, "Drink *: ");
        chat.write(b"tea\r");
        next(&chat, &mut seen, "Cups * [1]: ");
        chat.write(b"2\r");
        next(&chat, &mut seen, SEND);
        answer(&mut chat, &mut seen, SEND, "y", "ordered: 2 × tea");
        leaves(chat, &terminal, 0);
    }
    let terminal = Terminal::new();
    let arguments = ["chat", "--yes", "/call visit {\"url\": \"https://login.example.com/x\"}"];
    let mut chat = Program::start_at(&terminal, &arguments);
    let mut seen = 0;
    next(&chat, &mut seen, "The MCP server `demo` asks: Please look at this page");
    next(&chat, &mut seen, VISIT);
    answer(&mut chat, &mut seen, VISIT, "n", "the user declined");
    leaves(chat, &terminal, 0);
}
