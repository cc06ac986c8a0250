//! Servers written in shell.

use agentwire_mcp_hub::ServerConfig;
use agentwire_transport_stdio::{Command, Stderr};

/// Reads a request and answers it: `$id` is its id, `$line` all of it.
const PRELUDE: &str = r#"
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
    id=${line#*\"id\":}; id=${id%%,*}
    case $line in
        *'"initialize"'*) answer "$hello" ;;
        *'"notifications/initialized"'*) ;;
"#;

/// A server that offers these tools and answers calls by these cases of a shell's `case $line in`.
pub(crate) fn server(name: &str, tools: &str, cases: &str) -> ServerConfig {
    shell(
        name,
        &format!(
            "{PRELUDE} {cases}
                *'\"tools/list\"'*) tools {tools} ;;
                *'\"tools/call\"'*) text 'done by {name}' ;;
            esac
            done"
        ),
    )
}

pub(crate) fn shell(name: &str, program: &str) -> ServerConfig {
    ServerConfig::new(name, Command::new("/bin/sh").arg("-c").arg(program).stderr(Stderr::Capture))
}
