//! The `McpServer` of version 1 with the type `acp`, a server behind the ACP connection.

use crate::common::unstable::{McpServerAcp, draft_union};
use crate::v1;

draft_union! {
    /// An MCP server that a session should use, also one that is reached through the connection itself. A draft.
    McpServer by "type" adding to v1::McpServer {
        /// The connection itself; only where the agent has the capability `mcpCapabilities.acp`.
        "acp" => Acp(McpServerAcp) from McpServerAcp,
    }
}
