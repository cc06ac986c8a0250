//! The programs under test.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use serde_json::Value;

/// The `agentwire` command, built once for all tests, with their own profile and in their own target folder.
pub(crate) fn agentwire() -> &'static Path {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(|| build(&["--package", "agentwire-cli"], "agentwire"))
}

/// The server of the fixtures for the official conformance suite.
pub(crate) fn everything_server() -> &'static Path {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    let package = ["--package", "agentwire-conformance-fixtures", "--bin", "everything-server"];
    BUILT.get_or_init(|| build(&package, "everything-server"))
}

/// The whole program of a guide. These are the examples of this package, and are built together.
pub(crate) fn guide_program(guide: &str) -> PathBuf {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    let built = BUILT.get_or_init(|| build(&["--package", "agentwire-tests", "--examples"], "guide_agent"));
    built.with_file_name(format!("guide_{guide}"))
}

/// The command line of a scripted peer; `script` is what its `main.rs` says.
pub(crate) fn scripted(script: &str) -> String {
    format!("'{}' {script}", env!("CARGO_BIN_EXE_scripted_peer"))
}

/// The command line of an agent that says what `script` says; see its `main`.
pub(crate) fn acting(script: &Value) -> String {
    let script = script.to_string();
    assert!(!script.contains('\''), "it goes through a command line");
    format!("'{}' '{script}'", env!("CARGO_BIN_EXE_scripted_agent"))
}

/// The command line of `agentwire` under these arguments, with a recorder before it. Whoever it speaks to is ours too.
pub(crate) fn recorded(protocol: &str, arguments: &str) -> String {
    format!("'{}' {protocol} '{}' {arguments}", env!("CARGO_BIN_EXE_recorder"), agentwire().display())
}

fn build(what: &[&str], name: &str) -> PathBuf {
    let output = Command::new(env!("CARGO"))
        .args(["build", "--message-format", "json-render-diagnostics"])
        .args(what)
        .args(place())
        .current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
        .stderr(Stdio::inherit())
        .output()
        .expect("cargo starts");
    assert!(output.status.success(), "`{name}` cannot be built");
    let messages = String::from_utf8(output.stdout).expect("cargo writes UTF-8");
    let executable = messages.lines().find_map(|line| {
        let message: Value = serde_json::from_str(line).ok()?;
        let is_it = message["target"]["name"] == name;
        message["executable"].as_str().filter(|_| is_it).map(PathBuf::from)
    });
    executable.expect("cargo says where it put the program")
}

/// The options with which cargo builds to where this test was built to: `[target/][triple/]profile/`.
fn place() -> Vec<String> {
    let here = Path::new(env!("CARGO_BIN_EXE_scripted_peer"));
    let name = |path: &Path| path.file_name().expect("it has a name").to_string_lossy().into_owned();
    let profile = here.parent().expect("a program is in a folder");
    let above = profile.parent().expect("a profile's folder is in another");
    let profile = match name(profile) {
        debug if debug == "debug" => "dev".to_owned(),
        profile => profile,
    };
    let mut options = vec!["--profile".to_owned(), profile];
    let target = if above.join("CACHEDIR.TAG").exists() {
        above
    } else {
        options.extend(["--target".to_owned(), name(above)]);
        above.parent().expect("a target's folder is in another")
    };
    options.extend(["--target-dir".to_owned(), target.to_string_lossy().into_owned()]);
    options
}
