//! The fixtures as processes: their command lines and the first answer of those that serve standard input.
//!
//! Cargo builds the programs of a package for a test of the workspace if the package has an integration test, which is this one.

use std::io::Write;
use std::process::{Command, Output, Stdio};

use serde_json::{Value, json};

/// Runs a program to its end; `input` is all of its standard input.
fn run(program: &str, arguments: &[&str], input: &str) -> Output {
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut process = command.spawn().expect("the program starts");
    // A program that refuses its command line reads nothing.
    let _written = process.stdin.take().expect("it is a pipe").write_all(input.as_bytes());
    process.wait_with_output().expect("the program ends")
}

#[test]
fn wrong_command_lines_are_refused() {
    for (program, arguments, why) in [
        (env!("CARGO_BIN_EXE_everything-server"), &["127.0.0.1:0", "--redis"][..], "[ADDRESS [--redis URL]]"),
        (env!("CARGO_BIN_EXE_everything-client"), &[], "everything-client URL"),
        (env!("CARGO_BIN_EXE_everything-agent"), &["no-address"], "no-address"),
        (env!("CARGO_BIN_EXE_everything-acp-client"), &["--driver"], "--driver needs a value"),
        (env!("CARGO_BIN_EXE_everything-conductor"), &[], "--agent COMMAND"),
        (env!("CARGO_BIN_EXE_script-agent"), &["v3"], "\"v3\""),
    ] {
        let output = run(program, arguments, "");
        assert_eq!(output.status.code(), Some(1), "{program}: {output:?}");
        let printed = String::from_utf8_lossy(&output.stderr);
        assert!(printed.contains(why), "{program}: {printed}");
    }
}

#[test]
fn servers_of_standard_input_answer_initialize() {
    let acp = json!({ "protocolVersion": 1, "clientCapabilities": {} });
    let client = json!({ "name": "test", "version": "1" });
    let mcp = json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client });
    for (program, arguments, params) in [
        (env!("CARGO_BIN_EXE_everything-server"), &[][..], &mcp),
        (env!("CARGO_BIN_EXE_everything-agent"), &[], &acp),
        (env!("CARGO_BIN_EXE_script-agent"), &["v1"], &acp),
    ] {
        let request = json!({ "jsonrpc": "2.0", "id": 7, "method": "initialize", "params": params });
        let output = run(program, arguments, &format!("{request}\n"));
        assert!(output.status.success(), "{program}: {output:?}");
        let text = String::from_utf8_lossy(&output.stdout);
        let response: Value = serde_json::from_str(text.lines().next().unwrap_or_default()).expect("JSON");
        assert_eq!(response["id"], 7, "{program}: {response}");
        assert_eq!(response["result"]["protocolVersion"], params["protocolVersion"], "{program}: {response}");
    }
}
