//! Client, agent and MCP server, all ours, and all at work.

use std::fs;

use rustix::process::Signal;

use crate::binaries::{recorded, scripted};
use crate::killed::is_shown;
use crate::program::{Program, SOON};
use crate::rows;

#[test]
fn a_tool_is_called_through_the_whole_chain() {
    for version in ["1", "2"] {
        let ended = Program::run(&["chat", "--protocol", version, "/call add {\"a\": 2, \"b\": 40}"], SOON);
        assert_eq!(ended.exits(0).stdout, "{\"sum\":42}\n", "{ended}");
    }
    let ended = Program::run(&["chat", "/call fail"], SOON);
    ended.exits(0).prints("always fails");
    let ended = Program::run(&["chat", "/tools"], SOON);
    ended.exits(0).shows("Add two numbers").shows("cancelled-count");
}

/// Waiting for the end of such a chain also checks all its messages.
#[test]
fn messages_in_a_chain_are_valid() {
    let folder = tempfile::tempdir().expect("there is room");
    fs::write(folder.path().join("a.txt"), "what is in it").expect("it can be written");
    let (agent, server) = (recorded("acp", "agent"), format!("demo={}", recorded("mcp", "server")));
    let start = |options: &[&str], prompt| {
        let chain = ["chat", "--agent", &agent, "--mcp", &server, prompt];
        let mut program = Program::start_in(folder.path(), &[&chain, options].concat());
        program.close_stdin();
        program
    };
    // Three requests of the client's, with their answers, the agent's commands, and what the row adds.
    let least = 7;
    let rows: [(&[&str], &str, &str, usize); 15] = [
        (&[], "hello", "You said: hello", 1),
        (&[], "/nothing", "There is no command", 1),
        (&[], "/tools", "Add two numbers", 6),
        (&[], "/plan", "", 5),
        (&[], "/burst 20", "19", 20),
        (&[], "/call add {\"a\": 2, \"b\": 40}", "42", 9),
        (&[], "/call echo {\"message\": \"\\u0000ä\"}", "ä", 9),
        (&[], "/call fail", "always fails", 9),
        (&[], "/call add {\"a\": true}", "✗", 9),
        (&[], "/call slow {\"seconds\": 0.01, \"steps\": 3}", "took", 12),
        (&["--yes"], "/read a.txt", "what is in it", 5),
        (&["--yes"], "/read missing.txt", "✗", 5),
        (&["--yes"], "/write b.txt new", "b.txt", 5),
        (&["--yes"], "/run echo $((6 * 7)); exit 3", "42", 9),
        (&[], "/write c.txt no", "not permitted", 4),
    ];
    rows::for_each(&rows, |(options, prompt, prints, more)| {
        let ended = start(options, prompt).end(SOON);
        ended.exits(if *prints == "not permitted" { 6 } else { 0 }).shows(prints);
        assert!(ended.checked >= least + more, "{} were checked: {ended}", ended.checked);
    });
    let interrupted = [
        ("/slow 600", "This takes"),
        ("/call slow {\"seconds\": 600, \"steps\": 6000}", "step 1 of 6000"),
        ("/run exec sleep 605", "Run"),
    ];
    rows::for_each(&interrupted, |(prompt, prints)| {
        let program = start(&["--yes"], prompt);
        is_shown(&program, prints);
        program.signal(Signal::INT);
        let ended = program.end(SOON);
        ended.exits(130).reports("[cancelled]");
        assert!(ended.checked > least, "{} were checked: {ended}", ended.checked);
    });
}

#[test]
fn a_session_has_the_servers_that_were_named() {
    let server = format!("mine={}", scripted("server"));
    let other = format!("other={}", scripted("server"));
    let ended = Program::run(&["chat", "--mcp", &server, "/call ping"], SOON);
    ended.exits(0).shows("pong");
    let ended = Program::run(&["chat", "--mcp", &server, "--mcp", &other, "/tools"], SOON);
    ended.exits(0).shows("mine__ping").shows("other__ping");
}

#[test]
fn the_prompt_may_come_from_stdin() {
    let mut program = Program::start(&["chat"]);
    assert!(program.write(b"hello, two\nlines"));
    program.close_stdin();
    program.end(SOON).exits(0).prints("You said: hello, two\nlines");
}

#[test]
fn files_and_commands_are_the_clients_and_need_its_permission() {
    let folder = tempfile::tempdir().expect("there is room");
    fs::write(folder.path().join("a.txt"), "what is in it").expect("it can be written");
    let chat = |arguments: &[&str]| {
        let mut words = vec!["chat"];
        words.extend(arguments);
        let mut program = Program::start_in(folder.path(), &words);
        program.close_stdin();
        program.end(SOON)
    };
    chat(&["--yes", "/read a.txt"]).exits(0).shows("what is in it");
    chat(&["--yes", "/write b.txt something new"]).exits(0);
    assert_eq!(fs::read_to_string(folder.path().join("b.txt")).expect("it was written"), "something new");
    chat(&["--yes", "/run echo $((6 * 7)) && pwd"]).exits(0).shows("42\n");

    let refused = chat(&["/write c.txt nothing"]);
    refused.exits(6).shows("not permitted");
    assert!(!folder.path().join("c.txt").exists(), "{refused}");
    let elsewhere = chat(&["--yes", "/read /etc/hostname"]);
    elsewhere.exits(0).reports("✗ Read /etc/hostname");

    let other = tempfile::tempdir().expect("there is room");
    let other = other.path().to_str().expect("it is UTF-8");
    let ended = chat(&["--yes", "--cwd", other, "/run pwd"]);
    ended.exits(0).shows(other);
}

#[test]
fn an_interrupt_cancels_the_turn() {
    let rows = [
        ("/slow 600", "This takes"),
        ("/call slow {\"seconds\": 600, \"steps\": 6000}", "step 1 of 6000"),
        ("/run exec sleep 604", "Run"),
        ("/burst 1000000000", "99 "),
    ];
    for (prompt, prints) in rows {
        for json in [false, true] {
            let mut words = vec!["chat", "--yes", prompt];
            words.extend(json.then_some("--json"));
            let mut program = Program::start(&words);
            program.close_stdin();
            if json {
                program.stdout.words(prints);
            } else {
                is_shown(&program, prints);
            }
            program.signal(Signal::INT);
            let ended = program.end(SOON);
            if json {
                ended.prints("{\"stopReason\":\"cancelled\"}\n");
            } else {
                ended.reports("[cancelled]\n");
            }
            ended.exits(130);
        }
    }
}

/// The session is open, and everybody waits for the person.
#[test]
fn a_waiting_chat_ends_with_its_agent_or_on_an_interrupt() {
    // The agent goes.
    let mut program = waiting(&["chat", "--json"]);
    program.family.find("agentwire agent").signal(Signal::KILL);
    program.end(SOON).exits(1).reports("was killed by SIGKILL");
    // The person goes.
    let program = waiting(&["chat", "--json"]);
    program.signal(Signal::INT);
    program.end(SOON).exits(130).reports("interrupted");
}

/// The agent has stopped reading, and the prompt is longer than what fits into a pipe.
#[test]
fn an_interrupt_ends_a_prompt_that_is_not_taken() {
    let agent = scripted("agent open deafen stubborn");
    let mut program = waiting(&["chat", "--json", "--agent", &agent]);
    program.write(&b"all work and no play ".repeat(50_000));
    program.close_stdin();
    program.signal_until(Signal::INT, Program::has_ended);
    program.end(SOON).exits(130);
}

fn waiting(words: &[&str]) -> Program {
    let program = Program::start(words);
    program.stdout.words("{\"session\":");
    program
}
