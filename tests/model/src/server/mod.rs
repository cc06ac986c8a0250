//! The modules of `transport-http`.

#[path = "../../../../crates/transport-http/src/server/coalescing_waker.rs"]
pub(crate) mod coalescing_waker;
#[path = "../../../../crates/transport-http/src/server/inline_task.rs"]
pub(crate) mod inline_task;
