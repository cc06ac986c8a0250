//! The update `plan`, with the entries of version 1.

use agentwire_wire_derive::{Build, Wire};

use crate::common::{Meta, plan_entries};

/// The update `plan`: the agent's whole plan. It replaces the previous plan.
///
/// See <https://agentclientprotocol.com/protocol/v1/agent-plan>.
#[derive(Clone, Debug, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct Plan {
    /// The tasks.
    #[wire(required_items)]
    pub entries: Vec<PlanEntry>,
    /// Extension metadata; receivers make no assumptions about its keys.
    #[wire(meta)]
    pub meta: Option<Meta>,
}

plan_entries! {
    /// One task of a plan.
    PlanEntry, statuses of this version: {}
}
