//! A client of this crate against agents that play scripts, and against an agent of our own.

mod damaged;
mod ends;
mod handshake;
mod races;
mod recorder;
mod requests;
mod rows;
mod rules;
#[path = "../../../agent/tests/it/script.rs"]
mod script;
mod spawn;
mod streams;
mod turns;
mod unreadable;
#[cfg(feature = "unstable")]
mod unstable;
mod updates;
#[cfg(feature = "v2")]
mod v2;
mod whole;
