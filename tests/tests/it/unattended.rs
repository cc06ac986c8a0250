//! The abilities of an agent, and the answers that it gets, without a person at a terminal.

use serde_json::json;

use crate::binaries::acting;
use crate::chat::script;
use crate::program::{Program, SOON};
use crate::terminal::{Terminal, leaves};

/// An agent that runs a command and writes a file without asking, even if the client does not offer it.
fn acts(folder: &str) -> String {
    let command = json!({ "sessionId": "s1", "command": "touch", "args": [format!("{folder}/ran")] });
    let file = json!({ "sessionId": "s1", "path": format!("{folder}/written"), "content": "x" });
    let wait = json!({ "sessionId": "s1", "terminalId": "term-1" });
    let steps = json!([
        { "ask": ["terminal/create", command] },
        "hear",
        { "ask": ["terminal/wait_for_exit", wait] },
        { "ask": ["fs/write_text_file", file] },
        "hear",
        { "ask": ["fs/read_text_file", { "sessionId": "s1", "path": format!("{folder}/there") }] },
        "hear",
        { "answer": { "stopReason": "end_turn" } },
    ]);
    acting(&script(json!({}), json!({ "session/prompt": steps })))
}

#[test]
fn without_a_person_and_yes_an_agent_runs_and_writes_nothing() {
    for json in [false, true] {
        let folder = tempfile::tempdir().expect("there is room");
        std::fs::write(folder.path().join("there"), "what is there").expect("there is room");
        let path = folder.path().to_str().expect("it is UTF-8");
        let agent = acts(path);
        let mut arguments = vec!["chat", "--cwd", path, "--agent", &agent, "hello"];
        arguments.extend(json.then_some("--json"));
        let ended = Program::run(&arguments, SOON);
        ended
            .exits(0)
            .shows("what is there")
            .shows("method not found: terminal/create")
            .shows("method not found: fs/write_text_file");
        assert!(!folder.path().join("ran").exists() && !folder.path().join("written").exists(), "{ended}");

        arguments.push("--yes");
        Program::run(&arguments, SOON).exits(0).shows("what is there");
        assert!(folder.path().join("written").exists());
    }
}

#[test]
fn work_without_a_person_is_not_offered_either() {
    // Our agent asks for nothing in this mode, and looks at what the client offers.
    let arguments = ["chat", "--mode", "auto", "/run echo $((6 * 7))"];
    let ended = Program::run(&arguments, SOON);
    ended.exits(0).shows("did not advertise");
    assert!(!ended.stdout.contains("42"), "{ended}");
    Program::run(&[&arguments[..], &["--yes"]].concat(), SOON).exits(0).shows("42");
}

#[test]
fn rejection_for_want_of_a_person_is_reported() {
    let words = "rejected, because nobody is at a terminal to be asked (--allow execute permits such calls, --yes permits \
                 everything): Run echo hi\n";
    let error = "error: a permission was refused, because nobody is at a terminal to be asked; see --approve-reads, \
                 --allow and --yes\n";
    for more in [&[][..], &["--json"], &["--protocol", "2"], &["--protocol", "2", "--json"]] {
        let ended = Program::run(&[&["chat", "/run echo hi"], more].concat(), SOON);
        ended.exits(6).shows("not permitted").reports(words).reports(error);
    }
    // Who reads JSON at a terminal is not a person either.
    let terminal = Terminal::new();
    let chat = Program::start_at(&terminal, &["chat", "--json", "/run echo hi"]);
    chat.stdout
        .words("rejected, because nobody is at a terminal to be asked (--allow execute permits such calls");
    leaves(chat, &terminal, 6);
}

#[test]
fn an_unanswerable_question_of_a_server_is_refused_with_a_reason() {
    let order = ["chat", "--mode", "auto", "/call order {}"];
    for more in [&[][..], &["--json"], &["--yes"], &["--protocol", "2"]] {
        let ended = Program::run(&[&order[..], more].concat(), SOON);
        ended
            .exits(0)
            .shows("the server `demo` asks for what cannot be answered here: a form for the user to fill in");
    }
    let folder = tempfile::tempdir().expect("there is room");
    let path = folder.path().to_str().expect("it is UTF-8");
    Program::run(&["chat", "--mode", "auto", "--cwd", path, "/call roots {}"], SOON)
        .exits(0)
        .shows(&format!("file://{path}"));
}
