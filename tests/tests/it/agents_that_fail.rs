//! `agentwire chat` with agents that go wrong.

use rustix::process::Signal;

use crate::binaries::scripted;
use crate::program::{Ended, Program, SOON};
use crate::rows;

/// The text of the scripted agent in a turn that succeeds.
const WELL: &str = "working done";

/// Begins to talk to an agent that has so many seconds to open the session.
fn chat(script: &str, limit: &str) -> Program {
    let agent = scripted(&format!("agent {script}"));
    let mut program = Program::start(&["chat", "--timeout", limit, "--agent", &agent, "hello"]);
    program.close_stdin();
    program
}

/// Asserts the report of the end of an agent or a server: how it ended, after which moments it counts as one that cannot be
/// reached, and its stderr, once. `run` takes the arguments of the scripted program.
#[track_caller]
pub(crate) fn assert_end_is_reported(faults: &[(&str, &str)], run: impl Fn(&str) -> Ended + Sync) {
    // One that has answered nothing cannot be reached.
    let moments = [
        ("start", 4, " before it answered"),
        ("initialize", 4, " before it answered"),
        ("open", 1, ""),
        ("turn", 1, ""),
    ];
    let rows: Vec<_> =
        moments.iter().flat_map(|moment| faults.iter().map(move |row| (moment, row))).collect();
    rows::for_each(&rows, |((moment, code, before), (fault, words))| {
        let ended = run(&format!("{moment} {fault}"));
        ended.exits(*code).reports(&format!("{words}{before}\n"));
        let count = ended.stderr.matches("scripted: I have had enough").count();
        let writes = fault.starts_with("exit") || *fault == "half-line";
        assert_eq!(count, usize::from(writes), "its stderr is there once: {ended}");
    });
}

#[test]
fn the_end_of_an_agent_is_reported_with_its_reason() {
    let faults = [
        ("exit", "exited with status 3"),
        ("kill", "was killed by SIGKILL"),
        ("half-line", "exited with status 3"),
        ("close-stdout", "the agent closed the connection"),
        ("close-both", "the agent closed the connection"),
        ("close-both stubborn", "the agent closed the connection"),
        ("exit grandchild", "exited with status 3"),
        ("kill grandchild", "was killed by SIGKILL"),
    ];
    assert_end_is_reported(&faults, |script| chat(script, "60").end(SOON));
}

#[test]
fn an_agent_that_does_not_answer_times_out() {
    let faults =
        ["silent", "deaf", "flood", "wrong-id", "silent stubborn", "flood stubborn", "silent grandchild"];
    let moments = [("start", "initialize"), ("initialize", "initialize"), ("open", "session/new")];
    let rows: Vec<_> = moments.iter().flat_map(|moment| faults.map(|fault| (moment, fault))).collect();
    rows::for_each(&rows, |((moment, method), fault)| {
        let ended = chat(&format!("{moment} {fault}"), "4").end(SOON);
        ended.exits(124).reports(&format!("error: the agent did not answer {method} within 4s\n"));
    });
}

#[test]
fn a_wrong_answer_of_an_agent_is_reported() {
    // Once the agent is initialized, the code of the refusal means that a login is needed.
    let rows = [
        ("initialize version", 1, "the agent speaks version 99"),
        ("initialize refuse", 1, "the agent refused initialize: scripted: I would rather not"),
        ("open refuse", 3, "the agent refused session/new: scripted: I would rather not"),
        ("turn refuse", 3, "the agent refused session/prompt: scripted: I would rather not"),
        ("initialize wrong-shape", 1, "the agent's answer to initialize cannot be read: "),
        ("open wrong-shape", 1, "the agent's answer to session/new cannot be read: "),
        ("turn wrong-shape", 1, "the agent's answer to session/prompt cannot be read: "),
    ];
    rows::for_each(&rows, |(script, code, words)| {
        chat(script, "60").end(SOON).exits(*code).reports(words);
    });
}

#[test]
fn noise_does_not_disturb_a_conversation() {
    let noises = ["garbage", "strays", "chatter"];
    let moments = ["start", "initialize", "open", "turn"];
    let rows = moments.iter().flat_map(|moment| noises.map(|noise| format!("{moment} {noise}")));
    let rows: Vec<_> = rows.chain(["grandchild".into(), "stubborn grandchild".into()]).collect();
    rows::for_each(&rows, |script| {
        chat(script, "60").end(SOON).exits(0).prints(WELL);
    });
}

#[test]
fn a_second_interrupt_ends_a_turn_with_an_agent_that_does_not_listen() {
    let faults = ["silent", "deaf", "flood", "wrong-id", "close-stdin", "deaf stubborn", "deaf grandchild"];
    rows::for_each(&faults, |fault| {
        let mut program = chat(&format!("turn {fault}"), "60");
        program.stdout.words("working");
        program.signal_until(Signal::INT, Program::has_ended);
        program.end(SOON).exits(130).reports("error: interrupted");
    });
}

/// A script interrupts a command once.
#[test]
fn one_interrupt_ends_a_turn_without_a_terminal() {
    let faults = ["silent", "deaf", "flood", "deaf stubborn", "silent grandchild"];
    rows::for_each(&faults, |fault| {
        let program = chat(&format!("turn {fault}"), "60");
        program.stdout.words("working");
        program.signal(Signal::INT);
        program.end(SOON).exits(130).reports("error: interrupted; the agent did not end the turn\n");
    });
}

#[test]
fn the_time_limit_holds_for_the_turn_too() {
    let faults = ["silent", "deaf", "flood", "close-stdin", "deaf stubborn", "silent grandchild"];
    rows::for_each(&faults, |fault| {
        let ended = chat(&format!("turn {fault}"), "4").end(SOON);
        ended.exits(124).prints("working").reports("error: the agent did not end the turn within 4s\n");
    });
}
