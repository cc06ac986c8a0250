//! `--trace`: the messages of a command, line by line, without secrets.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::binaries::agentwire;
use crate::program::{Program, SOON};

const SECRET: &str = "planted-s3cret-value";

fn lines(path: &Path) -> Vec<Value> {
    let text = fs::read_to_string(path).expect("the trace");
    assert!(!text.contains(SECRET), "{text}");
    text.lines().map(|line| serde_json::from_str(line).expect("each line is JSON")).collect()
}

/// The direction, and the method or that it is an answer.
fn shown(line: &Value) -> String {
    let time = line["time"].as_str().expect("a time");
    assert!(time.len() == "2026-01-31T12:00:00.000Z".len() && time.ends_with('Z'), "{time}");
    let what = line["message"]["method"].as_str().unwrap_or("answer");
    format!("{} {what}", line["direction"].as_str().expect("a direction"))
}

#[test]
fn a_call_is_traced_with_times_and_directions() {
    let folder = tempfile::tempdir().expect("there is room");
    let file = folder.path().join("trace.jsonl");
    let path = file.to_str().expect("UTF-8");
    let server = format!("'{}' server", agentwire().display());
    let arguments = format!(r#"{{"message":"x","token":"{SECRET}"}}"#);
    Program::run(&["call", "--era", "modern", "--trace", path, &server, "echo", &arguments], SOON).exits(0);
    let seen: Vec<_> = lines(&file).iter().map(shown).collect();
    let expected = ["sent server/discover", "received answer", "sent tools/call", "received answer"];
    assert_eq!(seen, expected);
    // A trace is as good as a recording.
    Program::run(&["replay", path, "--", agentwire().to_str().expect("UTF-8"), "server"], SOON).exits(0);
}

/// The message is in the file before the answer arrives.
#[test]
fn a_trace_is_written_while_the_command_runs() {
    let folder = tempfile::tempdir().expect("there is room");
    let file = folder.path().join("trace.jsonl");
    let path = file.to_str().expect("UTF-8");
    let mut agent = Program::start(&["agent", "--trace", path]);
    let initialize = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1}}"#;
    assert!(agent.write(format!("{initialize}\n").as_bytes()));
    agent.stdout.words("agentCapabilities");
    let deadline = std::time::Instant::now() + SOON;
    while lines(&file).len() < 2 {
        assert!(std::time::Instant::now() < deadline, "nothing is written while the agent runs");
        std::thread::yield_now();
    }
    let seen: Vec<_> = lines(&file).iter().map(shown).collect();
    assert_eq!(seen, ["received initialize", "sent answer"]);
    agent.close_stdin();
    agent.end(SOON).exits(0);
}

#[test]
fn a_trace_is_refused_by_commands_without_messages() {
    let folder = tempfile::tempdir().expect("there is room");
    let path = folder.path().join("trace.jsonl");
    let path = path.to_str().expect("UTF-8");
    Program::run(&["sessions", "check", "--store", "/", "--trace", path], SOON)
        .exits(2)
        .reports("--trace: this command passes no messages");
    Program::run(&["agent", "--trace", path, "--record", path], SOON).exits(2).reports("cannot be used with");
    assert!(!Path::new(path).exists());
}
