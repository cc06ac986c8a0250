//! The completions of shells, the pages of `man`, and the commands that print no JSON.

use std::fs;

use crate::program::{Program, SOON};
use crate::rows;

#[test]
fn each_shell_gets_completions_of_the_commands() {
    let shells = ["bash", "zsh", "fish", "powershell", "elvish"];
    rows::for_each(&shells, |shell| {
        let ended = Program::run(&["completions", shell], SOON);
        ended.exits(0).prints("mcp-config").prints("sessions");
        assert_eq!(ended.stderr, "");
    });
    Program::run(&["completions", "cmd"], SOON).exits(2).reports("[possible values: bash, elvish, fish, ");
}

#[test]
fn commands_on_every_level_have_pages() {
    let folder = tempfile::tempdir().expect("there is room");
    let pages = folder.path().join("man1");
    let ended = Program::run(&["man", pages.to_str().expect("UTF-8")], SOON);
    ended.exits(0).prints("agentwire-sessions-check.1\n");
    let page = |name: &str| fs::read_to_string(pages.join(name)).expect("the page is there");
    assert!(page("agentwire.1").contains(".TH agentwire 1"));
    assert!(page("agentwire-chat.1").contains("Talk to an ACP agent"));
    assert!(page("agentwire-sessions-check.1").contains("Name each damaged session"));
    assert!(!pages.join("agentwire-stand-in.1").exists(), "it is hidden");
    Program::run(&["man"], SOON).exits(0).prints(".TH agentwire 1");
}

#[test]
fn json_is_refused_by_commands_that_print_none() {
    let folder = tempfile::tempdir().expect("there is room");
    let rows = [
        (vec!["agent", "--json"], "agent"),
        (vec!["server", "--json"], "server"),
        (vec!["server", "--http", "0", "--json"], "server"),
        (vec!["record", "--json", "--", "/bin/true"], "record"),
        (vec!["completions", "--json", "bash"], "completions"),
        (vec!["man", "--json", "here"], "man"),
    ];
    for (arguments, name) in rows {
        let mut program = Program::start_in(folder.path(), &arguments);
        program.close_stdin();
        let ended = program.end(SOON);
        assert_eq!(ended.exits(2).stderr, format!("error: --json: `{name}` prints no JSON\n"));
        assert_eq!(ended.stdout, "");
    }
    let left = fs::read_dir(folder.path()).expect("it is a folder").count();
    assert_eq!(left, 0, "a recording or a page was left behind");
}
