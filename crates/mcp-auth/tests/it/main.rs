//! Tests of the crate from outside.

mod client;
mod store;
