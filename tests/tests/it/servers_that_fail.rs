//! MCP servers that go wrong: under `agentwire call` and `tools`, and as one of several in a session.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::agents_that_fail::assert_end_is_reported;
use crate::binaries::{agentwire, scripted};
use crate::conversation::Conversation;
use crate::program::{Ended, Program, SOON};
use crate::rows;

/// The seconds that an agent gives a server: what these tests wait for where it is silent, and enough for those that are not.
const LIMIT: &str = "6";

/// Calls the tool of a server, or lists them if that is what goes wrong.
fn call(script: &str, limit: &str) -> Ended {
    let server = scripted(&format!("server {script}"));
    if script.starts_with("open") {
        Program::run(&["tools", "--timeout", limit, &server], SOON)
    } else {
        Program::run(&["call", "--timeout", limit, &server, "ping"], SOON)
    }
}

#[test]
fn the_end_of_a_server_is_reported_with_its_reason() {
    let faults = [
        ("exit", "exited with status 3"),
        ("kill", "was killed by SIGKILL"),
        ("half-line", "exited with status 3"),
        ("close-stdout", "the server closed the connection"),
        ("close-both stubborn", "the server closed the connection"),
        ("kill grandchild", "was killed by SIGKILL"),
    ];
    assert_end_is_reported(&faults, |script| call(script, "60"));
}

#[test]
fn a_server_that_does_not_answer_times_out() {
    let faults = ["silent", "deaf", "flood", "wrong-id", "close-stdin", "deaf stubborn", "silent grandchild"];
    let moments = [("initialize", ""), ("open", ""), ("turn", " tools/call")];
    let rows: Vec<_> = moments.iter().flat_map(|moment| faults.map(|fault| (moment, fault))).collect();
    rows::for_each(&rows, |((moment, method), fault)| {
        let begun = Instant::now();
        let ended = call(&format!("{moment} {fault}"), "4");
        ended.exits(124).reports(&format!("error: the server did not answer{method} within 4s\n"));
        // Connecting, the call and the end of the process share the time. The rest is for a slow machine.
        assert!(begun.elapsed() < Duration::from_secs(12), "{:?}: {ended}", begun.elapsed());
    });
}

/// As in the library: 2 s after its stdin is closed, and 2 s after SIGTERM.
#[test]
fn server_has_the_time_of_the_library_to_end() {
    let folder = tempfile::tempdir().expect("there is room");
    let file = folder.path().join("ended");
    let (program, file_name) = (agentwire().display(), file.display());
    let server = format!("sh -c '{program} server; sleep 1; touch {file_name}'");
    Program::run(&["tools", &server], SOON).exits(0);
    assert!(file.exists(), "it was killed while it ended");
}

#[test]
fn a_wrong_answer_of_a_server_is_reported() {
    let rows = [
        ("initialize version", "2999-12-31"),
        ("initialize refuse", "the server refused initialize: scripted: I would rather not"),
        ("open refuse", "the server refused tools/list: scripted: I would rather not"),
        ("turn refuse", "the server refused tools/call: scripted: I would rather not"),
        ("initialize wrong-shape", "the server's answer to initialize cannot be read: "),
        ("open wrong-shape", "the server's answer to tools/list cannot be read: "),
        ("turn wrong-shape", "the server's answer to tools/call cannot be read: "),
    ];
    rows::for_each(&rows, |(script, words)| {
        // The error of a tool is one of the tool.
        let code = if *script == "turn refuse" { 5 } else { 1 };
        call(script, "60").exits(code).reports(words);
    });
}

#[test]
fn noise_does_not_disturb_a_call() {
    let noises = ["garbage", "strays", "chatter"];
    let moments = ["start", "initialize", "open", "turn"];
    let rows = moments.iter().flat_map(|moment| noises.map(|noise| format!("{moment} {noise}")));
    let rows: Vec<_> = rows.chain(["grandchild".into(), "stubborn grandchild".into()]).collect();
    rows::for_each(&rows, |script| {
        call(script, "60").exits(0).prints(if script.starts_with("open") { "ping" } else { "pong" });
    });
}

