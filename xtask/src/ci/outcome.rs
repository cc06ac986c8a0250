//! How a step ends.

/// How a step has ended, unless it has failed.
pub(super) enum Outcome {
    Passed,
    /// What it needs cannot be had here, for this reason.
    NotRun(String),
}
