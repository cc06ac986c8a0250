use crate::common::unstable::additions::capability_additions;
use crate::wire::{marker_capability, object};

object! {
    /// What drafts add to the capabilities of a client.
    ClientCapabilitiesAdditions {
        /// That it shows subagents.
        lenient subagents: Option<SubagentCapabilities>,
        /// That it shows plans with ids.
        lenient plan: Option<PlanCapabilities>,
    }
}

object! {
    /// What drafts add to which MCP servers an agent can reach.
    McpCapabilitiesAdditions {
        /// Servers of type `acp`.
        default acp: bool,
    }
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
