//! The promises to scripts: exit codes, JSON one object a line, nothing else on stdout.

use serde_json::Value;

use crate::binaries::{agentwire, recorded, scripted};
use crate::program::{Ended, Program, SOON};
use crate::rows;

fn run(arguments: &[&str]) -> Ended {
    Program::run(arguments, SOON)
}

fn server() -> String {
    recorded("mcp", "server")
}

#[test]
fn exit_codes() {
    let ours = server();
    let (refuses, wrong) = (scripted("agent turn refuse"), scripted("agent turn wrong-shape"));
    let rows: Vec<(Vec<&str>, i32)> = vec![
        (vec!["--help"], 0),
        (vec!["--version"], 0),
        (vec!["chat", "hello"], 0),
        (vec!["chat"], 0),
        (vec!["agent"], 0),
        (vec!["server"], 0),
        (vec!["server", "--stdio"], 0),
        (vec!["tools", &ours], 0),
        (vec!["call", &ours, "add", "{\"a\": 1, \"b\": 2}"], 0),
        (vec!["call", &ours, "cancelled-count"], 0),
        // The other side failed or refused.
        (vec!["chat", "--agent", &wrong, "hello"], 1),
        (vec!["chat", "--agent", &refuses, "hello"], 3),
        // It cannot be started, or ended before it answered.
        (vec!["chat", "--agent", "/bin/true", "hello"], 4),
        (vec!["chat", "--agent", "/bin/false", "hello"], 4),
        (vec!["chat", "--agent", "/no/such/agent", "hello"], 4),
        (vec!["tools", "/bin/true"], 4),
        (vec!["tools", "/no/such/server"], 4),
        // The tool failed.
        (vec!["call", &ours, "fail"], 5),
        (vec!["call", &ours, "add", "{\"a\": true}"], 5),
        // Wrong usage.
        (vec![], 2),
        (vec!["no-such-command"], 2),
        (vec!["chat", "--no-such-option"], 2),
        (vec!["chat", "two", "prompts"], 2),
        (vec!["chat", "--agent", "", "hello"], 2),
        (vec!["chat", "--agent", "'", "hello"], 2),
        (vec!["chat", "--mcp", "no-equals-sign", "hello"], 2),
        (vec!["chat", "--mcp", "name='", "hello"], 2),
        (vec!["chat", "--timeout", "soon", "hello"], 2),
        (vec!["chat", "--timeout", "-1", "hello"], 2),
        (vec!["chat", "--timeout", "0", "hello"], 2),
        (vec!["tools", "--timeout", "0", "/bin/false"], 2),
        (vec!["chat", "--cwd", "/no/such/folder", "hello"], 2),
        (vec!["tools"], 2),
        (vec!["tools", ""], 2),
        (vec!["tools", "'"], 2),
        (vec!["call", &ours], 2),
        (vec!["call", &ours, "add", "[1, 2]"], 2),
        (vec!["call", &ours, "add", "{"], 2),
        (vec!["call", &ours, "no-such-tool"], 2),
        (vec!["tools", &ours, "no-such-tool"], 2),
        (vec!["prompt", &ours, "no-such-prompt"], 2),
        (vec!["tools", "ws://127.0.0.1:1/mcp"], 2),
        (vec!["server", "--issuer", "https://login.example"], 2),
        (vec!["server", "--http", "127.0.0.1:0", "--scope", "a"], 2),
    ];
    expect_codes(&rows);
}

#[test]
fn server_with_a_bad_issuer_or_audience_is_wrong_usage() {
    expect_codes(&[
        (vec!["server", "--http", "127.0.0.1:0", "--issuer", "login.example"], 2),
        (vec!["server", "--http", "127.0.0.1:0", "--issuer", "https://login.example?a"], 2),
        (vec!["server", "--http", "127.0.0.1:0", "--issuer", "https://login.example#a"], 2),
        (vec!["server", "--http", "127.0.0.1:0", "--issuer", "https://ann:secret@login.example"], 2),
        (vec!["server", "--http", "127.0.0.1:0", "--issuer", "ftp://login.example"], 2),
        (vec!["server", "--http", "127.0.0.1:0", "--issuer", "https://login.example", "--scope", "a b"], 2),
        (vec!["server", "--http", "127.0.0.1:0", "--issuer", "https://login.example", "--scope", "\""], 2),
        (vec!["server", "--http", "127.0.0.1:0", "--issuer", "https://login.example", "--audience", ""], 2),
        (
            vec![
                "server",
                "--http",
                "127.0.0.1:0",
                "--issuer",
                "https://login.example",
                "--audience",
                "https://mcp.example/?a",
            ],
            2,
        ),
        (vec!["server", "--http", "0.0.0.0:0", "--issuer", "https://login.example"], 2),
        (vec!["server", "--http", "[::]:0", "--issuer", "https://login.example", "--audience", "api"], 2),
    ]);
}

