use agentwire_wire_derive::{Build, Wire};

use crate::common::{Meta, PlanEntryPriority};

/// The update `plan`: what the agent means to do, in full. It replaces the plan before.
///
/// See <https://agentclientprotocol.com/protocol/v1/agent-plan>.
#[derive(Clone, Debug, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct Plan {
    /// The tasks.
    #[wire(required_items)]
    pub entries: Vec<PlanEntry>,
    /// Free room: its keys belong to whoever sent them.
    #[wire(meta)]
    pub meta: Option<Meta>,
}

/// One task of a plan.
#[derive(Clone, Debug, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct PlanEntry {
    /// What is to be achieved, for people.
    #[wire(required)]
    pub content: String,
    /// How much it matters.
    #[wire(required)]
    pub priority: PlanEntryPriority,
    /// How far it is.
    #[wire(required)]
    pub status: PlanEntryStatus,
    /// Free room: its keys belong to whoever sent them.
    #[wire(meta)]
    pub meta: Option<Meta>,
}

/// How far a task of a plan is.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Wire)]
#[non_exhaustive]
pub enum PlanEntryStatus {
    /// Not begun.
    #[wire("pending")]
    Pending,
    /// Begun.
    #[wire("in_progress")]
    InProgress,
    /// Done.
    #[wire("completed")]
    Completed,
    /// A word that this version of the crate does not know, as it came.
    #[wire(unknown)]
    Other(String),
}
