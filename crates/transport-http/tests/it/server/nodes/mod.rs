//! Several endpoints in one process that share their stores, as nodes of one server.

mod answers;
mod cluster;
mod faults;
mod results;
mod sessions;
mod streams;
