//! Hubs of real processes, small shell scripts that play servers, and of servers on the network that are played.
#![cfg(unix)]

mod changing;
mod eras;
#[cfg(feature = "sse")]
mod fallback;
mod hostile;
mod hub;
mod listening;
#[cfg(feature = "sse")]
mod mcp_config;
mod names;
mod played;
mod questions;
mod relisting;
#[cfg(feature = "sse")]
mod remote;
mod script;
#[cfg(feature = "http")]
mod telemetry;
#[cfg(feature = "sse")]
mod web;
