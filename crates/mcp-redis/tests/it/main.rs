//! The stores on an engine that each test starts: one, a cluster of three masters, and one that is away.

mod bus;
mod cluster;
mod contract;
#[cfg(feature = "acp")]
mod conversations;
mod cost;
mod engine;
mod events;
mod nodes;
mod once;
mod outage;
mod records;
mod sentinel;
#[cfg(feature = "tasks")]
mod tasks;
