//! The kit against a client that is written by hand.

mod browser;
mod client;
mod faults;
mod flow;
mod grants;
mod raw;
mod settings;
