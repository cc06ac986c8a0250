//! The update `plan_update`, with the entries of version 2. A plan of an unknown type must still have a `planId`.

use std::borrow::Cow;

use agentwire_wire_derive::Wire;

use crate::common::{Meta, PlanId, plan_entries, plan_update};

plan_update! {
    /// The update `plan_update`: a plan began or changed. A session may have several, each with its id.
    ///
    /// See <https://agentclientprotocol.com/protocol/v2/agent-plan>.
    PlanUpdate, entries: required_valid_items
}

plan_entries! {
    /// One task of a plan.
    ///
    /// See <https://agentclientprotocol.com/protocol/v2/agent-plan#plan-entries>.
    PlanEntry, statuses of this version: {
        /// Given up.
        #[wire("cancelled")]
        Cancelled,
    }
}

/// A plan in one of several forms. It replaces the previous content of the same plan.
#[derive(Clone, Debug, PartialEq, Wire)]
#[wire(tag = "type")]
#[non_exhaustive]
pub enum PlanUpdateContent {
    /// A list of tasks.
    #[wire("items", from)]
    Items(PlanItems),
    /// A plan of a type that this version does not know: the whole object, which has an id too.
    #[wire(unknown, requires("planId" = PlanId))]
    Unknown(Meta),
}

impl PlanUpdateContent {
    /// Returns the plan's id.
    pub fn plan_id(&self) -> Cow<'_, str> {
        match self {
            Self::Items(plan) => Cow::Borrowed(&plan.plan_id),
            Self::Unknown(object) => object.text("planId").unwrap_or_default(),
        }
    }
}
