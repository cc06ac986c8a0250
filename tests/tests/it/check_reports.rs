//! The reports of `check`: its findings and their list, and its errors for a command line that it cannot follow.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use agentwire_test_support::write_program;

use crate::program::{Ended, Program, SOON};

/// A check that waits in vain for a message takes this long, and a few of them may do so.
const RUN: Duration = Duration::from_secs(60);

/// A server in any revision that answers every request as if it were `initialize`.
const SERVER: &str = r#"#!/bin/sh
while read -r line; do
    id=$(printf '%s' "$line" | sed -n 's/.*"id":\([0-9]*\).*/\1/p')
    version=$(printf '%s' "$line" | sed -n 's/.*"protocolVersion":"\([0-9-]*\)".*/\1/p')
    [ -n "$id" ] || continue
    printf '{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"%s","capabilities":{},' "$id" "$version"
    printf '"serverInfo":{"name":"@everyone","version":"1"}}}\n'
done
"#;

fn server(folder: &Path) -> String {
    let path = folder.join("server.sh");
    write_program(&path, SERVER);
    path.to_str().expect("the folder's name is text").to_owned()
}

fn judge(folder: &Path, more: &[&str]) -> Ended {
    let server = server(folder);
    let mut arguments = vec!["check", "mcp-server", "--timeout", "1", "--revision", "2025-06-18"];
    arguments.extend(["--revision", "2025-11-25", "--only", "mcp/RPC-12"]);
    arguments.extend(more);
    arguments.extend(["--", &server]);
    Program::run(&arguments, RUN)
}

#[test]
fn a_failure_in_two_revisions_is_one_finding() {
    let folder = tempfile::tempdir().expect("a folder");
    let markdown = folder.path().join("report.md");
    let ended = judge(folder.path(), &["--markdown", markdown.to_str().expect("it is text")]);
    let Ended { status, stdout, stderr, .. } = &ended;
    assert_eq!(status.code(), Some(0), "{stdout}\n{stderr}");
    let heads: Vec<&str> = stdout.lines().filter(|line| line.starts_with("FAIL ")).collect();
    assert_eq!(
        heads,
        ["FAIL mcp/RPC-12 (should, implied): mcp-server over stdio in 2025-06-18, 2025-11-25"],
        "{stdout}"
    );
    let list = "\nimplied: RPC-12 (2 revisions) (--level must: these do not fail the run)\n0 passed, 2 failed (2 implied),";
    assert!(stdout.contains(list), "{stdout}");
    let text = fs::read_to_string(markdown).expect("it is written");
    assert!(text.contains("`@everyone 1`"), "{text}");
    assert!(!text.contains(" @everyone"), "{text}");
}

#[test]
fn a_level_that_counts_fails_the_run_without_a_note() {
    let folder = tempfile::tempdir().expect("a folder");
    let Ended { status, stdout, stderr, .. } = judge(folder.path(), &["--level", "should"]);
    assert_eq!(status.code(), Some(1), "{stdout}\n{stderr}");
    assert!(stdout.contains("\nimplied: RPC-12 (2 revisions)\n"), "{stdout}");
}

#[test]
fn a_wrong_command_line_is_named_and_ends_with_2() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = |name: &str, text: &[u8]| -> PathBuf {
        let path = folder.path().join(name);
        fs::write(&path, text).expect("there is room");
        path
    };
    let role = file("role.toml", b"[mcp-server]\necko = { tool = \"x\" }\n");
    let latin = file("latin.toml", b"name = \"\xe9\"\n");
    let long = file("long.toml", &vec![b'#'; (1 << 20) + 1]);
    let requirement = file("requirement.toml", b"[[known]]\nrequirement = \"mcp/RPC-6\"\nreason = \"x\"\n");
    let text = |path: &Path| path.to_str().expect("the folder's name is text").to_owned();
    for (option, value, expected) in [
        ("--url", "foo".to_owned(), "`foo` is not a URL of http, https, ws or wss"),
        ("--profile", text(folder.path()), "it is a folder"),
        ("--profile", "/dev/zero".to_owned(), "it is not a regular file"),
        ("--profile", "nowhere".to_owned(), "no such file, and the profiles that are built in are"),
        ("--profile", text(&latin), "it is not in UTF-8"),
        ("--profile", text(&long), "it is longer than 1048576 bytes"),
        ("--profile", text(&role), "`ecko` is not a role of an mcp-server; the nearest one is `echo`"),
        ("--baseline", text(folder.path()), "it is a folder"),
        ("--baseline", "/dev/zero".to_owned(), "it is not a regular file"),
        (
            "--baseline",
            text(&requirement),
            "mcp/RPC-6, which is not a requirement; the nearest one is mcp/RPC-06",
        ),
        ("--only", "mcp/HTP-03".to_owned(), "no check of an mcp-server over stdio covers mcp/HTP-03"),
    ] {
        let mut arguments = vec!["check", "mcp-server", option, &value];
        if option != "--url" {
            arguments.extend(["--", "/bin/false"]);
        }
        let ended = Program::run(&arguments, SOON);
        assert_eq!(ended.status.code(), Some(2), "{option} {value}: {}", ended.stderr);
        assert!(ended.stderr.contains(expected), "{option} {value}: {}", ended.stderr);
    }
}

#[test]
fn a_report_that_cannot_be_written_is_named_before_the_run() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("server.sh/report.json").display().to_string();
    for option in ["--json-file", "--html", "--write-baseline"] {
        let ended = judge(folder.path(), &[option, &path]);
        assert_eq!(ended.status.code(), Some(1), "{}", ended.stderr);
        assert!(ended.stderr.contains("server.sh"), "{}", ended.stderr);
        assert_eq!(ended.stdout, "", "{option}");
    }
}
