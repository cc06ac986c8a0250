//! `agentwire chat` with agents that ask for a login, in both versions of the protocol.

use std::fs;

use agentwire_test_support::write_program;
use serde_json::{Value, json};

use crate::binaries::acting;
use crate::chat::script;
use crate::program::{Program, SOON};
use crate::terminal::{Terminal, answer, leaves, next};

/// Where the choice of the menu is typed.
const CHOICE: &str = "Type a number, then Enter. Escape gives up.\r\n";

/// An agent of version 1 that offers two methods. `steps` go before those of a script.
fn agent(steps: Value) -> Value {
    let methods = json!([
        { "id": "key", "name": "API key", "description": "From the environment" },
        { "id": "web", "name": "Log in by browser" },
    ]);
    let initialize = json!([{ "answer": { "protocolVersion": 1, "authMethods": methods } }]);
    let mut more = json!({ "initialize": initialize, "authenticate": [{ "answer": {} }] });
    more.as_object_mut().unwrap().extend(steps.as_object().unwrap().clone());
    script(json!({}), more)
}

fn refusal() -> Value {
    json!({ "refuse": { "code": -32000, "message": "Authentication required" } })
}

/// Steps that refuse until there is a file, which `authenticate` makes.
fn until_login(file: &str, steps: Value) -> Value {
    let again = json!({ "unless": [file, refusal()] });
    let mut all = vec![again];
    all.extend(steps.as_array().unwrap().clone());
    all.into()
}

#[test]
fn without_a_person_the_methods_are_listed() {
    let agent = acting(&agent(json!({ "session/new": [refusal()] })));
    for json in [&[][..], &["--json"]] {
        let ended = Program::run(&[&["chat", "--agent", &agent, "hello"], json].concat(), SOON);
        ended.exits(3).reports("; log in with --auth ID: `key` (API key), `web` (Log in by browser)\n");
    }
}

#[test]
fn a_method_is_named_by_its_id_or_name() {
    let hears = agent(json!({ "authenticate": ["hear", { "answer": {} }] }));
    for word in ["web", "log in by browser"] {
        let ended = Program::run(&["chat", "--auth", word, "--agent", &acting(&hears), "hello"], SOON);
        ended.exits(0).prints("heard {\"methodId\":\"web\"}");
    }
    let ended = Program::run(&["chat", "--auth", "other", "--agent", &acting(&hears), "hello"], SOON);
    let text = "--auth other: the agent offers no such way to log in; there are: `key` (API key), `web`";
    ended.exits(3).reports(text);
}

#[test]
fn a_refused_login_ends_with_3() {
    let refuses = agent(json!({ "authenticate": [{ "refuse": { "code": 1, "message": "No such key" } }] }));
    let ended = Program::run(&["chat", "--auth", "key", "--agent", &acting(&refuses), "hello"], SOON);
    ended.exits(3).reports("No such key");
}

#[test]
fn a_person_chooses_from_a_menu_and_the_session_opens() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("in").to_str().unwrap().to_owned();
    let opened = json!([{ "answer": { "sessionId": "s1" } }]);
    let steps = json!({
        "authenticate": ["hear", { "touch": file }, { "answer": {} }],
        "session/new": until_login(&file, opened),
    });
    let terminal = Terminal::new();
    let mut chat = Program::start_at(&terminal, &["chat", "--agent", &acting(&agent(steps)), "hello"]);
    let mut seen = 0;
    next(&chat, &mut seen, "  1) API key: From the environment\r\n  2) Log in by browser\r\n");
    next(&chat, &mut seen, CHOICE);
    next(&chat, &mut seen, "> ");
    answer(&mut chat, &mut seen, "> ", "2", "heard {\"methodId\":\"web\"}");
    next(&chat, &mut seen, "\"text\":\"hello\"");
    leaves(chat, &terminal, 0);
}

#[test]
fn a_prompt_that_needs_a_login_is_sent_again() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("in").to_str().unwrap().to_owned();
    let turn = json!(["hear", { "answer": { "stopReason": "end_turn" } }]);
    let steps = json!({
        "authenticate": [{ "touch": file }, { "answer": {} }],
        "session/prompt": until_login(&file, turn),
    });
    let terminal = Terminal::new();
    let mut chat = Program::start_at(&terminal, &["chat", "--agent", &acting(&agent(steps)), "hello"]);
    let mut seen = 0;
    next(&chat, &mut seen, CHOICE);
    next(&chat, &mut seen, "> ");
    answer(&mut chat, &mut seen, "> ", "1", "\"text\":\"hello\"");
    leaves(chat, &terminal, 0);

    // A person who gives up has the list.
    let steps = json!({ "session/prompt": [refusal()] });
    let terminal = Terminal::new();
    let mut chat = Program::start_at(&terminal, &["chat", "--agent", &acting(&agent(steps)), "hello"]);
    let mut seen = 0;
    next(&chat, &mut seen, CHOICE);
    next(&chat, &mut seen, "> ");
    chat.write(b"\x1b");
    next(&chat, &mut seen, "log in with --auth ID: `key` (API key)");
    leaves(chat, &terminal, 3);
}

