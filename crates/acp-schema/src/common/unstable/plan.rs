use crate::common::PlanId;
use crate::wire::object;

object! {
    /// A plan as text in Markdown.
    PlanMarkdown {
        /// Names the plan.
        required plan_id: PlanId,
        /// The text, all of it.
        required content: String,
        meta,
    }
}

object! {
    /// The update `plan_removed`: there is no such plan any more. A draft.
    PlanRemoved {
        /// The plan.
        required plan_id: PlanId,
        meta,
    }
}
