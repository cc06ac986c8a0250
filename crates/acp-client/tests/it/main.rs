//! A client of this crate against an agent that speaks raw lines, and against an agent of our own.

mod ends;
mod handshake;
mod races;
#[path = "../../../acp-agent/tests/it/raw_peer.rs"]
mod raw_peer;
mod recorder;
mod requests;
mod rows;
mod rules;
mod spawn;
mod streams;
mod turns;
#[cfg(feature = "unstable")]
mod unstable;
mod updates;
#[cfg(feature = "v2")]
mod v2;
mod whole;