/// AUTH-08: the agent's program runs in our terminal with the method's arguments and variables, and the connection begins again.
#[test]
fn a_method_of_the_type_terminal_runs_in_our_terminal() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("in").to_str().unwrap().to_owned();
    let opened = json!({ "session/new": until_login(&file, json!([{ "answer": { "sessionId": "s1" } }])) });
    for (version, id) in [(1, "id"), (2, "methodId")] {
        let _absent = fs::remove_file(&file);
        let env = match version {
            1 => json!({ "LOGIN_FILE": file }),
            _ => json!([{ "name": "LOGIN_FILE", "value": file }]),
        };
        let method = json!({ "type": "terminal", id: "tty", "name": "In a terminal", "args": ["--login"], "env": env });
        let greeting = match version {
            1 => json!({ "protocolVersion": 1, "authMethods": [method] }),
            _ => {
                json!({ "protocolVersion": 2, "info": { "name": "a", "version": "1" }, "capabilities": { "session": {} },
                "authMethods": [method] })
            }
        };
        let mut steps = opened.clone();
        steps["initialize"] = json!([{ "answer": greeting }]);
        steps["session/prompt"] = json!([{ "answer": { "stopReason": "end_turn" } }]);
        let inner = acting(&script(json!({}), steps));
        // The program asks at the terminal, as one that logs in does.
        let program = folder.path().join("agent");
        let text = format!(
            "#!/bin/sh\nif [ \"$1\" = --login ]; then printf 'code: '; read code; [ \"$code\" = 42 ] || exit 7; \
             echo \"logged in\"; : > \"$LOGIN_FILE\"; exit 0; fi\nexec {inner}\n"
        );
        write_program(&program, &text);
        let (agent, version) = (program.to_str().unwrap(), version.to_string());
        let arguments = ["chat", "--agent", agent, "--protocol", &version];
        let start = |terminal: &Terminal| {
            let chat = Program::start_at(terminal, &arguments);
            let mut seen = 0;
            next(&chat, &mut seen, "  1) In a terminal\r\n");
            next(&chat, &mut seen, CHOICE);
            next(&chat, &mut seen, "> ");
            (chat, seen)
        };
        let terminal = Terminal::new();
        let (mut chat, mut seen) = start(&terminal);
        answer(&mut chat, &mut seen, "> ", "1", "code: ");
        chat.write(b"41\n");
        next(&chat, &mut seen, "the login by `In a terminal` failed: exit status: 7");
        leaves(chat, &terminal, 3);

        let terminal = Terminal::new();
        let (mut chat, mut seen) = start(&terminal);
        answer(&mut chat, &mut seen, "> ", "1", "code: ");
        chat.write(b"42\n");
        next(&chat, &mut seen, "logged in");
        next(&chat, &mut seen, "^D ends the conversation");
        next(&chat, &mut seen, "> ");
        chat.write(b"\x04");
        leaves(chat, &terminal, 0);
    }
}

#[test]
fn in_version_2_a_login_is_auth_login() {
    let methods = json!([{ "type": "agent", "methodId": "key", "name": "API key" }]);
    let greeting = json!({ "protocolVersion": 2, "info": { "name": "a", "version": "1" }, "capabilities": { "session": {} },
        "authMethods": methods });
    let steps = json!({
        "initialize": [{ "answer": greeting }],
        "auth/login": [{ "stderr": "logs in\n" }, { "answer": {} }],
        "session/new": [refusal()],
    });
    let agent = acting(&script(json!({}), steps));
    let chat = |more: &[&str]| {
        Program::run(&[&["chat", "--protocol", "2", "--agent", &agent, "hello"], more].concat(), SOON)
    };
    chat(&[]).exits(3).reports("log in with --auth ID: `key` (API key)\n");
    chat(&["--auth", "API key"]).exits(3).reports("agent: logs in\n");
}
