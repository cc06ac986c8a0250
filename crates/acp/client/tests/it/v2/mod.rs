//! Version 2: the same client, in other words.

mod any;
mod races;
pub(crate) mod recorder;
mod rules;
mod setup;
mod turns;
#[cfg(feature = "unstable")]
mod unstable;
mod whole;
