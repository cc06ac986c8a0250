//! What the specifications demand: requirements, their revisions, and the pages that have them.

pub(crate) mod nearest;
pub(crate) mod page;
pub(crate) mod protocol;
pub(crate) mod registry;
pub(crate) mod requirement;
pub(crate) mod revision;
