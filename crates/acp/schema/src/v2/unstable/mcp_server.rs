//! The `McpServer` of version 2 with the type `acp`, a server behind the ACP connection, and the capability `session.mcp.acp`.

use agentwire_wire_derive::{Build, Wire};

use crate::common::marker_capability;
use crate::common::unstable::additions::capability_additions;
use crate::common::unstable::{McpServerAcp, draft_union};
use crate::v2;

draft_union! {
    /// An MCP server that a session should use, also one that is reached through the connection itself. A draft.
    McpServer by "type" adding to v2::McpServer {
        /// The connection itself; only where the agent has the capability `session.mcp.acp`.
        "acp" => Acp(McpServerAcp) from McpServerAcp,
    }
}

/// The additions of drafts to the MCP servers that an agent can reach.
#[derive(Clone, Debug, Default, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct McpCapabilitiesAdditions {
    /// Servers of type `acp`.
    #[wire(lenient)]
    pub acp: Option<McpAcpCapabilities>,
}

capability_additions! {
    McpCapabilitiesAdditions: "acp";
}

marker_capability! {
    /// That an agent reaches MCP servers through the connection itself.
    McpAcpCapabilities,
}
