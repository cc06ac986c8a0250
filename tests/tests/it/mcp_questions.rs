//! Questions of a server while a command of an MCP client waits for it, and what `--answer` makes of them.

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::binaries::{acting, recorded};
use crate::program::{Ended, Program, SOON};
use crate::rows;
use crate::terminal::{Terminal, answer, leaves, next};

fn run(arguments: &[&str]) -> Ended {
    Program::run(arguments, SOON)
}

/// A server of a session that asks before it answers.
fn asking(question: &Value) -> String {
    let ask = json!({ "ask": ["elicitation/create", question] });
    let result = |result: Value| json!([ask, { "answer": result }]);
    acting(&json!({
        "initialize": [{ "answer": { "protocolVersion": "2025-11-25", "serverInfo": { "name": "a", "version": "1" },
            "capabilities": { "tools": {}, "resources": {}, "prompts": {}, "completions": {} } } }],
        "ping": result(json!({})),
        "tools/list": result(json!({ "tools": [{ "name": "t", "inputSchema": { "type": "object" } }] })),
        "resources/read": result(json!({ "contents": [{ "uri": "a://b", "text": "read" }] })),
        "prompts/get": result(json!({ "messages": [{ "role": "user", "content": { "type": "text", "text": "got" } }] })),
        "completion/complete": result(json!({ "completion": { "values": ["Ada"] } })),
    }))
}

fn form() -> Value {
    let schema =
        json!({ "type": "object", "properties": { "sure": { "type": "boolean" } }, "required": ["sure"] });
    json!({ "message": "Sure?", "requestedSchema": schema })
}

/// Each command that a server may ask, and what it prints.
const COMMANDS: [(&[&str], &[&str], &str); 5] = [
    (&["read"], &["a://b"], "read\n"),
    (&["prompt"], &["p"], "[user]\ngot\n"),
    (&["complete"], &["p", "name", "A"], "Ada\n"),
    (&["request"], &["ping"], "{}\n"),
    (&["tools"], &[], "t()\n"),
];

#[test]
fn each_command_answers_a_form() {
    let server = asking(&form());
    rows::for_each(&COMMANDS, |(command, words, expected)| {
        let with = |answer: &[&str]| run(&[*command, &[&server], *words, answer].concat());
        let ended = with(&["--answer", "sure=true"]);
        assert_eq!(ended.exits(0).stdout, *expected);
        assert_eq!(ended.stderr, "answered with --answer: Sure? (sure)\n");
        let ended = with(&[]);
        let expected = "declined, because nobody is at a terminal to be asked: Sure?\n\
            to answer it: --answer sure=…\n\
            error: nobody is at a terminal to answer the question of the server; --answer NAME=VALUE answers a form\n";
        assert_eq!(ended.exits(6).stderr, expected);
        let ended = with(&["--answer", "sure=perhaps"]);
        let why = &ended.exits(2).stderr;
        assert!(why.ends_with("; the request had already been sent\n"), "{ended}");
    });
}

/// A server of 2026-07-28 as a script of the shell, with an action for each pattern of a line.
fn shell(cases: &[(&str, &str)]) -> String {
    let cases: String = cases.iter().map(|(pattern, action)| format!("*{pattern}*) {action} ;; ")).collect();
    format!(
        r#"sh -c 'while read -r line; do id=${{line#*\"id\":}}; id=${{id%%,*}}; case $line in {cases} esac; done'"#
    )
}

