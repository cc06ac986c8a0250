//! The request methods of both protocols. All others share one value, so that a peer cannot create values of attributes.

/// MCP's requests, in every revision and with the tasks extension.
pub(crate) const MCP: &[&str] = &[
    "completion/complete",
    "elicitation/create",
    "initialize",
    "logging/setLevel",
    "ping",
    "prompts/get",
    "prompts/list",
    "resources/list",
    "resources/read",
    "resources/subscribe",
    "resources/templates/list",
    "resources/unsubscribe",
    "roots/list",
    "sampling/createMessage",
    "server/discover",
    "subscriptions/listen",
    "tasks/cancel",
    "tasks/get",
    "tasks/list",
    "tasks/result",
    "tasks/update",
    "tools/call",
    "tools/list",
];

/// ACP's requests, in every version and draft.
pub(crate) const ACP: &[&str] = &[
    "auth/login",
    "auth/logout",
    "auth/status",
    "authenticate",
    "elicitation/create",
    "fs/read_text_file",
    "fs/write_text_file",
    "initialize",
    "logout",
    "mcp/connect",
    "mcp/disconnect",
    "mcp/message",
    "providers/disable",
    "providers/list",
    "providers/set",
    "proxy/initialize",
    "proxy/successor",
    "session/archive",
    "session/close",
    "session/delete",
    "session/fork",
    "session/list",
    "session/load",
    "session/new",
    "session/prompt",
    "session/request_permission",
    "session/resume",
    "session/set_config_option",
    "session/set_mode",
    "session/set_title",
    "session/status",
    "session/unarchive",
    "terminal/cancel",
    "terminal/create",
    "terminal/kill",
    "terminal/output",
    "terminal/release",
    "terminal/wait_for_exit",
    "tool_call/cancel",
];

/// The entry of a table for a method. `None` if the table does not have it.
pub(crate) fn known(table: &'static [&'static str], method: &str) -> Option<&'static str> {
    table.binary_search(&method).ok().map(|index| table[index])
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::fs;

    use super::*;

    /// The requests in the generated reference pages of a protocol.
    fn requests(pages: &[&str]) -> BTreeSet<String> {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../docs/reference");
        let pages =
            pages.iter().map(|page| fs::read_to_string(format!("{folder}/{page}/README.md")).unwrap());
        let text: String = pages.collect();
        let rows = text.lines().filter(|line| line.starts_with("| `") && !line.contains("*a notification*"));
        let methods: BTreeSet<_> = rows.map(|row| row.split('`').nth(1).unwrap().to_owned()).collect();
        assert!(methods.len() > 10, "{methods:?}");
        methods
    }

    #[test]
    fn every_request_of_the_schemas_is_known() {
        let mcp = requests(&["mcp", "mcp-tasks"]);
        let unknown: Vec<_> = mcp.iter().filter(|method| known(MCP, method).is_none()).collect();
        assert_eq!(unknown, [""; 0]);
        let acp = requests(&["acp-v1", "acp-v2"]);
        let unknown: Vec<_> = acp.iter().filter(|method| known(ACP, method).is_none()).collect();
        assert_eq!(unknown, [""; 0]);
    }

    #[test]
    fn tables_are_sorted() {
        assert!(MCP.is_sorted() && ACP.is_sorted());
    }
}
