//! The update `plan_update` as a draft adds it to version 1, with the plan forms `items`, `file` and `markdown`.

use agentwire_wire_derive::Wire;

use crate::common::unstable::{PlanFile, PlanMarkdown};
use crate::common::{Meta, plan_update};
use crate::v1::PlanEntry;

plan_update! {
    /// The update `plan_update`: a plan began or changed. A session may have several, each with its id.
    ///
    /// Only for clients with the capability `plan`. A draft.
    PlanUpdate, entries: required_items
}

/// A plan in one of several forms. It replaces the previous content of the same plan.
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
