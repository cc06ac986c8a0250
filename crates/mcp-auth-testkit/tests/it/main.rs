//! The kit against a client that is written by hand.

mod client;
mod flow;
mod raw;