/// The action that answers with a result.
fn result(result: &Value) -> String {
    let result = result.to_string().replace('"', r#"\""#);
    format!(r#"echo "{{\"jsonrpc\":\"2.0\",\"id\":$id,\"result\":{result}}}""#)
}

fn discover() -> String {
    result(&json!({ "supportedVersions": ["2026-07-28"], "capabilities": { "tools": {}, "resources": {} },
        "ttlMs": 0, "cacheScope": "private", "resultType": "complete" }))
}

/// Since 2026-07-28, the answer to a request may be a question.
#[test]
fn a_question_in_place_of_a_result_is_answered() {
    let params = json!({ "mode": "form", "message": "Sure?", "requestedSchema": form()["requestedSchema"] });
    let question = json!({ "method": "elicitation/create", "params": params });
    let asks = json!({ "resultType": "input_required", "inputRequests": { "a": question } });
    let read = json!({ "resultType": "complete", "contents": [{ "uri": "a://b", "text": "read" }], "ttlMs": 0,
        "cacheScope": "private" });
    let refuses = r#"echo "{\"jsonrpc\":\"2.0\",\"id\":$id,\"error\":{\"code\":1,\"message\":\"no\"}}""#;
    let server = shell(&[
        ("server/discover", &discover()),
        (r#"\"sure\":true"#, &result(&read)),
        ("inputResponses", refuses),
        ("resources/read", &result(&asks)),
    ]);
    let arguments = ["read", "--era", "modern", &server, "a://b"];
    let ended = run(&[&arguments[..], &["--answer", "sure=true"]].concat());
    assert_eq!(ended.exits(0).stdout, "read\n");
    let expected = "error: nobody is at a terminal to answer the question of the server; --answer NAME=VALUE answers a form: \
        the server refused resources/read: no (1)\n";
    assert!(run(&arguments).exits(6).stderr.ends_with(expected), "{ended}");
}

#[test]
fn a_person_answers_a_form_of_a_resource() {
    let terminal = Terminal::new();
    let mut read = Program::start_at(&terminal, &["read", &asking(&form()), "a://b"]);
    let mut seen = 0;
    next(&read, &mut seen, "sure *: ");
    read.write(b"y\r");
    next(&read, &mut seen, "Send this? [y/n] ");
    answer(&mut read, &mut seen, "Send this? [y/n] ", "y", "read");
    leaves(read, &terminal, 0);
    // ^C at the question ends the command.
    let mut read = Program::start_at(&terminal, &["read", &asking(&form()), "a://b"]);
    let mut seen = 0;
    next(&read, &mut seen, "sure *: ");
    read.write(b"\x03");
    next(&read, &mut seen, "error: interrupted");
    leaves(read, &terminal, 130);
}

#[test]
fn a_declined_page_is_explained() {
    let page =
        json!({ "mode": "url", "elicitationId": "1", "message": "Look", "url": "https://example.com/" });
    let ended = run(&["read", &asking(&page), "a://b"]);
    let expected = "declined, because nobody is at a terminal to be asked: Look (https://example.com/)\n\
        error: nobody is at a terminal to open the page for which the server asks; run the command at a terminal, without --json\n";
    assert_eq!(ended.exits(6).stderr, expected);
}

/// Faults of the answers themselves are found before anything starts.
#[test]
fn wrong_answers_start_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("started");
    let server = format!("touch {}", file.display());
    run(&["call", &server, "t", "--answer", "sure"])
        .exits(2)
        .reports("invalid value 'sure' for '--answer <NAME=VALUE>': write NAME=VALUE, as in sure=true\n");
    assert!(!file.exists(), "the server was started");
}

#[test]
fn a_signal_ends_a_request_that_waits() {
    let server = shell(&[("server/discover", &discover()), ("tools/list", "echo waiting >&2")]);
    for (signal, code) in [(Signal::INT, 130), (Signal::TERM, 143)] {
        let mut tools = Program::start(&["tools", "-v", "--era", "modern", &server]);
        tools.close_stdin();
        tools.stderr.words("waiting");
        tools.signal(signal);
        tools.end(SOON).exits(code).reports("error: interrupted");
    }
}

#[test]
fn an_object_and_other_arguments_are_merged() {
    let ended = run(&["call", &recorded("mcp", "server"), "add", "{\"a\": 1, \"b\": 1}", "b=2"]);
    assert_eq!(ended.exits(0).stdout, "{\"sum\":3}\n");
}
