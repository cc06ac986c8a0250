//! The store with package managers, servers and archives that the tests make.
#![cfg(unix)]

mod archives;
mod hostile_archives;
mod indexes;
mod packages;
mod support;
mod versions;
