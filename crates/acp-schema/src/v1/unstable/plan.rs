use agentwire_wire_derive::{Build, Wire};

use crate::common::unstable::PlanMarkdown;
use crate::common::{Meta, PlanId};
use crate::v1::PlanEntry;

/// The update `plan_update`: a plan began or changed. A session may have several, told apart by their ids.
///
/// Only for clients with the capability `plan`. A draft.
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
    /// A file.
    #[wire("file", from)]
    File(PlanFile),
    /// Text.
    #[wire("markdown", from)]
    Markdown(PlanMarkdown),
    /// A plan of a type that this version does not know: the whole object.
    #[wire(unknown)]
    Unknown(Meta),
}

/// A plan as a list of tasks.
#[derive(Clone, Debug, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct PlanItems {
    /// Names the plan.
    #[wire(required)]
    pub plan_id: PlanId,
    /// All tasks, each as it is now.
    #[wire(required_items)]
    pub entries: Vec<PlanEntry>,
    /// Free room: its keys belong to whoever sent them.
    #[wire(meta)]
    pub meta: Option<Meta>,
}

/// A plan that stands in a file.
#[derive(Clone, Debug, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct PlanFile {
    /// Names the plan.
    #[wire(required)]
    pub plan_id: PlanId,
    /// The URI of the file.
    #[wire(required)]
    pub uri: String,
    /// Free room: its keys belong to whoever sent them.
    #[wire(meta)]
    pub meta: Option<Meta>,
}
