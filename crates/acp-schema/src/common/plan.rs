use crate::wire::open_enum;

open_enum! {
    /// How much a task of a plan matters.
    PlanEntryPriority {
        /// The goal depends on it.
        High = "high",
        /// It matters.
        Medium = "medium",
        /// It would be nice.
        Low = "low",
    } else Other
}
