//! Servers written in shell.

use std::fs;

use agentwire_mcp_hub::ServerConfig;
use agentwire_schema_tests::{Conversation, Side};
use agentwire_transport_stdio::{Command, Stderr};
use tempfile::TempDir;

thread_local! {
    /// The messages to the servers of one test: a file for each process.
    static RECEIVED: TempDir = tempfile::tempdir().unwrap();
}

/// Checks all messages that servers of this test have received so far by the schema of the revision.
pub(crate) fn check_received() {
    for entry in RECEIVED.with(|folder| fs::read_dir(folder.path()).unwrap()) {
        let mut conversation = Conversation::mcp();
        for line in fs::read_to_string(entry.unwrap().path()).unwrap().lines() {
            let message = serde_json::from_str(line).unwrap();
            if let Err(fault) = conversation.check(Side::Client, &message) {
                panic!("the hub has said what the schema does not allow: {fault}\n  in {line}");
            }
        }
    }
}

/// The methods of all requests that servers of this test have received, one process after the other.
pub(crate) fn received() -> Vec<String> {
    let mut files: Vec<_> = RECEIVED.with(|folder| {
        let entries = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap());
        entries.map(|entry| (entry.metadata().unwrap().created().unwrap(), entry.path())).collect()
    });
    files.sort();
    let text: String = files.iter().map(|(_, path)| fs::read_to_string(path).unwrap()).collect();
    let method = |line| {
        let message: serde_json::Value = serde_json::from_str(line).unwrap();
        message.get("id").and(message["method"].as_str()).map(str::to_owned)
    };
    text.lines().filter_map(method).collect()
}

/// The number of this test's server processes that received a message.
pub(crate) fn receiving_processes() -> usize {
    RECEIVED.with(|folder| fs::read_dir(folder.path()).unwrap().count())
}

/// Reads a request and answers it: `$id` is its id, `$line` all of it.
const PRELUDE: &str = r#"
refuse() { printf '{"jsonrpc":"2.0","id":%s,"error":{"code":%s,"message":"played"}}\n' "$id" "$1"; }
answer() { printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$id" "$1"; }
say() { printf '{"jsonrpc":"2.0","method":"notifications/%s","params":%s}\n' "$1" "$2"; }
text() { answer "{\"content\":[{\"type\":\"text\",\"text\":\"$1\"}]}"; }
tools() {
    list=
    for tool; do list="$list,{\"name\":\"$tool\",\"inputSchema\":{\"type\":\"object\"}}"; done
    answer "{\"tools\":[${list#,}]}"
}
hello='{"protocolVersion":"2025-11-25","capabilities":{"tools":{"listChanged":true},"logging":{}},"serverInfo":{"name":"script","version":"1"}}'
TOOLS_LISTED=0
while IFS= read -r line; do
    printf '%s\n' "$line" >>"$RECEIVED/$$"
    id=${line#*\"id\":}; id=${id%%,*}
    case $line in
"#;

/// Opens a session. Answers `server/discover` as most servers with sessions do.
const GREETING: &str = r#"
    *'"server/discover"'*) refuse -32601 ;;
    *'"initialize"'*) answer "$hello" ;;
    *'"notifications/initialized"'*) ;;
"#;

/// A server that offers these tools and answers calls by these cases of a shell's `case $line in`.
pub(crate) fn server(name: &str, tools: &str, cases: &str) -> ServerConfig {
    shell(
        name,
        &format!(
            "{PRELUDE} {cases} {GREETING}
                *'\"tools/list\"'*) tools {tools} ;;
                *'\"tools/call\"'*) text 'done by {name}' ;;
            esac
            done"
        ),
    )
}

pub(crate) fn shell(name: &str, program: &str) -> ServerConfig {
    let received = RECEIVED.with(|folder| folder.path().to_owned());
    let command =
        Command::new("/bin/sh").arg("-c").arg(program).env("RECEIVED", received).stderr(Stderr::Capture);
    ServerConfig::new(name, command)
}
