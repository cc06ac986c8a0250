//! The beginning of a connection: `initialize` and `server/discover`, and the capabilities of both sides.

pub(crate) mod capabilities;
pub(crate) mod discover;
pub(crate) mod initialize;
pub(crate) mod version;
