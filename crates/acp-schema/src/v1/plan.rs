use crate::common::PlanEntryPriority;
use crate::wire::{object, open_enum};

object! {
    /// The update `plan`: what the agent means to do, in full. It replaces the plan before.
    ///
    /// See <https://agentclientprotocol.com/protocol/v1/agent-plan>.
    Plan {
        /// The tasks.
        required_items entries: Vec<PlanEntry>,
        meta,
    }
}

object! {
    /// One task of a plan.
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
    } else Other
}
