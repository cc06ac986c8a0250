//! Several endpoints in one process that share their stores, as nodes of one server.

mod answers;
mod cluster;
mod delivery;
mod faults;
mod loads;
mod records;
mod results;
mod sealed;
mod sealed_ends;
mod sessions;
mod streams;
