//! Programs that are killed while they are busy. No code of theirs runs then; all others must end all the same.

use rustix::process::Signal;

use crate::binaries::{agentwire, scripted};
use crate::program::{PROMPT, Program, SOON};
use crate::rows;

/// How `agentwire chat` may be busy, and what it prints or who runs then.
fn chats() -> Vec<(Vec<String>, &'static str, &'static str)> {
    let slow = "/call slow {\"seconds\": 600, \"steps\": 6000}";
    let good = format!("good='{}' server", agentwire().display());
    let stubborn = format!("bad={}", scripted("server stubborn grandchild"));
    let row = |arguments: &[&str], prints, runs| {
        (arguments.iter().map(|&word| word.into()).collect(), prints, runs)
    };
    vec![
        row(&[slow], "step 1 of 6000", "agentwire server"),
        row(&["--mcp", &good, "--mcp", &stubborn, slow], "step 1 of 6000", "scripted_peer server stubborn"),
        row(&["--yes", "/run exec sleep 601"], "Run", "sleep 601"),
        row(&["--yes", "/run trap '' TERM HUP; sleep 602; :"], "Run", "sleep 602"),
        row(
            &["--agent", &scripted("agent turn silent"), "hello"],
            "working",
            "scripted_peer agent turn silent",
        ),
        row(
            &["--agent", &scripted("agent turn silent stubborn grandchild"), "hello"],
            "working",
            "sleep 600",
        ),
    ]
}

/// Waits for the answer on stdout, or for what a tool does on stderr.
pub(crate) fn is_shown(program: &Program, words: &str) {
    match words {
        "Run" | "step 1 of 6000" => program.stderr.words(words),
        _ => program.stdout.words(words),
    }
}

fn chat(arguments: &[String], prints: &str, runs: &str) -> Program {
    let mut words = vec!["chat"];
    words.extend(arguments.iter().map(String::as_str));
    let mut program = Program::start(&words);
    program.close_stdin();
    is_shown(&program, prints);
    program.runs(runs);
    program
}

#[test]
fn a_killed_chat_leaves_no_process_behind() {
    rows::for_each(&chats(), |(arguments, prints, runs)| {
        let program = chat(arguments, prints, runs);
        program.signal(Signal::KILL);
        let ended = program.end(PROMPT);
        assert_eq!(ended.code(), None, "{ended}");
    });
}

/// The processes under it are asked first, and so the turn.
#[test]
fn a_terminated_chat_leaves_no_process_behind() {
    rows::for_each(&chats(), |(arguments, prints, runs)| {
        let mut program = chat(arguments, prints, runs);
        program.signal_until(Signal::TERM, Program::has_ended);
        let ended = program.end(SOON);
        assert!(ended.code().is_some(), "{ended}");
    });
}

#[test]
fn a_killed_agent_is_reported_and_leaves_no_process_behind() {
    let rows = [
        ("/slow 600", "This takes"),
        ("/call slow {\"seconds\": 600, \"steps\": 6000}", "step 1 of 6000"),
        ("/run exec sleep 603", "Run"),
        ("/burst 1000000000", "99 "),
    ];
    rows::for_each(&rows, |(prompt, prints)| {
        for signal in [Signal::KILL, Signal::TERM] {
            let mut program = chat(&["--yes".into(), (*prompt).into()], prints, "agentwire server");
            program.family.find("agentwire agent").signal(signal);
            let name = if signal == Signal::KILL { "SIGKILL" } else { "SIGTERM" };
            program.end(PROMPT).exits(1).reports(&format!("was killed by {name}"));
        }
    });
}

/// A stopped agent sends nothing.
#[test]
fn a_stopped_agent_can_be_left() {
    let mut program = chat(&["/slow 600".into()], "This takes", "agentwire server");
    program.family.find("agentwire agent").signal(Signal::STOP);
    program.signal_until(Signal::INT, Program::has_ended);
    program.end(SOON).exits(130).reports("interrupted");
}

#[test]
fn a_killed_server_fails_the_call_and_not_the_turn() {
    let mut program = chat(
        &["/call slow {\"seconds\": 600, \"steps\": 6000}".into()],
        "step 1 of 6000",
        "agentwire server",
    );
    program.family.find("agentwire server").signal(Signal::KILL);
    program.end(PROMPT).exits(0).shows("was killed by SIGKILL");
}

#[test]
fn a_call_reports_a_killed_server() {
    let server = format!("'{}' server", agentwire().display());
    let mut program = Program::start(&["call", &server, "slow", "{\"seconds\": 600, \"steps\": 6000}"]);
    program.stderr.words("step 1 of 6000");
    program.family.find("agentwire server").signal(Signal::KILL);
    program.end(PROMPT).exits(1).reports("was killed by SIGKILL");
}

#[test]
fn an_ended_call_leaves_no_process_behind() {
    let rows = [
        ("server turn silent", Signal::KILL),
        ("server turn silent stubborn grandchild", Signal::KILL),
        ("server turn silent", Signal::INT),
        ("server turn silent stubborn grandchild", Signal::INT),
        ("server turn silent stubborn", Signal::TERM),
        ("server initialize silent stubborn", Signal::INT),
    ];
    rows::for_each(&rows, |(script, signal)| {
        let mut program = Program::start(&["call", &scripted(script), "ping"]);
        program.runs(&format!("scripted_peer {script}"));
        program.signal(*signal);
        let ended = program.end(SOON);
        match *signal {
            Signal::KILL => assert_eq!(ended.code(), None, "{ended}"),
            Signal::TERM => drop(ended.exits(143).reports("interrupted")),
            _ => drop(ended.exits(130).reports("interrupted")),
        }
    });
}
