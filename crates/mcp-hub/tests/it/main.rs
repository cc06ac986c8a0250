//! Hubs of real processes, small shell scripts that play servers, and of servers on the network that are played.
#![cfg(unix)]

mod eras;
mod hub;
mod ladder;
mod listening;
mod names;
mod played;
mod relisting;
mod remote;
mod script;
mod web;
