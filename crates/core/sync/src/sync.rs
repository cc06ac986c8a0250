//! The locks of this crate. `tests/model` replaces this file by types that run each possible order of the threads.

pub(crate) use crate::mutex::{Mutex, MutexGuard};
