use super::ContentBlock;
use crate::common::{CompactionId, CompactionStatus, Meta, Patch};
use crate::wire::object;

object! {
    /// The update `compaction_update`: a compaction of the context began or changed.
    ///
    /// The first one with an id places the compaction in the conversation, later ones patch it: what is kept is left out,
    /// what is cleared is null. Only for clients with the capability `session.compaction`.
    CompactionUpdate {
        /// Names the compaction.
        required compaction_id: CompactionId,
        /// How far it is.
        required status: CompactionStatus,
        /// What is kept of the conversation, all of it. An empty list clears it, as null does.
        patch_items summary: Patch<Vec<ContentBlock>>,
        /// What went wrong, for people.
        patch error: Patch<String>,
        /// Free room; see [`Meta`]. It is patched too.
        patch meta: Patch<Meta> = "_meta",
    }
}

object! {
    /// The update `compaction_summary_chunk`: a piece to append to the summary. An id that was not seen before begins a
    /// compaction that is in progress.
    CompactionSummaryChunk {
        /// The compaction.
        required compaction_id: CompactionId,
        /// The piece.
        required content: ContentBlock,
        meta,
    }
}
