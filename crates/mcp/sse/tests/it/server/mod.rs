//! The server from outside. Clients are raw sockets, or calls of the service where time is made up; what serves the
//! connections is a script.

mod crowd;
mod guards;
mod nasty;
pub(crate) mod raw;
pub(crate) mod script;
mod sessions;
mod shares;
mod time;