fn expect_codes(rows: &[(Vec<&str>, i32)]) {
    rows::for_each(rows, |(arguments, code)| {
        let ended = run(arguments);
        ended.exits(*code);
        assert!(*code == 0 || !ended.stderr.is_empty(), "it says why: {ended}");
        assert!(*code != 2 || ended.stdout.is_empty(), "stdout is for what was asked for: {ended}");
        assert!(!ended.stderr.contains("panicked") && !ended.stderr.contains("ann:secret"), "{ended}");
    });
}

/// The names of the objects' members, each object having one that names its kind.
fn kinds(objects: &[Value]) -> Vec<&str> {
    let first =
        |object| Value::as_object(object).and_then(|object| object.keys().find(|name| *name != "sessionId"));
    objects.iter().filter_map(first).map(String::as_str).collect()
}

#[test]
fn a_turn_as_json() {
    let ended = run(&["chat", "--json", "/call add {\"a\": 2, \"b\": 40}"]);
    let objects = ended.exits(0).objects();
    let kinds = kinds(&objects);
    assert_eq!(kinds[..2], ["initialized", "session"], "{ended}");
    assert_eq!(kinds.last(), Some(&"stopReason"), "{ended}");
    assert!(kinds[2..kinds.len() - 1].iter().all(|kind| *kind == "update"), "{ended}");
    assert_eq!(objects.last().map(|last| &last["stopReason"]), Some(&"end_turn".into()));
    ended.prints("\"status\":\"completed\"").prints("42");
    assert_eq!(ended.stderr, "");
}

#[test]
fn failures_as_json() {
    let (refuses, ends, wrong) =
        (scripted("agent open refuse"), scripted("agent turn exit"), scripted("agent open deaf"));
    let rows: [(&[&str], i32, Value, &str); 9] = [
        (&["chat", "--json", "--agent", &refuses, "hi"], 3, (-32000).into(), "I would rather not"),
        (&["chat", "--json", "--agent", &ends, "hi"], 1, Value::Null, "exited with status 3"),
        (
            &["chat", "--json", "--timeout", "4", "--agent", &wrong, "hi"],
            124,
            Value::Null,
            "the agent did not answer session/new within 4s",
        ),
        (&["tools", "--json", "/bin/false"], 4, Value::Null, "exited with status 1 before it answered"),
        // A failure before the conversation is reported in the same way, however the form is named.
        (&["chat", "--json", "--agent", "/no/such", "hi"], 4, Value::Null, "there is no such command"),
        (&["chat", "--format", "json", "--agent", "/no/such", "hi"], 4, Value::Null, "no such command"),
        (&["chat", "--format", "json", "--config", "/no/such", "hi"], 2, Value::Null, "/no/such"),
        (&["chat", "--format", "json", "--mcp-config", "/no/such", "hi"], 2, Value::Null, "/no/such"),
        (&["chat", "--format", "quiet", "--json", "hi"], 2, Value::Null, "--json is --format json"),
    ];
    rows::for_each(&rows, |(arguments, exit, code, words)| {
        let ended = run(arguments);
        let objects = ended.exits(*exit).reports(words).objects();
        let error = &objects.last().expect("the failure is told")["error"];
        assert_eq!(error["code"], *code, "{ended}");
        assert!(error["message"].as_str().is_some_and(|text| text.contains(words)), "{ended}");
    });
}

