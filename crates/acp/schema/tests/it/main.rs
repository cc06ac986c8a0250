//! The wire types in both directions.

mod building;
mod leniency;
mod messages;
mod unions;
#[cfg(feature = "unstable")]
mod unstable;
#[cfg(feature = "v2")]
mod v2_setup;
#[cfg(feature = "v2")]
mod v2_updates;
