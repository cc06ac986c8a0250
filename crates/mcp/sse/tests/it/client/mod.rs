//! The client against a server that plays the given bytes.

pub(crate) mod mock;
mod opening;
mod posts;
mod streams;
mod time;
