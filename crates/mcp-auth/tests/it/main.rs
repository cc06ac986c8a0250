//! Tests of the crate from outside.

mod login;
mod store;
