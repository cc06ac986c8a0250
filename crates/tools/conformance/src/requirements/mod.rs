//! The requirements of the specifications, with their revisions and pages.

pub(crate) mod nearest;
pub(crate) mod page;
pub(crate) mod protocol;
pub(crate) mod registry;
pub(crate) mod requirement;
pub(crate) mod revision;
