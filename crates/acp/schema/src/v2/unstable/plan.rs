//! The `PlanUpdateContent` of version 2 with the plan forms `file` and `markdown`.

use crate::common::unstable::{PlanFile, PlanMarkdown, draft_union};
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
