//! The scripts of this crate, and scripts against programs.

mod counterpart;
#[cfg(unix)]
mod programs;
mod scripts;
