use crate::common::unstable::additions::capability_additions;
use crate::common::unstable::{McpServerAcp, draft_union};
use crate::v2;
use crate::wire::{marker_capability, object};

draft_union! {
    /// An MCP server that a session should use, also one that is reached through the connection itself. A draft.
    McpServer by "type" adding to v2::McpServer {
        /// The connection itself; only where the agent has the capability `session.mcp.acp`.
        "acp" => Acp(McpServerAcp) from McpServerAcp,
    }
}

object! {
    /// What drafts add to which MCP servers an agent can reach.
    McpCapabilitiesAdditions {
        /// Servers of type `acp`.
        lenient acp: Option<McpAcpCapabilities>,
    }
}

capability_additions! {
    McpCapabilitiesAdditions: "acp";
}

marker_capability! {
    /// That an agent reaches MCP servers through the connection itself.
    McpAcpCapabilities,
}
