//! The arguments of a tool reach its server as the text that they are, and so they are shown: no digit is lost on the way.

use std::fs;
use std::path::Path;

use serde_json::json;

use crate::binaries::agentwire;
use crate::conversation::Conversation;
use crate::program::{Program, SOON};

const ARGUMENTS: &str =
    r#"{"message": "hi", "id": 123456789012345678901234567890, "price": 1.10000000000000000000001}"#;

/// The shell command that starts the server with all of its input in a file.
fn server(heard: &Path) -> String {
    format!("tee '{}' | '{}' server", heard.display(), agentwire().display())
}

fn reached(heard: &Path) {
    let heard = fs::read_to_string(heard).expect("the server heard something");
    assert!(heard.contains(&format!(r#""arguments":{ARGUMENTS}"#)), "{heard}");
}

#[test]
fn of_the_command_call() {
    let folder = tempfile::tempdir().expect("a folder");
    let heard = folder.path().join("heard");
    let server = format!("/bin/sh -c \"{}\"", server(&heard));
    Program::run(&["call", &server, "echo", ARGUMENTS], SOON);
    reached(&heard);
}

#[test]
fn of_a_call_in_a_conversation() {
    let folder = tempfile::tempdir().expect("a folder");
    let heard = folder.path().join("heard");
    let mut agent = Conversation::with_agent();
    let session = agent.open(&[("far", json!(["/bin/sh", "-c", server(&heard)]))]);
    let told = agent.turn(&session, &format!("/call echo {ARGUMENTS}"));
    assert!(told.contains(&format!(r#""rawInput":{ARGUMENTS}"#)), "{told}");
    reached(&heard);
}
