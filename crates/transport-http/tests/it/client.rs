//! The client against scripted servers.

mod fire;
mod limits;
pub(crate) mod mock;
mod refusals;
mod session;
mod stateless;
mod streams;
