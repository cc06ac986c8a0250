use agentwire_wire_derive::{Build, Wire};

use crate::common::unstable::{PlanMarkdown, draft_union};
use crate::common::{Meta, PlanId};
use crate::v2;

draft_union! {
    /// A plan, also in the ways to write it down that drafts add. It converts from the plan of an update. A draft.
    PlanUpdateContent by "type" adding to v2::PlanUpdateContent {
        /// A file.
        "file" => File(PlanFile) from PlanFile,
        /// Text.
        "markdown" => Markdown(PlanMarkdown) from PlanMarkdown,
    }
}

/// A plan that stands in a file.
#[derive(Clone, Debug, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct PlanFile {
    /// Names the plan.
    #[wire(required)]
    pub plan_id: PlanId,
    /// The URI of the file.
    #[wire(required, schema(extend("format" = "uri")))]
    pub uri: String,
    /// Free room: its keys belong to whoever sent them.
    #[wire(meta)]
    pub meta: Option<Meta>,
}
