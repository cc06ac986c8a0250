//! The types that threads share. `tests/model` puts types of the same names here that try each order in which threads can run.

pub(crate) use agentwire_sync::Mutex;
pub(crate) use std::sync::atomic::{AtomicBool, AtomicU8};

pub(crate) use futures::task::AtomicWaker;
