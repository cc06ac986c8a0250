//! The programs under test.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use agentwire_test_support::{example, program};
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

/// The command line of a scripted peer; `script` is in the form of its `main.rs`.
pub(crate) fn scripted(script: &str) -> String {
    format!("'{}' {script}", env!("CARGO_BIN_EXE_scripted_peer"))
}

/// The command line of an agent that follows `script`; see its `main`.
pub(crate) fn acting(script: &Value) -> String {
    let script = script.to_string();
    assert!(!script.contains('\''), "it goes through a command line");
    format!("'{}' '{script}'", env!("CARGO_BIN_EXE_scripted_agent"))
}

/// The command line of `agentwire` under these arguments, with a recorder before it. Its peer is ours too.
pub(crate) fn recorded(protocol: &str, arguments: &str) -> String {
    format!("'{}' {protocol} '{}' {arguments}", env!("CARGO_BIN_EXE_recorder"), agentwire().display())
}

/// The path of a program that the build of this test has built too. All of them are looked for once.
fn built(name: &str) -> &'static Path {
    static BUILT: OnceLock<HashMap<&str, PathBuf>> = OnceLock::new();
    let built = BUILT.get_or_init(|| {
        let programs = ["agentwire", "everything-server"].map(|name| (name, program(name)));
        let examples = ["guide_agent", "guide_client", "guide_mcp", "openai_agent"];
        programs.into_iter().chain(examples.map(|name| (name, example(name)))).collect()
    });
    built.get(name).unwrap_or_else(|| panic!("{name} is not among the programs under test"))
}
