//! `agentwire call`, of tools that ask the user.

use std::time::Duration;

use rustix::process::Signal;

use crate::binaries::recorded;
use crate::program::{Program, SOON};
use crate::rows;
use crate::terminal::{Terminal, answer, leaves, next};

const SEND: &str = "Send this? [y/n] ";
const VISIT: &str = "Do you agree to visit it? [y/n] ";
const ERAS: [&str; 2] = ["legacy", "modern"];

/// Calls a tool of our server at a terminal.
fn call(terminal: &Terminal, era: &str, more: &[&str]) -> Program {
    let server = recorded("mcp", "server");
    Program::start_at(terminal, &[&["call", "--era", era, &server], more].concat())
}

#[test]
fn person_at_a_terminal_fills_in_the_form_of_a_server() {
    rows::for_each(&ERAS, |era| {
        let terminal = Terminal::new();
        let mut call = call(&terminal, era, &["order"]);
        let mut seen = 0;
        next(&call, &mut seen, "agentwire asks:");
        next(&call, &mut seen, "What may it be?");
        // In the order of the server.
        next(&call, &mut seen, "coffee");
        next(&call, &mut seen, "Drink *: ");
        call.write(b"water\r");
        next(&call, &mut seen, "not one of the choices");
        next(&call, &mut seen, "Drink *: ");
        call.write(b"tea\r");
        next(&call, &mut seen, "Cups * [1]: ");
        call.write(b"\r");
        next(&call, &mut seen, SEND);
        answer(&mut call, &mut seen, SEND, "y", "ordered: 1 × tea");
        leaves(call, &terminal, 0);
    });
}

/// The terminal is restored however a question ends.
#[test]
fn a_form_is_declined_by_a_key_and_an_interrupt_ends_the_call() {
    let ends = [
        ("\x1b", "the user declined", 0),
        ("\x03", "error: interrupted", 130),
        ("", "error: interrupted", 143),
    ];
    let rows: Vec<_> = ERAS.iter().flat_map(|era| ends.map(|end| (era, end))).collect();
    rows::for_each(&rows, |(era, (key, shows, code))| {
        let terminal = Terminal::new();
        let mut call = call(&terminal, era, &["order"]);
        let mut seen = 0;
        next(&call, &mut seen, "Drink *: ");
        match *key {
            "" => call.signal(Signal::TERM),
            key => assert!(call.write(key.as_bytes())),
        }
        next(&call, &mut seen, shows);
        leaves(call, &terminal, *code);
    });
}

#[test]
fn person_at_a_terminal_agrees_to_visit_a_page_or_does_not() {
    let answers = [("y", "the user agreed to visit it"), ("n", "the user declined")];
    let rows: Vec<_> = ERAS.iter().flat_map(|era| answers.map(|answer| (era, answer))).collect();
    rows::for_each(&rows, |(era, (key, shows))| {
        let terminal = Terminal::new();
        let mut call = call(&terminal, era, &["visit", "{\"url\": \"https://login.example.com/a?b=c\"}"]);
        let mut seen = 0;
        next(&call, &mut seen, "Please look at this page");
        next(&call, &mut seen, "https://\x1b[1mlogin.example.com\x1b[0m/a?b=c");
        next(&call, &mut seen, "Nothing is opened here");
        next(&call, &mut seen, VISIT);
        answer(&mut call, &mut seen, VISIT, key, shows);
        leaves(call, &terminal, 0);
    });
}

/// The limit bounds the server, not the person who thinks about an answer.
#[test]
fn a_person_may_take_longer_than_a_server() {
    rows::for_each(&ERAS, |era| {
        let terminal = Terminal::new();
        let mut call = call(&terminal, era, &["order", "--timeout", "4"]);
        let mut seen = 0;
        next(&call, &mut seen, "Drink *: ");
        std::thread::sleep(Duration::from_millis(4500));
        call.write(b"tea\r");
        next(&call, &mut seen, "Cups * [1]: ");
        call.write(b"2\r");
        next(&call, &mut seen, SEND);
        answer(&mut call, &mut seen, SEND, "y", "ordered: 2 × tea");
        leaves(call, &terminal, 0);
    });
}

