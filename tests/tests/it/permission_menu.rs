//! The menu of a permission: what stands on the screen with it, and what answers it.

use std::path::Path;
use std::time::{Duration, Instant};

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::binaries::acting;
use crate::chat::script;
use crate::program::{Program, SOON};
use crate::terminal::{Terminal, answer, converse, leaves, next};

/// Where the answer is typed, below the line that asks for it.
const ANSWER: &str = "\x1b[2K> ";

fn option(id: &str, name: &str, kind: &str) -> Value {
    json!({ "optionId": id, "name": name, "kind": kind })
}

fn permission(call: Value, options: Value) -> Value {
    json!(["session/request_permission", { "sessionId": "s1", "toolCall": call, "options": options }])
}

fn rm() -> Value {
    let options = json!([option("yes", "Yes", "allow_once"), option("no", "No", "reject_once")]);
    permission(json!({ "toolCallId": "t", "title": "rm -rf /" }), options)
}

fn asks(steps: &[Value]) -> (Terminal, Program) {
    let end = [json!("hear"), json!({ "answer": { "stopReason": "end_turn" } })];
    let steps = [steps, &end].concat();
    let agent = acting(&script(json!({}), json!({ "session/prompt": steps })));
    let terminal = Terminal::new();
    let chat = Program::start_at(&terminal, &["chat", "-v", "--agent", &agent, "hello"]);
    (terminal, chat)
}

