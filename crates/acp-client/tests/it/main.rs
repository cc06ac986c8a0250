//! A client of this crate against an agent that speaks raw lines, and against an agent of our own.

mod ends;
mod handshake;
mod races;
#[path = "../../../acp-agent/tests/it/raw_peer.rs"]
mod raw_peer;
mod recorder;
mod requests;
mod turns;
mod updates;
mod whole;
