//! `agentwire call`, of a tool that runs as a task.

use std::time::Instant;

use rustix::process::Signal;

use crate::binaries::recorded;
use crate::network::Server;
use crate::program::{Program, SOON};
use crate::terminal::{Terminal, answer, leaves, next};

#[test]
fn a_call_waits_for_its_task_and_prints_its_status() {
    let server = recorded("mcp", "server");
    let job = "{\"seconds\": 1.5, \"steps\": 3}";
    for json in [false, true] {
        let mut arguments = vec!["call", "--era", "modern", &server, "job", job];
        arguments.extend(json.then_some("--json"));
        let ended = Program::run(&arguments, SOON);
        ended.exits(0).prints("did 3 steps").reports("task working: step 1 of 3").reports("task completed");
        let results = ended.stdout.lines().filter(|line| line.contains("\"result\"")).count();
        assert_eq!(results, usize::from(json), "{ended}");
    }
    // In a session the client decides, and does not ask for one.
    let ended = Program::run(&["call", "--era", "legacy", &server, "job", job], SOON);
    ended.exits(0).prints("did 3 steps").reports("3/3 step 3 of 3");
    assert!(!ended.stderr.contains("task "), "{ended}");
}

#[test]
fn a_question_of_a_task_is_asked_at_the_terminal() {
    let terminal = Terminal::new();
    let server = recorded("mcp", "server");
    let job = "{\"seconds\": 0.5, \"steps\": 2, \"ask\": true}";
    let mut call = Program::start_at(&terminal, &["call", "--era", "modern", &server, "job", job]);
    let mut seen = 0;
    // The task's status may come before the question or behind it.
    next(&call, &mut seen, "Do the last step?");
    next(&call, &mut seen, "Sure *: ");
    call.write(b"y\r");
    next(&call, &mut seen, "Send this? [y/n] ");
    answer(&mut call, &mut seen, "Send this? [y/n] ", "y", "did 2 steps");
    leaves(call, &terminal, 0);
}

/// Interrupts a call whose task works, and waits until the server reports that it is cancelled.
#[track_caller]
fn assert_interrupt_cancels(url: &str, arguments: &[&str]) {
    let mut call = Program::start(&[&["call"], arguments].concat());
    call.close_stdin();
    call.stderr.words("task working");
    call.signal(Signal::INT);
    call.end(SOON).exits(130).reports(" was cancelled\nerror: interrupted\n");
    let deadline = Instant::now() + SOON;
    while Program::run(&["call", url, "cancelled-count"], SOON).exits(0).stdout != "1\n" {
        assert!(Instant::now() < deadline, "it is not cancelled");
    }
}

#[test]
fn an_interrupt_cancels_a_task_at_the_server() {
    let server = Server::start();
    let url = format!("{}/mcp", server.origin);
    let job = "{\"seconds\": 600, \"steps\": 2}";
    assert_interrupt_cancels(&url, &["--era", "modern", &url, "job", job]);
    server.end();
}

/// A tool that runs as a task only, of a session's server: the call is refused as such, and made as a task.
#[test]
fn a_tool_that_is_a_task_only_is_called() {
    let over_http = Server::start();
    let url = format!("{}/mcp", over_http.origin);
    let command = recorded("mcp", "server");
    for server in [&command, &url] {
        let job = "{\"seconds\": 1.5, \"steps\": 3}";
        let ended = Program::run(&["call", "--era", "legacy", server, "task", job], SOON);
        ended.exits(0).prints("did 3 steps").reports("3/3 step 3 of 3").reports("task completed");
        let ended = Program::run(&["call", "--era", "legacy", "--json", server, "task", job], SOON);
        ended.exits(0).prints("{\"result\":{").prints("\"progress\":3");
        // One that is done before anybody asks, and one that fails.
        let ended = Program::run(&["call", "--era", "legacy", server, "task", "{\"seconds\": 0}"], SOON);
        ended.exits(0).prints("did 1 steps");
        let ended = Program::run(&["call", "--era", "legacy", server, "task", "{\"seconds\": -1}"], SOON);
        ended.exits(5).prints("seconds must be 0 to").reports("the tool failed");
    }
    let job = "{\"seconds\": 600, \"steps\": 2}";
    assert_interrupt_cancels(&url, &["--era", "legacy", &url, "task", job]);
    over_http.end();
}
