//! `CompactionStatus`, and the macro for the updates `compaction_update` and `compaction_summary_chunk` over a version's
//! `ContentBlock`.

use agentwire_wire_derive::Wire;

/// The status of a compaction.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Wire)]
#[non_exhaustive]
pub enum CompactionStatus {
    /// The compaction runs.
    #[wire("in_progress")]
    InProgress,
    /// The compaction has finished.
    #[wire("completed")]
    Completed,
    /// The compaction failed.
    #[wire("failed")]
    Failed,
    /// The compaction was cancelled.
    #[wire("cancelled")]
    Cancelled,
    /// A string that this version of the crate does not know, unchanged.
    #[wire(unknown)]
    Other(String),
}

/// Defines a version's updates about compactions over its `ContentBlock`, which must be in scope around the call.
macro_rules! compaction_updates {
    () => {
        /// The update `compaction_update`: a compaction of the context began or changed.
        ///
        /// The first one with an id places the compaction in the conversation, later ones patch it: a missing member keeps
        /// its value, null clears it. In version 1 only for clients with the capability `session.compaction`.
        #[derive(Clone, Debug, PartialEq, agentwire_wire_derive::Wire, agentwire_wire_derive::Build)]
        #[non_exhaustive]
        pub struct CompactionUpdate {
            /// Identifies the compaction.
            #[wire(required)]
            pub compaction_id: $crate::common::CompactionId,
            /// Its status.
            #[wire(required)]
            pub status: $crate::common::CompactionStatus,
            /// The whole summary that replaces the compacted part of the conversation. An empty list clears it, as null does.
            #[wire(patch_items)]
            pub summary: $crate::common::Patch<Vec<ContentBlock>>,
            /// The fault, for people.
            #[wire(patch)]
            pub error: $crate::common::Patch<String>,
            /// Extension metadata, as a patch: version 1 replaces the object, version 2
            /// [merges](crate::common::Patch::merge) its keys.
            #[wire(patch, name = "_meta")]
            pub meta: $crate::common::Patch<$crate::common::Meta>,
        }

        /// The update `compaction_summary_chunk`: content to append to the summary.
        ///
        /// An id that was not seen before begins a compaction that is in progress.
        #[derive(Clone, Debug, PartialEq, agentwire_wire_derive::Wire, agentwire_wire_derive::Build)]
        #[non_exhaustive]
        pub struct CompactionSummaryChunk {
            /// The compaction.
            #[wire(required)]
            pub compaction_id: $crate::common::CompactionId,
            /// The content.
            #[wire(required)]
            pub content: ContentBlock,
            /// Extension metadata; receivers make no assumptions about its keys.
            #[wire(meta)]
            pub meta: Option<$crate::common::Meta>,
        }
    };
}
pub(crate) use compaction_updates;
