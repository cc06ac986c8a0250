//! Real processes, pipes, sockets, terminals and files.
#![cfg(target_os = "linux")]

mod child;
mod shutdown;
mod stdio;
mod support;