/// One server of a session never starts. The turn reports it, and the other goes on.
#[test]
fn a_server_that_fails_costs_a_session_its_own_tools_only() {
    let rows = [
        ("start exit", "failed: the call has no answer: the connection closed: "),
        ("initialize kill", "was killed by SIGKILL"),
        ("initialize half-line", "exited with status 3"),
        ("initialize close-stdout", "failed: the call has no answer: the connection closed"),
        ("initialize silent", "did not tell its tools within 6s"),
        ("initialize flood", "did not tell its tools within 6s"),
        ("initialize deaf stubborn", "did not tell its tools within 6s"),
        ("initialize kill grandchild", "was killed by SIGKILL"),
        ("initialize version", "2999-12-31"),
        ("open exit", "its last words were: scripted: I have had enough"),
        ("open silent", "within 6s"),
        ("open wrong-shape", "tools/list: the answer cannot be read"),
    ];
    rows::for_each(&rows, |(script, words)| {
        let mut agent = Conversation::with_agent_of(LIMIT);
        let session = agent.open(&servers(script));
        let told = agent.turn(&session, "/tools");
        assert!(told.contains("MCP server bad: failed: ") && told.contains(words), "{told}");
        assert!(told.contains("Add two numbers"), "{told}");
        goes_on(agent, &session);
    });
}

#[test]
fn a_server_that_fails_in_a_call_fails_that_call_only() {
    let rows = [
        ("turn exit", "its last words were: scripted: I have had enough"),
        ("turn kill", "was killed by SIGKILL"),
        ("turn half-line", "exited with status 3"),
        ("turn close-stdout", "the connection closed"),
        ("turn kill grandchild", "was killed by SIGKILL"),
        ("turn silent", "no answer within 6s"),
        ("turn flood", "no answer within 6s"),
        ("turn deaf stubborn", "no answer within 6s"),
        ("turn wrong-id", "no answer within 6s"),
        ("turn refuse", "scripted: I would rather not"),
        ("turn wrong-shape", "the answer cannot be read"),
    ];
    rows::for_each(&rows, |(script, words)| {
        let mut agent = Conversation::with_agent_of(LIMIT);
        let session = agent.open(&servers(script));
        let told = agent.turn(&session, "/call ping");
        assert!(told.contains("\"status\":\"failed\"") && told.contains(words), "{told}");
        goes_on(agent, &session);
    });
}

#[test]
fn noise_does_not_disturb_a_session() {
    let rows =
        ["start garbage", "initialize strays", "open chatter", "turn garbage", "turn strays", "turn chatter"];
    rows::for_each(&rows, |script| {
        let mut agent = Conversation::with_agent_of(LIMIT);
        let session = agent.open(&servers(script));
        let told = agent.turn(&session, "/call ping");
        assert!(told.contains("\"status\":\"completed\"") && told.contains("pong"), "{told}");
        goes_on(agent, &session);
    });
}

/// A server of ours, and one that goes wrong.
fn servers(script: &str) -> [(&'static str, Value); 2] {
    let mut bad = vec![env!("CARGO_BIN_EXE_scripted_peer"), "server"];
    bad.extend(script.split(' '));
    [("good", json!([agentwire().to_str().expect("it is UTF-8"), "server"])), ("bad", json!(bad))]
}

/// The other server still works, and no process is left at the end.
fn goes_on(mut agent: Conversation, session: &str) {
    let told = agent.turn(session, "/call add {\"a\": 2, \"b\": 40}");
    assert!(told.contains("\"status\":\"completed\"") && told.contains("42"), "{told}");
    agent.program.close_stdin();
    agent.program.end(SOON).exits(0);
}