#[test]
fn tools_and_results_as_json() {
    let server = server();
    let tools = run(&["tools", "--json", &server]).exits(0).objects();
    assert!(
        tools.iter().any(|tool| tool["name"] == "add" && tool["inputSchema"]["type"] == "object"),
        "{tools:?}"
    );

    let ended = run(&["call", "--json", &server, "slow", "{\"seconds\": 0.01, \"steps\": 3}"]);
    let objects = ended.exits(0).objects();
    assert_eq!(kinds(&objects), ["progress", "progress", "progress", "result"], "{ended}");
    assert_eq!(objects[2]["progress"]["progress"], 3, "{ended}");

    let ended = run(&["call", "--json", &server, "fail"]);
    let objects = ended.exits(5).objects();
    assert_eq!(kinds(&objects), ["result"], "what the tool says is not a failure of ours: {ended}");
    assert_eq!(objects[0]["result"]["isError"], true, "{ended}");
}

/// The agent's stderr is passed on to ours, and never to stdout.
#[test]
fn log_of_a_healthy_agent_is_shown_with_verbose_only() {
    for json in [false, true] {
        let agent = format!("sh -c 'echo a log line >&2; exec {}'", scripted("agent").replace('\'', "\""));
        let mut arguments = vec!["chat", "--agent", &agent, "hello"];
        arguments.extend(json.then_some("--json"));
        let quiet = run(&arguments);
        assert_eq!(quiet.exits(0).stderr.matches("log line").count(), 0, "{quiet}");
        arguments.push("-v");
        let ended = run(&arguments);
        ended.exits(0).reports("agent: a log line\n");
        assert!(!ended.stdout.contains("log line"), "{ended}");
        assert!(!json || ended.objects().len() == 5, "{ended}");
    }
}

#[test]
fn output_of_others_does_not_steer_the_terminal() {
    let ended = run(&["chat", "\u{1b}[2Jhello\u{7}"]);
    ended.exits(0).prints("[2Jhello");
    assert!(!ended.stdout.contains(['\u{1b}', '\u{7}']), "{ended}");
}

#[test]
fn a_reader_that_has_enough_ends_it() {
    let mut program = Program::start(&["chat", "/burst 1000000000"]);
    program.close_stdin();
    program.stdout.words("99 ");
    program.close_stdout();
    let ended = program.end(SOON);
    assert!(!ended.exits(141).stderr.contains("error"), "{ended}");
}

/// As one that is wrong in another way.
#[test]
fn wrong_command_line_is_an_object_with_json() {
    let rows: [(&[&str], &str); 4] = [
        (&["--json", "nope"], "unrecognized subcommand 'nope'"),
        (&["tools", "x", "--json", "--nope"], "unexpected argument '--nope' found"),
        (&["--json", "login"], "the following required arguments were not provided: <URL>"),
        (
            &["--json", "tools"],
            "the server is missing: write a URL, a quoted command line, or -- and the command",
        ),
    ];
    rows::for_each(&rows, |(arguments, message)| {
        let ended = run(arguments);
        let objects = ended.exits(2).objects();
        assert_eq!(objects.len(), 1, "{ended}");
        assert_eq!(objects[0]["error"]["message"], *message, "{ended}");
    });
    assert_eq!(run(&["nope"]).exits(2).stdout, "");
    assert!(run(&["--json", "--help"]).exits(0).stdout.contains("Usage:"));
}

/// Whatever a command prints: text, a file's description, a list, JSON.
#[test]
fn a_closed_stdout_ends_each_command_in_silence() {
    let server = format!("{} server", agentwire().to_str().expect("UTF-8"));
    // Its log explains nothing here.
    let server = if cfg!(unix) { format!("sh -c 'echo starting >&2; exec {server}'") } else { server };
    let rows: [&[&str]; 9] = [
        &["call", &server, "add", "a=1", "b=2"],
        &["call", &server, "add", "a=1", "b=2", "--json"],
        &["call", &server, "echo", "message=x"],
        &["tools", &server],
        &["inspect", &server],
        &["resources", &server],
        &["prompts", &server],
        &["prompt", &server, "greet", "name=Ada"],
        &["request", &server, "tools/list"],
    ];
    rows::for_each(&rows, |arguments: &&[&str]| {
        let mut program = Program::start(arguments);
        program.close_stdout();
        program.close_stdin();
        let ended = program.end(SOON);
        assert_eq!(ended.exits(141).stderr, "", "{arguments:?}: {ended}");
    });
    let mistyped = Program::run(&["call", &server, "ad", "a=1"], SOON);
    assert!(!mistyped.exits(2).stderr.contains("starting"), "{mistyped}");
}
