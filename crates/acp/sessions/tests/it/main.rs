//! Everything that the crate does, as a client sees it, with a test that bears the ids of the rules that it checks; and
//! what its stores keep.

mod closes;
mod features;
mod hands;
mod log;
mod long;
mod messages;
mod mishaps;
#[cfg(feature = "file")]
mod on_the_wire;
mod options;
mod own_tools;
mod peer;
mod played;
#[cfg(feature = "file")]
mod program;
mod questions;
#[cfg(feature = "file")]
mod rows;
mod sessions;
mod shown;
#[cfg(feature = "file")]
mod store;
#[cfg(feature = "file")]
mod store_cuts;
#[cfg(feature = "file")]
mod store_memory;
#[cfg(feature = "file")]
mod store_model;
#[cfg(feature = "file")]
mod store_processes;
mod stored;
mod storm;
mod tools;
mod turns;
#[cfg(feature = "v2")]
mod v2;
#[cfg(all(feature = "file", feature = "v2"))]
mod v2_stored;
