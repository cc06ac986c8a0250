//! The system's browser. A script stands in for `xdg-open`, and this test binary is started with it in its `PATH`.

use std::fs;
use std::process::Command;
use std::time::Duration;

use agentwire_jsonrpc::WithCauses;
use agentwire_mcp_auth::client::{Browser, UserAgent as _};
use agentwire_test_support::write_program;

const URL: &str = "https://as.example/authorize?a=%24%28id%29&b=*&state=right";

/// Names what a helper process does.
const ROLE: &str = "AGENTWIRE_TEST_BROWSER_ROLE";

/// The work of a helper process; nothing in the process of the tests. Writes the error of a login to stderr.
#[tokio::test]
async fn helper() {
    if std::env::var_os(ROLE).is_none() {
        return;
    }
    let listener = Browser::new().timeout(Duration::from_secs(3)).listen().await.unwrap();
    let error = listener.authorize(URL.parse().unwrap(), "right".into()).await.unwrap_err();
    eprintln!("{}", WithCauses::new(&error));
}

/// The error of a login whose `xdg-open` is this script, and what the script has noted.
fn login(script: Option<&str>) -> (String, String) {
    let folder = tempfile::tempdir().unwrap();
    let (program, notes) = (folder.path().join("xdg-open"), folder.path().join("notes"));
    if let Some(script) = script {
        write_program(&program, &format!("#!/bin/sh\n{script}\n"));
    }
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["login::system::helper", "--exact", "--nocapture"]).env(ROLE, "login");
    let output = command.env("PATH", folder.path()).env("NOTES", &notes).output().unwrap();
    let error = String::from_utf8(output.stderr).unwrap().trim_end().to_owned();
    (error, fs::read_to_string(notes).unwrap_or_default())
}

#[test]
fn the_url_is_the_only_argument() {
    let script =
        r#"read line; printf '%s|' "$#" "$1" "$line" > "$NOTES"; echo noise; echo noise >&2; exit 0"#;
    let (error, notes) = login(Some(script));
    assert_eq!(
        error, "the person did not log in within 3s",
        "the script's output is discarded, and its end ends no login"
    );
    assert_eq!(notes, format!("1|{URL}||"), "one argument, and an empty stdin");
}

#[test]
fn a_browser_that_fails_is_reported() {
    let (error, _) = login(Some("exit 3"));
    assert_eq!(error, "no browser: `xdg-open` failed with exit status: 3");
}

#[test]
fn a_missing_browser_is_reported() {
    let (error, _) = login(None);
    assert!(error.starts_with("no browser: `xdg-open` cannot be started: No such file"), "{error}");
}
