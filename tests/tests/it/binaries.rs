//! The programs under test.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::OnceLock;

use agentwire_nested_cargo::cargo;
use serde_json::Value;

/// The `agentwire` command.
pub(crate) fn agentwire() -> &'static Path {
    built("agentwire")
}

/// The server of the fixtures for the official conformance suite.
pub(crate) fn everything_server() -> &'static Path {
    built("everything-server")
}

/// The whole program of a guide.
pub(crate) fn guide_program(guide: &str) -> &'static Path {
    built(&format!("guide_{guide}"))
}

/// The agent around a model's endpoint, an example of the façade.
pub(crate) fn openai_agent() -> &'static Path {
    built("openai_agent")
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

/// The command line of `agentwire` under these arguments, with a recorder before it. Its peer is ours too.
pub(crate) fn recorded(protocol: &str, arguments: &str) -> String {
    format!("'{}' {protocol} '{}' {arguments}", env!("CARGO_BIN_EXE_recorder"), agentwire().display())
}

/// The programs, in cargo's words. What is an example makes cargo take the features of tests too.
const PROGRAMS: [&str; 12] = [
    "--bin",
    "agentwire",
    "--bin",
    "everything-server",
    "--example",
    "guide_agent",
    "--example",
    "guide_client",
    "--example",
    "guide_mcp",
    "--example",
    "openai_agent",
];

/// Where a program is. The first call builds them all, with this test's profile and in its target folder, and with the
/// features that a test of the whole workspace gives their dependencies: after `cargo test --workspace` little is left
/// to compile.
fn built(name: &str) -> &'static Path {
    static BUILT: OnceLock<HashMap<String, PathBuf>> = OnceLock::new();
    BUILT.get_or_init(build).get(name).unwrap_or_else(|| panic!("cargo does not say where it put {name}"))
}

fn build() -> HashMap<String, PathBuf> {
    let output = cargo()
        .args(["build", "--workspace", "--message-format", "json-render-diagnostics"])
        .args(PROGRAMS)
        .args(place())
        .current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
        .stderr(Stdio::inherit())
        .output()
        .expect("cargo starts");
    assert!(output.status.success(), "the programs cannot be built");
    let messages = String::from_utf8(output.stdout).expect("cargo writes UTF-8");
    let executables = messages.lines().filter_map(|line| {
        let message: Value = serde_json::from_str(line).ok()?;
        Some((message["target"]["name"].as_str()?.to_owned(), PathBuf::from(message["executable"].as_str()?)))
    });
    executables.collect()
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
