//! The locks of this crate. `tests/model` replaces this file by types that run each possible order of the threads.

pub(crate) use agentwire_sync::{Mutex, MutexGuard};
pub(crate) use std::sync::atomic::AtomicBool;