#[test]
fn questions_without_a_person_are_declined_and_reported() {
    let server = recorded("mcp", "server");
    let questions = [
        (vec!["order"], "What may it be?"),
        (
            vec!["visit", "{\"url\": \"https://example.com/\"}"],
            "Please look at this page (https://example.com/)",
        ),
    ];
    for era in ERAS {
        for (tool, question) in &questions {
            for json in [false, true] {
                let mut arguments = [&["call", "--era", era, &server], &tool[..]].concat();
                arguments.extend(json.then_some("--json"));
                let ended = Program::run(&arguments, SOON);
                let words = format!("declined, because nobody is at a terminal to be asked: {question}\n");
                ended.exits(6).prints("the user declined").reports(&words);
                // The result, and why the code is not 0.
                assert!(!json || ended.objects().len() == 2, "{ended}");
            }
        }
    }
    // Who reads JSON at a terminal is not a person either.
    let terminal = Terminal::new();
    let call = call(&terminal, "auto", &["order", "--json"]);
    call.stdout.words("declined, because nobody is at a terminal");
    leaves(call, &terminal, 6);
}

/// A server of 2026-07-28 that answers calls, and questions about tasks, so.
fn asking(call: &str, get: &str) -> String {
    let describe = r#"{"supportedVersions":["2026-07-28"],"capabilities":{"tools":{},"extensions":{"io.modelcontextprotocol/tasks":{}}},"ttlMs":0,"cacheScope":"private","resultType":"complete"}"#;
    let answer = |result: &str| format!("echo {{\"jsonrpc\":\"2.0\",\"id\":$id,\"result\":{result}}}");
    let cases = [("server/discover", describe), ("tools/call", call), ("tasks/get", get)];
    let cases: String = cases
        .map(|(method, result)| {
            let answer = answer(result).replace('"', r#"\""#).replace("echo ", "echo \"");
            format!("*{method}*) {answer}\" ;; ")
        })
        .concat();
    let read = r#"while read -r line; do id=${line#*\"id\":}; id=${id%%,*}; n=$((n + 1)); case $line in "#;
    format!("sh -c '{read}{cases}esac; done'")
}

/// One question, as it stands in JSON.
const FORM: &str = r#"{"method":"elicitation/create","params":{"mode":"form","message":"well?","requestedSchema":{"type":"object","properties":{"n":{"type":"string"}},"required":["n"]}}}"#;

#[test]
fn an_interrupt_at_the_first_of_two_questions_ends_the_call() {
    let both = format!(r#"{{"resultType":"input_required","inputRequests":{{"a":{FORM},"b":{FORM}}}}}"#);
    let terminal = Terminal::new();
    let mut call = Program::start_at(&terminal, &["call", "--era", "modern", &asking(&both, "{}"), "two"]);
    let mut seen = 0;
    next(&call, &mut seen, "n *: ");
    call.write(b"\x03");
    next(&call, &mut seen, "error: interrupted");
    leaves(call, &terminal, 130);
}

/// The client polls a task while its question stands, and the task reports when no answer is needed any more.
#[test]
fn a_question_that_a_task_takes_back_is_asked_no_more() {
    let task = |more: &str| {
        format!(
            r#"{{"taskId":"t","createdAt":"2026-11-21T10:00:00Z","lastUpdatedAt":"2026-11-21T10:00:0$n","ttlMs":null,"pollIntervalMs":300,{more}}}"#
        )
    };
    let created = task(r#""resultType":"task","status":"working""#);
    // The shell counts its output.
    let asks = format!(r#""status":"input_required","inputRequests":{{"a":{FORM}}}"#);
    let done = r#""status":"completed","result":{"content":[{"type":"text","text":"did without"}]}"#;
    let stands = task(r#""resultType":"complete",$stands"#);
    let server = asking(&created, &stands).replace(
        "case $line in ",
        &format!(
            r#"if [ $n -lt 6 ]; then stands="{}"; else stands="{}"; fi; case $line in "#,
            asks.replace('"', r#"\""#),
            done.replace('"', r#"\""#)
        ),
    );
    let terminal = Terminal::new();
    let call = Program::start_at(&terminal, &["call", "--era", "modern", &server, "back"]);
    let mut seen = 0;
    next(&call, &mut seen, "n *: ");
    next(&call, &mut seen, "The question was taken back.");
    next(&call, &mut seen, "did without");
    leaves(call, &terminal, 0);
}
