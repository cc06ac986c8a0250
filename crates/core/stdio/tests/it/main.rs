//! Real processes, pipes, sockets, terminals and files.
#![cfg(target_os = "linux")]
#![cfg_attr(
    not(feature = "process"),
    allow(dead_code, unused_imports, reason = "there are fewer tests without it")
)]

#[cfg(feature = "process")]
mod child;
#[cfg(feature = "process")]
mod children;
#[cfg(feature = "process")]
mod group;
#[cfg(feature = "process")]
mod shutdown;
mod stdio;
mod support;
