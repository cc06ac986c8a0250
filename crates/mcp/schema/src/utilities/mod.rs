//! Utilities of the specification that every request can use.

pub(crate) mod cancellation;
pub(crate) mod ping;
pub(crate) mod progress;
