use std::borrow::Cow;

use crate::common::{PlanEntryPriority, PlanId};
use crate::wire::{object, open_enum, tagged_union};

object! {
    /// The update `plan_update`: a plan began or changed. A session may have several, told apart by their ids.
    ///
    /// See <https://agentclientprotocol.com/protocol/v2/agent-plan>.
    PlanUpdate {
        /// The plan, all of it.
        required plan: PlanUpdateContent,
        meta,
    }
}

tagged_union! {
    /// A plan, in one of the ways to write it down. It replaces what was told of the same plan before.
    PlanUpdateContent by "type" {
        /// A list of tasks.
        "items" => Items(PlanItems) from PlanItems,
    }
    else requiring "planId" => PlanId {
        /// A plan of a type that this version does not know: the whole object. It has an id all the same.
        Unknown
    }
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

object! {
    /// A plan as a list of tasks.
    PlanItems {
        /// Names the plan.
        required plan_id: PlanId,
        /// All tasks, each as it is now.
        required_valid_items entries: Vec<PlanEntry>,
        meta,
    }
}

object! {
    /// One task of a plan.
    ///
    /// See <https://agentclientprotocol.com/protocol/v2/agent-plan#plan-entries>.
    PlanEntry {
        /// What is to be achieved, for people.
        required content: String,
        /// How much it matters.
        required priority: PlanEntryPriority,
        /// How far it is.
        required status: PlanEntryStatus,
        meta,
    }
}

open_enum! {
    /// How far a task of a plan is.
    PlanEntryStatus {
        /// Not begun.
        Pending = "pending",
        /// Begun.
        InProgress = "in_progress",
        /// Done.
        Completed = "completed",
        /// Given up.
        Cancelled = "cancelled",
    } else Other
}
