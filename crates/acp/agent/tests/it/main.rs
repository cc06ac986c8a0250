//! Tests of agents against clients that replay scripts.

mod dynamic;
#[cfg(feature = "v2")]
mod router;
mod rows;
mod script;
mod scripted;
#[cfg(feature = "v2")]
mod scripted_v2;
mod scripts;
mod serving;
#[cfg(feature = "unstable")]
mod unstable;
#[cfg(feature = "v2")]
mod v2;
