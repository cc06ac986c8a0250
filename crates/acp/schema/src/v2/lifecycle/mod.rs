//! The beginning of a connection.

pub(crate) mod authentication;
pub(crate) mod capabilities;
pub(crate) mod initialize;
