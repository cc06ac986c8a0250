//! Lifecycle as clients have to follow it.

pub(super) mod end;
pub(super) mod opening;
pub(super) mod revisions;
pub(super) mod times;
