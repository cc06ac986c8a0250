//! The capabilities that drafts add to version 1 only: `subagents` and `plan` for clients, `mcpCapabilities.acp` for agents.

use agentwire_wire_derive::{Build, Wire};

use crate::common::marker_capability;
use crate::common::unstable::additions::capability_additions;

/// The additions of drafts to the capabilities of a client.
#[derive(Clone, Debug, Default, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct ClientCapabilitiesAdditions {
    /// That it shows subagents.
    #[wire(lenient)]
    pub subagents: Option<SubagentCapabilities>,
    /// That it shows plans with ids.
    #[wire(lenient)]
    pub plan: Option<PlanCapabilities>,
}

/// The additions of drafts to the MCP servers that an agent can reach.
#[derive(Clone, Debug, Default, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct McpCapabilitiesAdditions {
    /// Servers of type `acp`.
    #[wire(default)]
    pub acp: bool,
}

capability_additions! {
    ClientCapabilitiesAdditions: "subagents", "plan";
    McpCapabilitiesAdditions: "acp";
}

marker_capability! {
    /// That an agent may send `subagent_update`, `session_message` and `session_message_chunk`.
    SubagentCapabilities,
    /// That an agent may send `plan_update` and `plan_removed`.
    PlanCapabilities,
}
