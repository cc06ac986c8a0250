//! Recordings of our programs with those of others, and with each other, are played against ours without a difference.

use std::ffi::OsStr;
use std::fs;
use std::path::Path;

use tempfile::TempDir;

use crate::binaries::agentwire;
use crate::program::{Ended, Program, SOON};

/// The path of a transcript.
fn transcript(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("transcripts").join(name);
    path.to_str().expect("UTF-8").to_owned()
}

/// The command line of the recorded side.
fn played(name: &str) -> String {
    format!("'{}' replay '{}'", agentwire().display(), transcript(name))
}

/// Runs our side with a home folder, which recordings name by a mask.
fn run_at(home: &Path, arguments: &[&str]) -> Ended {
    // The recorded side reports a difference on its stderr, which is shown with `-v`.
    let arguments = [&arguments[..1], &["-v"], &arguments[1..]].concat();
    let mut program = Program::start_with(&[("HOME", OsStr::new(home))], &arguments);
    program.close_stdin();
    program.end(SOON)
}

/// A home folder with the project of the recordings, and the path of that.
fn home() -> (TempDir, String) {
    let home = tempfile::tempdir().expect("there is room");
    let project = home.path().join("project");
    fs::create_dir(&project).expect("there is room");
    let project = project.to_str().expect("UTF-8").to_owned();
    (home, project)
}

/// The messages of our client to a recorded agent.
fn chat_with(name: &str, prompt: impl Fn(&str) -> String) -> Ended {
    let (home, project) = home();
    let prompt = prompt(&project);
    run_at(home.path(), &["chat", "--json", "--agent", &played(name), "--cwd", &project, "--yes", &prompt])
}

/// The prompt at which a model calls Claude's tool that writes a file.
fn write_call(project: &str) -> String {
    format!(r#"[call Write {{"file_path":"{project}/note.txt","content":"hello from the model"}}]"#)
}

/// The prompt at which a model calls Codex's shell.
const SHELL_CALL: &str = r#"[call exec_command {"cmd":"echo hello from the model > note.txt","sandbox_permissions":"require_escalated","justification":"to write a note"}]"#;

#[track_caller]
fn has_no_difference(ended: &Ended) {
    ended.exits(0);
    assert!(!ended.stderr.contains("difference") && !ended.stderr.contains("recorded"), "{ended}");
}

#[test]
fn recorded_agents_find_no_difference_in_our_client() {
    let claude = chat_with("acp-agentwire-claude-agent-acp.jsonl", write_call);
    has_no_difference(&claude);
    let codex = chat_with("acp-agentwire-codex-acp.jsonl", |_| SHELL_CALL.to_owned());
    has_no_difference(&codex);
    for ended in [claude, codex] {
        ended.prints(r#""outcome":"selected""#).prints(r#""stopReason":"end_turn""#);
    }
    let ours = chat_with("acp-agentwire-agentwire.jsonl", |_| "hello there".to_owned());
    has_no_difference(&ours);
    ours.prints("You said: ");
}

#[test]
fn a_differing_message_of_a_client_is_reported() {
    let ended = chat_with("acp-agentwire-claude-agent-acp.jsonl", |project| write_call(project) + " now");
    ended.reports("session/prompt /params/prompt/0/text: recorded ").reports("the replay has 1 difference");
}

#[test]
fn a_recorded_server_finds_no_difference_in_our_client() {
    let folder = tempfile::tempdir().expect("there is room");
    let tools = run_at(folder.path(), &["tools", &played("mcp-agentwire-server-everything-tools.jsonl")]);
    has_no_difference(&tools);
    tools.prints("get-annotated-message");
    // The server has it only for clients with forms.
    tools.prints("trigger-elicitation-request");
    let server = played("mcp-agentwire-server-everything-call.jsonl");
    let called = run_at(folder.path(), &["call", &server, "echo", r#"{"message":"grüß dich"}"#]);
    has_no_difference(&called);
    called.prints("Echo: grüß dich");
    let ended = run_at(folder.path(), &["call", &server, "echo", r#"{"message":"other"}"#]);
    ended.reports("tools/call /params/arguments/message: recorded ").reports("the replay has 1 difference");
}

#[test]
fn a_recorded_client_finds_no_difference_in_our_agent() {
    let (home, _project) = home();
    let agent = agentwire().to_str().expect("UTF-8");
    let file = transcript("acp-agentwire-agentwire.jsonl");
    let ended = run_at(home.path(), &["replay", &file, "--", agent, "agent"]);
    assert_eq!(ended.exits(0).stdout, "");
}
