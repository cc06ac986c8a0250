//! Checks of what holds for every request: cancellation, progress and pings.

pub(super) mod cancellation;
pub(super) mod ping;
pub(crate) mod progress;
