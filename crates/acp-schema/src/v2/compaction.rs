use agentwire_wire_derive::{Build, Wire};

use super::ContentBlock;
use crate::common::{CompactionId, CompactionStatus, Meta, Patch};

/// The update `compaction_update`: a compaction of the context began or changed.
///
/// The first one with an id places the compaction in the conversation, later ones patch it: what is kept is left out,
/// what is cleared is null.
#[derive(Clone, Debug, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct CompactionUpdate {
    /// Names the compaction.
    #[wire(required)]
    pub compaction_id: CompactionId,
    /// How far it is.
    #[wire(required)]
    pub status: CompactionStatus,
    /// What is kept of the conversation, all of it. An empty list clears it, as null does.
    #[wire(patch_items)]
    pub summary: Patch<Vec<ContentBlock>>,
    /// What went wrong, for people.
    #[wire(patch)]
    pub error: Patch<String>,
    /// Free room; see [`Meta`]. It is [merged](Patch::merge).
    #[wire(patch, name = "_meta")]
    pub meta: Patch<Meta>,
}

/// The update `compaction_summary_chunk`: a piece to append to the summary. An id that was not seen before begins a
/// compaction that is in progress.
#[derive(Clone, Debug, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct CompactionSummaryChunk {
    /// The compaction.
    #[wire(required)]
    pub compaction_id: CompactionId,
    /// The piece.
    #[wire(required)]
    pub content: ContentBlock,
    /// Free room: its keys belong to whoever sent them.
    #[wire(meta)]
    pub meta: Option<Meta>,
}
