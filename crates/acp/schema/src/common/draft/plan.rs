//! The macro for the update `plan_update` and its `items` plan. Version 2 and the additions to version 1 use it.

/// Defines a version's update `plan_update` and a plan as a list of tasks, over its `PlanUpdateContent` and `PlanEntry`, which
/// must be in scope around the call.
///
/// The versions differ in what they do with a list of tasks that is not a list. The word is that of `#[wire(…)]`.
macro_rules! plan_update {
    ($(#[$doc:meta])* PlanUpdate, entries: $entries_word:ident) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, agentwire_wire_derive::Wire, agentwire_wire_derive::Build)]
        #[non_exhaustive]
        pub struct PlanUpdate {
            /// The whole plan.
            #[wire(required)]
            pub plan: PlanUpdateContent,
            /// Extension metadata; receivers make no assumptions about its keys.
            #[wire(meta)]
            pub meta: Option<$crate::common::Meta>,
        }

        /// A plan as a list of tasks.
        #[derive(Clone, Debug, PartialEq, agentwire_wire_derive::Wire, agentwire_wire_derive::Build)]
        #[non_exhaustive]
        pub struct PlanItems {
            /// Identifies the plan.
            #[wire(required)]
            pub plan_id: $crate::common::PlanId,
            /// All tasks with their current status.
            #[wire($entries_word)]
            pub entries: Vec<PlanEntry>,
            /// Extension metadata; receivers make no assumptions about its keys.
            #[wire(meta)]
            pub meta: Option<$crate::common::Meta>,
        }
    };
}
pub(crate) use plan_update;
