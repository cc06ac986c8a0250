use crate::wire::open_enum;

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
