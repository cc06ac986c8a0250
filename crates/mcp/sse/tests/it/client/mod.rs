//! The client against a server that plays the bytes it is told to.

pub(crate) mod mock;
mod opening;
mod posts;
mod streams;
mod time;
