use crate::common::PlanId;
use crate::common::unstable::{PlanMarkdown, draft_union};
use crate::v2;
use crate::wire::object;

draft_union! {
    /// A plan, also in the ways to write it down that drafts add. It converts from the plan of an update. A draft.
    PlanUpdateContent by "type" adding to v2::PlanUpdateContent {
        /// A file.
        "file" => File(PlanFile) from PlanFile,
        /// Text.
        "markdown" => Markdown(PlanMarkdown) from PlanMarkdown,
    }
}

object! {
    /// A plan that stands in a file.
    PlanFile {
        /// Names the plan.
        required plan_id: PlanId,
        /// The URI of the file.
        #[cfg_attr(feature = "schema", schemars(extend("format" = "uri")))]
        required uri: String,
        meta,
    }
}
