//! An agent of this crate against a peer that speaks raw lines.

mod dynamic;
mod raw_peer;
#[cfg(feature = "v2")]
mod router;
mod rows;
mod scripted;
#[cfg(feature = "v2")]
mod scripted_v2;
mod serving;
mod transcripts;
#[cfg(feature = "unstable")]
mod unstable;
#[cfg(feature = "v2")]
mod v2;
