use agentwire_wire_derive::{Build, Wire};

use crate::common::{Meta, PlanId};

/// A plan as text in Markdown.
#[derive(Clone, Debug, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct PlanMarkdown {
    /// Names the plan.
    #[wire(required)]
    pub plan_id: PlanId,
    /// The text, all of it.
    #[wire(required)]
    pub content: String,
    /// Free room: its keys belong to whoever sent them.
    #[wire(meta)]
    pub meta: Option<Meta>,
}

/// The update `plan_removed`: there is no such plan any more. A draft.
#[derive(Clone, Debug, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct PlanRemoved {
    /// The plan.
    #[wire(required)]
    pub plan_id: PlanId,
    /// Free room: its keys belong to whoever sent them.
    #[wire(meta)]
    pub meta: Option<Meta>,
}
