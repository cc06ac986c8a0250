//! The server from outside. Clients are raw sockets, or calls of the service where time is made up; what serves the
//! connections is a script.

mod advisories;
mod connections;
mod crowd;
mod crowd_clock;
mod guards;
mod heads;
mod http2;
mod inline;
mod lazy;
mod limits;
mod modern;
mod nasty;
mod nodes;
mod operations;
mod panics;
mod probes;
mod raw;
mod readiness;
mod resumption;
pub(crate) mod script;
mod sessions;
mod shares;
mod shutdown;
mod streams;
mod time;
