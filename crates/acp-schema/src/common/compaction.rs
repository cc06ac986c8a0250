use agentwire_wire_derive::Wire;

/// How far a compaction is.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Wire)]
#[non_exhaustive]
pub enum CompactionStatus {
    /// It runs.
    #[wire("in_progress")]
    InProgress,
    /// It is done.
    #[wire("completed")]
    Completed,
    /// It has failed.
    #[wire("failed")]
    Failed,
    /// It was cancelled.
    #[wire("cancelled")]
    Cancelled,
    /// A word that this version of the crate does not know, as it came.
    #[wire(unknown)]
    Other(String),
}
