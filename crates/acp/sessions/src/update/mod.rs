//! Updates of tool calls and messages, and their size.

pub(crate) mod call_status;
pub(crate) mod message;
pub(crate) mod shorten;
pub(crate) mod tool_call;
