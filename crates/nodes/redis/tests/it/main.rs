//! The stores on an engine that each test starts: one, a cluster of three masters, and one that is away or refuses.

mod bus;
mod cluster;
mod contract;
#[cfg(feature = "acp")]
mod conversations;
mod cost;
mod engine;
mod events;
mod faults;
mod forgotten;
mod nodes;
mod once;
mod outage;
mod proxy;
mod reasons;
mod records;
mod reshard;
mod sentinel;
#[cfg(feature = "tasks")]
mod servers;
#[cfg(feature = "tasks")]
mod tasks;
#[cfg(feature = "tls")]
mod tls;
