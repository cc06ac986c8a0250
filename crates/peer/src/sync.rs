//! What threads share. `tests/model` puts types of the same names here that try each order in which threads can run.

pub(crate) use agentwire_sync::{Mutex, MutexGuard};
pub(crate) use std::sync::atomic::AtomicBool;
