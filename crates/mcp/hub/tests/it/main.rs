//! Hubs of real processes, small shell scripts that play servers, and of servers on the network that the tests play.
#![cfg(unix)]

mod changing;
mod eras;
#[cfg(feature = "sse")]
mod fallback;
mod hostile;
mod hub;
mod listening;
mod local_server;
#[cfg(feature = "sse")]
mod mcp_config;
mod names;
mod questions;
mod relisting;
#[cfg(feature = "sse")]
mod remote;
mod script;
#[cfg(feature = "http")]
mod telemetry;
#[cfg(feature = "sse")]
mod web;