fn wait_for(path: &Path) {
    let deadline = Instant::now() + SOON;
    while !path.exists() {
        assert!(Instant::now() < deadline, "{} does not come", path.display());
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn words_pastes_and_earlier_typing_permit_nothing() {
    let (terminal, mut chat) = asks(&[json!({ "ask": rm() })]);
    // Typed while the agent gets ready, as for the next prompt.
    chat.write(b"please add tests\na\n");
    let mut seen = 0;
    next(&chat, &mut seen, "  rm -rf /\r\n  1) allow once (a): Yes\r\n  2) reject once (r): No\r\n");
    for (line, shows) in [
        ("clear", "`clear` is not one of the answers."),
        ("yes", "`yes` is not one of the answers."),
        ("10", "`10` is not one of the answers."),
    ] {
        next(&chat, &mut seen, "Type 1-2, a, r, then Enter:\r\n");
        next(&chat, &mut seen, ANSWER);
        answer(&mut chat, &mut seen, "> ", line, shows);
    }
    // A paste, to a terminal that reports it and to one that does not; and Enter alone.
    for (keys, shows) in [
        (&b"\r"[..], "`` is not one of the answers."),
        (b"look\ra\r", "What is pasted is not an answer"),
        (b"\x1b[200~a\r\x1b[201~\r", "`` is not one of the answers."),
    ] {
        next(&chat, &mut seen, ANSWER);
        chat.write(keys);
        next(&chat, &mut seen, shows);
    }
    // A line that comes in one piece is an answer: a slow network and a program that types send it so.
    next(&chat, &mut seen, ANSWER);
    chat.write(b"2\r");
    next(&chat, &mut seen, "\"optionId\":\"no\"");
    assert_eq!(chat.stdout.text().matches("1) allow once").count(), 1, "the question is shown once");
    leaves(chat, &terminal, 0);
}

#[test]
fn command_is_in_the_question_once_and_the_call_has_two_lines() {
    let call = json!({ "toolCallId": "t", "title": "git status", "kind": "execute",
        "rawInput": { "command": "git status" }, "content": [] });
    let update = |mut members: Value, kind: &str| {
        members["sessionUpdate"] = kind.into();
        json!({ "update": members })
    };
    let status = |word: &str| update(json!({ "toolCallId": "t", "status": word }), "tool_call_update");
    let options = json!([option("yes", "Yes", "allow_once"), option("no", "No", "reject_once")]);
    let (terminal, mut chat) = asks(&[
        update(call.clone(), "tool_call"),
        json!({ "begin": permission(json!({ "toolCallId": "t" }), options) }),
        json!("response"),
        status("in_progress"),
        status("completed"),
    ]);
    let mut seen = 0;
    next(&chat, &mut seen, "git status\r\n");
    next(&chat, &mut seen, ANSWER);
    let menu = chat.stdout.text()[..seen].split("The agent asks").nth(1).unwrap().to_owned();
    assert_eq!(menu.matches("git status").count(), 1, "{menu}");
    chat.write(b"1\r");
    chat.stdout.words("\"optionId\":\"yes\"");
    chat.stdout.words("●");
    let shown = chat.stdout.text();
    leaves(chat, &terminal, 0);
    let lines = ["○", "◐", "●"].map(|mark| shown.matches(mark).count());
    assert_eq!(lines, [1, 0, 1], "{shown}");
}

#[test]
fn ctrl_z_stops_the_program_at_a_prompt_and_at_a_question() {
    let (terminal, mut chat, mut seen) = converse(&["chat"]);
    let stop = |chat: &mut Program, seen: &mut usize, again: &str| {
        chat.write(b"\x1a");
        let deadline = Instant::now() + SOON;
        while !chat.is_stopped() {
            assert!(Instant::now() < deadline, "it goes on: {}", chat.stdout.text());
            std::thread::sleep(Duration::from_millis(10));
        }
        // What was drawn before the stop is read, so that `again` is drawn after it.
        std::thread::sleep(Duration::from_millis(100));
        *seen = chat.stdout.until("anything", |shown| Some(shown.len()));
        chat.signal(Signal::CONT);
        next(chat, seen, again);
    };
    chat.write(b"/run echo $((6 * 7))");
    next(&chat, &mut seen, "7))");
    stop(&mut chat, &mut seen, "/run echo");
    chat.write(b"\r");
    next(&chat, &mut seen, ANSWER);
    chat.write(b"2");
    next(&chat, &mut seen, "> 2");
    stop(&mut chat, &mut seen, "> 2");
    chat.write(b"\r");
    next(&chat, &mut seen, "not permitted");
    next(&chat, &mut seen, "> ");
    chat.write(b"\x04");
    leaves(chat, &terminal, 0);
}

/// An agent that goes on to write, on its stderr and as updates, does not paint over what the person is about to answer.
#[test]
fn nothing_is_painted_while_a_question_stands() {
    let folder = tempfile::tempdir().expect("there is room");
    let (now, done) = (folder.path().join("now"), folder.path().join("done"));
    let text = json!({ "type": "text", "text": "1) allow once: look at a file" });
    let (terminal, mut chat) = asks(&[
        json!({ "begin": rm() }),
        json!({ "until": now }),
        json!({ "stderr": "\x1b[2J\x1b[H\u{9b}31mThe agent asks for permission:\x08\x7f\n  cat a.txt\r  " }),
        json!({ "update": { "sessionUpdate": "agent_message_chunk", "content": text } }),
        json!({ "stderr": "\n" }),
        json!({ "touch": done }),
        json!("response"),
    ]);
    let mut seen = 0;
    next(&chat, &mut seen, "  rm -rf /\r\n  1) allow once (a): Yes\r\n");
    next(&chat, &mut seen, ANSWER);
    let before = seen;
    std::fs::write(now, "").expect("there is room");
    wait_for(&done);
    // What is to come late comes now.
    std::thread::sleep(Duration::from_millis(300));
    chat.write(b"r");
    next(&chat, &mut seen, "> r");
    let meanwhile = chat.stdout.text()[before..].to_owned();
    assert_eq!(meanwhile, "\r\x1b[2K> r", "something was painted");
    chat.write(b"\x7f");
    next(&chat, &mut seen, ANSWER);
    answer(&mut chat, &mut seen, "> ", "r", "\"optionId\":\"no\"");
    for shown in [
        "agent: ^[[2J^[[H<U+009B>31mThe agent asks for permission:^H^?",
        "agent:   cat a.txt^M  ",
        "1) allow once: look at a file",
    ] {
        chat.stdout.words(shown);
    }
    leaves(chat, &terminal, 0);
}

/// An option may call itself what it likes: what it does is said in our words.
#[test]
fn an_option_is_labelled_by_its_kind() {
    let options =
        json!([option("all", "Reject (r)", "allow_always"), option("no", "Allow (a)", "reject_once")]);
    let call = json!({ "toolCallId": "t", "title": "rm -rf /" });
    let (terminal, mut chat) = asks(&[json!({ "ask": permission(call, options) })]);
    let mut seen = 0;
    next(&chat, &mut seen, "1) allow always (A): Reject (r)\r\n  2) reject once (r): Allow (a)\r\n");
    next(&chat, &mut seen, ANSWER);
    answer(&mut chat, &mut seen, "> ", "a", "`a` is not one of the answers.");
    next(&chat, &mut seen, ANSWER);
    answer(&mut chat, &mut seen, "> ", "r", "\"optionId\":\"no\"");
    leaves(chat, &terminal, 0);
}

/// However much an agent has to say about a call, its title stands with the options, and each of these can be chosen.
#[test]
fn the_subject_and_every_option_are_in_reach() {
    let options: Vec<_> =
        (1..=14).map(|number| option(&format!("o{number}"), "One", "reject_once")).collect();
    let locations: Vec<_> = (0..200).map(|number| json!({ "path": format!("/a/{number}") })).collect();
    let call = json!({ "toolCallId": "t", "title": "rm -rf /", "locations": locations });
    let (terminal, mut chat) = asks(&[json!({ "ask": permission(call, json!(options)) })]);
    let mut seen = 0;
    next(
        &chat,
        &mut seen,
        "  at: /a/4\r\n  at: … and 195 more\r\n  rm -rf /\r\n  1) reject once (r): One\r\n",
    );
    next(&chat, &mut seen, " 14) reject once: One\r\nrm -rf /: type 1-14, r, then Enter:\r\n");
    next(&chat, &mut seen, ANSWER);
    answer(&mut chat, &mut seen, "> ", "12", "\"optionId\":\"o12\"");
    leaves(chat, &terminal, 0);
}

/// "Always" is for the subject of the question, and the option names it.
#[test]
fn always_applies_to_the_named_subject() {
    let terminal = Terminal::new();
    let mut chat = Program::start_at(&terminal, &["chat"]);
    let mut seen = 0;
    next(&chat, &mut seen, "> ");
    chat.write(b"/run echo harm$((1))less\r");
    next(
        &chat,
        &mut seen,
        "Run echo harm$((1))less\r\n  1) allow once (a): Allow\r\n  2) reject once (r): Reject\r\n  3) allow always (A): Always allow: this call\r\n",
    );
    next(&chat, &mut seen, ANSWER);
    answer(&mut chat, &mut seen, "> ", "A", "harm1less");
    next(&chat, &mut seen, "> ");
    chat.write(b"/run echo harm$((1))less\r");
    next(&chat, &mut seen, "harm1less");
    next(&chat, &mut seen, "> ");
    chat.write(b"/run echo harm$((2))ful\r");
    next(
        &chat,
        &mut seen,
        "Run echo harm$((2))ful\r\n  1) allow once (a): Allow\r\n  2) reject once (r): Reject\r\n  3) allow always (A): Always allow: this call\r\n",
    );
    next(&chat, &mut seen, ANSWER);
    answer(&mut chat, &mut seen, "> ", "r", "This was not permitted.");
    next(&chat, &mut seen, "> ");
    chat.write(b"\x04");
    leaves(chat, &terminal, 0);
}
