//! The task status that the core tasks of 2025-11-25 and the tasks extension share.

use agentwire_wire_derive::Wire;

/// The status of a task, in the strings that both task protocols use.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Wire)]
#[non_exhaustive]
pub enum TaskStatus {
    /// It runs.
    #[wire("working")]
    Working,
    /// It waits for input. In 2025-11-25 the requestor sends
    /// [`GetTaskPayloadRequest`](crate::tasks::core::GetTaskPayloadRequest) to receive the question; in the extension the task
    /// has `input_requests`.
    #[wire("input_required")]
    InputRequired,
    /// It has a result.
    #[wire("completed")]
    Completed,
    /// It ended with an error of the protocol. In 2025-11-25 also: its tool failed.
    #[wire("failed")]
    Failed,
    /// It was cancelled.
    #[wire("cancelled")]
    Cancelled,
    /// A string that this version of the library does not know, unchanged.
    #[wire(unknown)]
    Unknown(Box<str>),
}

impl TaskStatus {
    /// Returns whether the status is final: completed, failed or cancelled.
    pub fn is_final(&self) -> bool {
        matches!(self, Self::Completed | Self::Failed | Self::Cancelled)
    }
}
