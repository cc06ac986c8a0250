//! Hubs of real processes: small shell scripts that play servers.
#![cfg(unix)]

mod hub;
mod script;
