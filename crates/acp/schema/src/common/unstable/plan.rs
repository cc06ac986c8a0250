//! The plan forms `markdown` and `file`, and the update `plan_removed`.

use agentwire_wire_derive::{Build, Wire};

use crate::common::{Meta, PlanId};

/// A plan as text in Markdown.
#[derive(Clone, Debug, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct PlanMarkdown {
    /// Identifies the plan.
    #[wire(required)]
    pub plan_id: PlanId,
    /// The whole text.
    #[wire(required)]
    pub content: String,
    /// Extension metadata; receivers make no assumptions about its keys.
    #[wire(meta)]
    pub meta: Option<Meta>,
}

/// A plan whose content is in a file.
#[derive(Clone, Debug, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct PlanFile {
    /// Identifies the plan.
    #[wire(required)]
    pub plan_id: PlanId,
    /// The URI of the file.
    #[wire(required)]
    pub uri: String,
    /// Extension metadata; receivers make no assumptions about its keys.
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
    /// Extension metadata; receivers make no assumptions about its keys.
    #[wire(meta)]
    pub meta: Option<Meta>,
}
