use serde::{Deserialize, Serialize};

use super::ContentBlock;
use crate::common::lenient::{lenient, patch_items};
use crate::common::{CompactionId, Meta, Patch, builder, open_enum};

/// The update `compaction_update`: a compaction of the context began or changed.
///
/// The first one with an id places the compaction in the conversation, later ones patch it: what is kept is left out,
/// what is cleared is null. Only for clients with the capability `session.compaction`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct CompactionUpdate {
    /// Names the compaction.
    pub compaction_id: CompactionId,
    /// How far it is.
    pub status: CompactionStatus,
    /// What is kept of the conversation, all of it. An empty list clears it, as null does.
    #[serde(default, deserialize_with = "patch_items", skip_serializing_if = "Patch::is_keep")]
    pub summary: Patch<Vec<ContentBlock>>,
    /// What went wrong, for people.
    #[serde(default, deserialize_with = "lenient", skip_serializing_if = "Patch::is_keep")]
    pub error: Patch<String>,
    /// Free room; see [`Meta`]. It is patched too.
    #[serde(rename = "_meta", default, deserialize_with = "lenient", skip_serializing_if = "Patch::is_keep")]
    pub meta: Patch<Meta>,
}

builder! {
    CompactionUpdate::new(compaction_id: CompactionId, status: CompactionStatus) {
        patch summary: Vec<ContentBlock>,
        patch error: String,
        patch meta: Meta,
    }
}

/// The update `compaction_summary_chunk`: a piece to append to the summary. An id that was not seen before begins a
/// compaction that is in progress.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct CompactionSummaryChunk {
    /// The compaction.
    pub compaction_id: CompactionId,
    /// The piece.
    pub content: ContentBlock,
    /// Free room; see [`Meta`].
    #[serde(
        rename = "_meta",
        default,
        deserialize_with = "lenient",
        skip_serializing_if = "Option::is_none"
    )]
    pub meta: Option<Meta>,
}

builder! {
    CompactionSummaryChunk::new(compaction_id: CompactionId, content: ContentBlock) {
        option meta: Meta,
    }
}

open_enum! {
    /// How far a compaction is.
    CompactionStatus {
        /// It runs.
        InProgress = "in_progress",
        /// It is done.
        Completed = "completed",
        /// It has failed.
        Failed = "failed",
        /// It was cancelled.
        Cancelled = "cancelled",
    } else Other
}
