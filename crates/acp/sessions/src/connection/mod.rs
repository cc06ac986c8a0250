//! The parts that the sessions of one connection share.

pub(crate) mod auth;
pub(crate) mod background;
pub(crate) mod list;
pub(crate) mod signal;
