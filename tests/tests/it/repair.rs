//! `agentwire sessions`: damaged sessions are found, and made usable again.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::conversation::Conversation;
use crate::program::{Ended, Program, SOON};

/// A folder with three sessions, each with a turn that is over.
fn store() -> (tempfile::TempDir, Vec<String>) {
    let folder = tempfile::tempdir().expect("there is room");
    let mut agent = agent(folder.path());
    let sessions: Vec<_> = (0..3).map(|_| agent.open(&[])).collect();
    for session in &sessions {
        agent.turn(session, &format!("good morning, {session}"));
    }
    agent.program.close_stdin();
    agent.program.end(SOON).exits(0);
    (folder, sessions)
}

fn agent(folder: &Path) -> Conversation {
    let mut agent = Conversation::with(&["agent", "--store", folder.to_str().expect("it is UTF-8")]);
    let hello = json!({ "protocolVersion": 1, "clientCapabilities": {} });
    assert_eq!(agent.ask("initialize", hello)["result"]["protocolVersion"], 1);
    agent
}

fn file(folder: &Path, session: &str, kind: &str) -> PathBuf {
    folder.join(format!("session-{session}.{kind}"))
}

fn load(agent: &mut Conversation, session: &str) -> Value {
    agent.ask("session/load", json!({ "sessionId": session, "cwd": "/", "mcpServers": [] }))
}

fn sessions(command: &str, folder: &Path, json: bool) -> Ended {
    let store = folder.to_str().expect("it is UTF-8");
    let mut arguments = vec!["sessions", command, "--store", store];
    if json {
        arguments.push("--json");
    }
    Program::run(&arguments, SOON)
}

/// Spoils a byte in the middle of a file.
fn spoil(path: &Path) -> u64 {
    let mut bytes = fs::read(path).expect("it is there");
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(path, bytes).expect("it is ours");
    middle as u64
}

#[test]
fn damaged_sessions_are_named_and_can_be_used_again() {
    let (folder, all) = store();
    let path = folder.path();
    sessions("check", path, false).exits(0).prints("3 of 3 sessions are sound");
    let (spoilt, emptied) = (&all[0], &all[1]);
    let journal = file(path, spoilt, "journal");
    spoil(&journal);
    let before = fs::read(&journal).expect("it is there");
    fs::write(file(path, emptied, "journal"), "").expect("it is ours");

    // It is not an empty session.
    let mut first = agent(path);
    for session in [spoilt, emptied] {
        let refused = load(&mut first, session);
        let message = refused["error"]["message"].as_str().expect("it cannot be loaded");
        assert!(message.contains(session.as_str()) && message.contains("byte "), "{refused}");
    }
    first.program.close_stdin();
    first.program.end(SOON).exits(0);

    let checked = sessions("check", path, false);
    checked
        .exits(1)
        .prints(spoilt)
        .prints(emptied)
        .prints("byte 0 of")
        .reports("2 of 3 sessions are damaged");
    assert!(!checked.stdout.contains(&all[2]), "{checked}");
    let checked = sessions("check", path, true);
    checked.exits(1);
    let lines = checked.objects();
    let line = |id: &str| lines.iter().find(|line| line["sessionId"] == id).expect("it is told of");
    assert_eq!((lines.len(), &line(&all[2])["sound"]), (3, &json!(true)));
    assert_eq!(line(spoilt)["sound"], false);
    assert_eq!(fs::read(&journal).expect("it is there"), before, "checking changes nothing");

    // One that is open is left alone.
    let mut other = agent(path);
    let loaded = load(&mut other, &all[2]);
    assert!(loaded["result"].is_object(), "{loaded}");
    let repaired = sessions("repair", path, false);
    repaired.exits(0).prints("repaired: kept ").prints("aside-1");
    other.program.close_stdin();
    other.program.end(SOON).exits(0);
    sessions("check", path, false).exits(0);
    // Nothing is gone.
    let kept = fs::read(&journal).expect("it is there");
    let aside = fs::read(file(path, spoilt, "aside-1")).expect("the rest is there");
    assert_eq!([kept, aside].concat(), before);
    let mut last = agent(path);
    for session in &all {
        let loaded = load(&mut last, session);
        assert!(loaded["result"].is_object(), "{loaded}");
        last.turn(session, "and on");
    }
    last.program.close_stdin();
    last.program.end(SOON).exits(0);
}

#[test]
fn headers_that_are_damaged_and_journals_that_are_gone_are_repaired() {
    let (folder, all) = store();
    let path = folder.path();
    spoil(&file(path, &all[0], "header"));
    fs::remove_file(file(path, &all[1], "journal")).expect("it is ours");
    // Nothing of this one can be read.
    for kind in ["header", "journal"] {
        fs::write(file(path, &all[2], kind), "!\n!\n!\n").expect("it is ours");
    }
    let checked = sessions("check", path, true);
    checked.exits(1);
    let lines = checked.objects();
    assert_eq!(lines.len(), 3);
    for line in &lines {
        assert_eq!(line["sound"], false, "{line}");
        assert!(
            line["damage"][0]["place"].as_str().is_some_and(|place| place.contains("session-")),
            "{line}"
        );
    }
    let repaired = sessions("repair", path, true);
    repaired.exits(0);
    for line in repaired.objects() {
        assert!(line["damage"][0]["repaired"].is_string(), "{line}");
    }
    for kind in ["aside-1", "aside-2"] {
        assert_eq!(fs::read_to_string(file(path, &all[2], kind)).expect("it is there"), "!\n!\n!\n");
    }
    assert_eq!(sessions("check", path, true).exits(0).objects().len(), 2);
    let mut last = agent(path);
    for session in &all[..2] {
        assert!(load(&mut last, session)["result"].is_object());
        last.turn(session, "and on");
    }
    last.program.close_stdin();
    last.program.end(SOON).exits(0);
}

#[test]
fn a_damaged_session_that_is_open_is_not_repaired() {
    let (folder, all) = store();
    let path = folder.path();
    let mut open = agent(path);
    assert!(load(&mut open, &all[0])["result"].is_object());
    let journal = file(path, &all[0], "journal");
    spoil(&journal);
    let before = fs::read(&journal).expect("it is there");
    sessions("repair", path, false).exits(1).prints("not repaired").prints("open elsewhere");
    assert_eq!(fs::read(&journal).expect("it is there"), before);
    open.program.close_stdin();
    open.program.end(SOON).exits(0);
}

#[test]
fn a_folder_that_is_not_there_is_an_error() {
    for command in ["check", "repair"] {
        Program::run(&["sessions", command, "--store", "/no/such/folder"], SOON)
            .exits(2)
            .reports("error: --store: cannot open /no/such/folder: ");
        Program::run(&["sessions", command], SOON).exits(2).reports("--store");
    }
}
