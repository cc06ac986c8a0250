//! An agent of this crate against a peer that speaks raw lines.

mod raw_peer;
mod scripted;
mod serving;
mod transcripts;
