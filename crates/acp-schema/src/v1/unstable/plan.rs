use crate::common::PlanId;
use crate::common::unstable::PlanMarkdown;
use crate::v1::PlanEntry;
use crate::wire::{object, tagged_union};

object! {
    /// The update `plan_update`: a plan began or changed. A session may have several, told apart by their ids.
    ///
    /// Only for clients with the capability `plan`. A draft.
    PlanUpdate {
        /// The plan, all of it.
        required plan: PlanUpdateContent,
        meta,
    }
}

tagged_union! {
    /// A plan, in one of the ways to write it down. It replaces what was told of the same plan before.
    PlanUpdateContent by "type" {
        /// A list of tasks.
        "items" => Items(PlanItems) from PlanItems,
        /// A file.
        "file" => File(PlanFile) from PlanFile,
        /// Text.
        "markdown" => Markdown(PlanMarkdown) from PlanMarkdown,
    }
    else {
        /// A plan of a type that this version does not know: the whole object.
        Unknown
    }
}

object! {
    /// A plan as a list of tasks.
    PlanItems {
        /// Names the plan.
        required plan_id: PlanId,
        /// All tasks, each as it is now.
        required_items entries: Vec<PlanEntry>,
        meta,
    }
}

object! {
    /// A plan that stands in a file.
    PlanFile {
        /// Names the plan.
        required plan_id: PlanId,
        /// The URI of the file.
        required uri: String,
        meta,
    }
}
