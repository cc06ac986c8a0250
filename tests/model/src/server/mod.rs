//! The modules of `transport-http`.

#[path = "../../../../crates/mcp/http/src/server/coalescing_waker.rs"]
pub(crate) mod coalescing_waker;
#[path = "../../../../crates/mcp/http/src/server/inline_task.rs"]
pub(crate) mod inline_task;
