//! Statuses of tool calls that only version 2 has. The journal holds them as `ToolCallStatus::Other`.

/// The status of a tool call that was cancelled. Only version 2 has it; for a client of version 1 the call has failed.
pub(crate) const CANCELLED: &str = "cancelled";

/// The status of a tool call that has begun and waits. Only version 2 has it.
pub(crate) const PAUSED: &str = "paused";
