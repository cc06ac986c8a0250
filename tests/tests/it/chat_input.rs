//! The stdin of `agentwire chat`, its display of the agent's stderr, and the ends of its turns.

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::binaries::acting;
use crate::chat::script;
use crate::program::{Program, SOON};
use crate::terminal::{Terminal, converse, leaves, next};

fn ends(reason: &str) -> String {
    acting(&script(json!({}), json!({ "session/prompt": ["hear", { "answer": { "stopReason": reason } }] })))
}

/// A step that sends a piece of a message.
fn message_chunk(text: &str) -> Value {
    json!({ "update": { "sessionUpdate": "agent_message_chunk", "messageId": "m", "content": { "type": "text", "text": text } } })
}

#[test]
fn text_from_a_pipe_is_joined_to_the_prompt() {
    let chat = |prompt: &[&str], text: &[u8]| {
        let agent = ends("end_turn");
        let mut program = Program::start(&[&["chat", "--agent", &agent], prompt].concat());
        program.write(text);
        program.close_stdin();
        program.end(SOON)
    };
    chat(&["review this"], b"@a diff\n")
        .exits(0)
        .prints(r#"[{"text":"review this\n\n@a diff\n","type":"text"}]"#);
    chat(&["review this"], b"").exits(0).prints(r#"[{"text":"review this","type":"text"}]"#);
    chat(&["-"], b"all of it").exits(0).prints(r#"[{"text":"all of it","type":"text"}]"#);
    chat(&["review this"], b"\xff").exits(2).reports("error: stdin is not in UTF-8\n");
    // Also where it is the prompt.
    chat(&[], b"all of it").exits(0).prints(r#"[{"text":"all of it","type":"text"}]"#);
    chat(&[], b"\xff").exits(2).reports("error: stdin is not in UTF-8\n");
    let endless = vec![b'x'; (16 << 20) + 1];
    let text = "error: stdin has more than 16 MiB, the limit of a prompt\n";
    chat(&["-"], &endless).exits(2).reports(text);
    chat(&["review this"], &endless).exits(2).reports(text);
}

/// A program that starts us may leave stdin open.
#[test]
fn a_pipe_without_a_byte_does_not_stop_the_turn() {
    let program = Program::start(&["chat", "--agent", &ends("end_turn"), "hello"]);
    let note = "stdin is not read: nothing came from it within 3 s; </dev/null says that it is empty\n";
    program.end(SOON).exits(0).reports(note).prints(r#"[{"text":"hello","type":"text"}]"#);
}

#[test]
fn a_turn_that_stops_early_fails() {
    for (reason, code, text) in [
        ("end_turn", 0, ""),
        ("max_tokens", 1, "error: the agent stopped: max_tokens\n"),
        ("max_turn_requests", 1, "error: the agent stopped: max_turn_requests\n"),
        ("refusal", 1, "error: the agent refuses to go on\n"),
        ("cancelled", 1, "error: the agent cancelled the turn\n"),
        ("tired", 1, "error: the agent stopped: tired\n"),
    ] {
        for json in [&[][..], &["--json"]] {
            let ended = Program::run(&[&["chat", "--agent", &ends(reason), "hello"], json].concat(), SOON);
            ended.exits(code).reports(text);
        }
    }
}

#[test]
fn a_signal_ends_an_interactive_turn_and_the_conversation() {
    for (signal, code) in [(Signal::TERM, 143), (Signal::HUP, 129)] {
        for steps in [
            json!([{ "await": "session/cancel" }, { "answer": { "stopReason": "cancelled" } }]),
            json!([{ "await": "never" }]),
        ] {
            let terminal = Terminal::new();
            let working = json!({ "update": { "sessionUpdate": "agent_message_chunk", "content": { "type": "text", "text": "Working" } } });
            let mut steps = steps.as_array().unwrap().clone();
            steps.insert(0, working);
            let agent = acting(&script(json!({}), json!({ "session/prompt": steps })));
            let mut chat = Program::start_at(&terminal, &["chat", "--agent", &agent]);
            let mut seen = 0;
            next(&chat, &mut seen, "> ");
            chat.write(b"hello\r");
            next(&chat, &mut seen, "Working");
            chat.signal(signal);
            leaves(chat, &terminal, code);
        }
    }
}

#[test]
fn a_person_reads_how_to_end_a_turn_that_goes_on() {
    let terminal = Terminal::new();
    let working = json!({ "update": { "sessionUpdate": "agent_message_chunk", "content": { "type": "text", "text": "Working" } } });
    let agent = acting(&script(json!({}), json!({ "session/prompt": [working, { "await": "never" }] })));
    let mut seen = 0;
    let chat = Program::start_at(&terminal, &["chat", "--agent", &agent, "hello"]);
    next(&chat, &mut seen, "Working");
    chat.signal(Signal::INT);
    next(&chat, &mut seen, "The agent has not ended the turn yet; ^C again ends it now.");
    chat.signal(Signal::INT);
    leaves(chat, &terminal, 130);
}

#[test]
fn a_turn_that_is_cancelled_at_a_terminal_ends_by_its_time_limit() {
    let terminal = Terminal::new();
    let working = json!({ "update": { "sessionUpdate": "agent_message_chunk", "content": { "type": "text", "text": "Working" } } });
    let agent = acting(&script(json!({}), json!({ "session/prompt": [working, { "await": "never" }] })));
    let mut seen = 0;
    let chat = Program::start_at(&terminal, &["chat", "--timeout", "4", "--agent", &agent, "hello"]);
    next(&chat, &mut seen, "Working");
    chat.signal(Signal::INT);
    leaves(chat, &terminal, 130);
}

/// Keys that are pressed while the agent answers are not shown in its answer, and are in the next line.
#[test]
fn type_ahead_is_in_the_next_line() {
    let folder = tempfile::tempdir().unwrap();
    let now = folder.path().join("now");
    let steps = json!([message_chunk("One "), { "until": now }, message_chunk("two"), { "answer": { "stopReason": "end_turn" } }]);
    let agent = acting(&script(json!({}), json!({ "session/prompt": steps })));
    let (terminal, mut chat, mut seen) = converse(&["chat", "--agent", &agent]);
    chat.write(b"hello\r");
    next(&chat, &mut seen, "One ");
    let answer = seen;
    chat.write(b"ahead");
    std::fs::write(now, "").unwrap();
    next(&chat, &mut seen, "two");
    let shown = chat.stdout.text();
    assert!(!shown[answer..seen].contains("ahead"), "{shown}");
    next(&chat, &mut seen, "ahead");
    chat.write(b"\x03");
    next(&chat, &mut seen, "^C again");
    next(&chat, &mut seen, "> ");
    chat.write(b"\x04");
    leaves(chat, &terminal, 0);
}

/// Two agents that are used send the end of their answer up to 100 ms behind the answer to the prompt.
#[test]
fn updates_just_behind_the_answer_are_part_of_a_single_turn() {
    let late: Vec<_> =
        (0..10).flat_map(|n| [json!({ "wait": 20 }), message_chunk(&format!("late {n}."))]).collect();
    let steps =
        [vec![message_chunk("On time, "), json!({ "answer": { "stopReason": "end_turn" } })], late].concat();
    let agent = acting(&script(json!({}), json!({ "session/prompt": steps })));
    let ended = Program::run(&["chat", "--agent", &agent, "hello"], SOON);
    let expected: String = (0..10).map(|n| format!("late {n}.")).collect();
    assert_eq!(ended.exits(0).stdout, format!("On time, {expected}\n"));
    let json = Program::run(&["chat", "--json", "--agent", &agent, "hello"], SOON);
    let objects = json.exits(0).objects();
    assert!(objects.last().unwrap().get("stopReason").is_some(), "{json}");
    // An agent that never stops is not waited for.
    let endless: Vec<_> = (0..200).flat_map(|_| [json!({ "wait": 100 }), message_chunk("x")]).collect();
    let steps = [vec![json!({ "answer": { "stopReason": "end_turn" } })], endless].concat();
    let agent = acting(&script(json!({}), json!({ "session/prompt": steps })));
    let since = std::time::Instant::now();
    Program::run(&["chat", "--agent", &agent, "hello"], SOON).exits(0);
    assert!(since.elapsed() < std::time::Duration::from_secs(12), "{:?}", since.elapsed());
}

#[test]
fn the_stderr_of_the_agent_goes_to_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log");
    let steps = json!({ "session/prompt": [{ "stderr": "one\ntwo\n" }, { "exit": 3 }] });
    let agent = acting(&script(json!({}), steps));
    let shown = Program::run(&["chat", "--agent", &agent, "hello"], SOON);
    shown.exits(1).reports("agent: one\nagent: two\n");
    assert_eq!(shown.stderr.matches("two").count(), 1, "{shown}");
    let arguments = ["chat", "--agent", &agent, "--agent-log", log.to_str().unwrap(), "hello"];
    let logged = Program::run(&arguments, SOON);
    logged.exits(1).reports("two");
    assert!(!logged.stderr.contains("agent: one"), "{logged}");
    assert_eq!(std::fs::read_to_string(log).unwrap(), "one\ntwo\n");
    let nowhere = Program::run(&["chat", "--agent-log", "/nowhere/log", "hello"], SOON);
    nowhere.exits(2).reports("error: --agent-log /nowhere/log: No such file or directory");
}

/// The program starts slowly.
#[test]
fn a_slow_start_is_shown_with_its_seconds() {
    let folder = tempfile::tempdir().unwrap();
    let now = folder.path().join("now");
    let steps: Value = json!({ "initialize": [{ "until": now }, { "answer": { "protocolVersion": 1 } }] });
    let agent = acting(&script(json!({}), steps));
    let terminal = Terminal::new();
    let mut chat = Program::start_at(&terminal, &["chat", "--agent", &agent]);
    let mut seen = 0;
    next(&chat, &mut seen, "starting `scripted_agent …` 0 s");
    next(&chat, &mut seen, "starting `scripted_agent …` 1 s");
    std::fs::write(now, "").unwrap();
    next(&chat, &mut seen, "> ");
    chat.write(b"\x04");
    leaves(chat, &terminal, 0);
}
