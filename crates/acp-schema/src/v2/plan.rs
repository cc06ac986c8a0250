use std::borrow::Cow;

use agentwire_wire_derive::{Build, Wire};

use crate::common::{Meta, PlanEntryPriority, PlanId};

/// The update `plan_update`: a plan began or changed. A session may have several, told apart by their ids.
///
/// See <https://agentclientprotocol.com/protocol/v2/agent-plan>.
#[derive(Clone, Debug, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct PlanUpdate {
    /// The plan, all of it.
    #[wire(required)]
    pub plan: PlanUpdateContent,
    /// Free room: its keys belong to whoever sent them.
    #[wire(meta)]
    pub meta: Option<Meta>,
}

/// A plan, in one of the ways to write it down. It replaces what was told of the same plan before.
#[derive(Clone, Debug, PartialEq, Wire)]
#[wire(tag = "type")]
#[non_exhaustive]
pub enum PlanUpdateContent {
    /// A list of tasks.
    #[wire("items", from)]
    Items(PlanItems),
    /// A plan of a type that this version does not know: the whole object. It has an id all the same.
    #[wire(unknown, requires("planId" = PlanId))]
    Unknown(Meta),
}

impl PlanUpdateContent {
    /// Which plan it is.
    pub fn plan_id(&self) -> Cow<'_, str> {
        match self {
            Self::Items(plan) => Cow::Borrowed(&plan.plan_id),
            Self::Unknown(object) => object.text("planId").unwrap_or_default(),
        }
    }
}

/// A plan as a list of tasks.
#[derive(Clone, Debug, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct PlanItems {
    /// Names the plan.
    #[wire(required)]
    pub plan_id: PlanId,
    /// All tasks, each as it is now.
    #[wire(required_valid_items)]
    pub entries: Vec<PlanEntry>,
    /// Free room: its keys belong to whoever sent them.
    #[wire(meta)]
    pub meta: Option<Meta>,
}

/// One task of a plan.
///
/// See <https://agentclientprotocol.com/protocol/v2/agent-plan#plan-entries>.
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
    /// Given up.
    #[wire("cancelled")]
    Cancelled,
    /// A word that this version of the crate does not know, as it came.
    #[wire(unknown)]
    Other(String),
}
