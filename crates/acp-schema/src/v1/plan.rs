use serde::{Deserialize, Serialize};

use crate::common::lenient::{items, lenient};
use crate::common::{Meta, builder, open_enum};

/// The update `plan`: what the agent means to do, in full. It replaces the plan before.
///
/// See <https://agentclientprotocol.com/protocol/v1/agent-plan>.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Plan {
    /// The tasks.
    #[serde(deserialize_with = "items")]
    pub entries: Vec<PlanEntry>,
    /// Free room; see [`Meta`].
    #[serde(
        rename = "_meta",
        default,
        deserialize_with = "lenient",
        skip_serializing_if = "Option::is_none"
    )]
    pub meta: Option<Meta>,
}

builder! {
    Plan::new(entries: Vec<PlanEntry>) {
        option meta: Meta,
    }
}

/// One task of a plan.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct PlanEntry {
    /// What is to be achieved, for people.
    pub content: String,
    /// How much it matters.
    pub priority: PlanEntryPriority,
    /// How far it is.
    pub status: PlanEntryStatus,
    /// Free room; see [`Meta`].
    #[serde(
        rename = "_meta",
        default,
        deserialize_with = "lenient",
        skip_serializing_if = "Option::is_none"
    )]
    pub meta: Option<Meta>,
}

builder! {
    PlanEntry::new(content: String, priority: PlanEntryPriority, status: PlanEntryStatus) {
        option meta: Meta,
    }
}

open_enum! {
    /// How much a task of a plan matters.
    PlanEntryPriority {
        /// The goal depends on it.
        High = "high",
        /// It matters.
        Medium = "medium",
        /// It would be nice.
        Low = "low",
    } else Other
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
