//! The priority of a plan entry, and the macro for a version's `PlanEntry` with its status.

use agentwire_wire_derive::Wire;

/// The priority of a task of a plan.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Wire)]
#[non_exhaustive]
pub enum PlanEntryPriority {
    /// The plan's goal depends on the task.
    #[wire("high")]
    High,
    /// The task is important.
    #[wire("medium")]
    Medium,
    /// The task is optional.
    #[wire("low")]
    Low,
    /// A string that this version of the crate does not know, unchanged.
    #[wire(unknown)]
    Other(String),
}

/// Defines the entries of a version's plans. The variants of the status that only one version has stand in the braces.
macro_rules! plan_entries {
    ($(#[$doc:meta])* PlanEntry, statuses of this version: { $($status:tt)* }) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, agentwire_wire_derive::Wire, agentwire_wire_derive::Build)]
        #[non_exhaustive]
        pub struct PlanEntry {
            /// The goal of the task, for people.
            #[wire(required)]
            pub content: String,
            /// How important it is.
            #[wire(required)]
            pub priority: $crate::common::PlanEntryPriority,
            /// Its status.
            #[wire(required)]
            pub status: PlanEntryStatus,
            /// Extension metadata; receivers make no assumptions about its keys.
            #[wire(meta)]
            pub meta: Option<$crate::common::Meta>,
        }

        /// The status of a task of a plan.
        #[derive(Clone, Debug, PartialEq, Eq, Hash, agentwire_wire_derive::Wire)]
        #[non_exhaustive]
        pub enum PlanEntryStatus {
            /// Not begun.
            #[wire("pending")]
            Pending,
            /// Begun.
            #[wire("in_progress")]
            InProgress,
            /// Done.
            #[wire("completed")]
            Completed,
            $($status)*
            /// A string that this version of the crate does not know, unchanged.
            #[wire(unknown)]
            Other(String),
        }
    };
}
pub(crate) use plan_entries;
