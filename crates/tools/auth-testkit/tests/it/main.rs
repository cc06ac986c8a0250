//! The kit against a client that is written by hand.

mod browser;
mod client;
mod faults;
mod flow;
mod grants;
mod keys;
mod raw;
mod settings;
