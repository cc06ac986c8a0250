//! In the place of the standard library's types: types that tell loom of each access.

use std::task::Waker;

pub(crate) use loom::sync::atomic::{AtomicBool, AtomicU8};
pub(crate) use loom::sync::{Mutex, MutexGuard};

/// With the methods of that of `futures`.
#[derive(Debug)]
pub(crate) struct AtomicWaker(loom::future::AtomicWaker);

impl AtomicWaker {
    pub(crate) fn new() -> Self {
        Self(loom::future::AtomicWaker::new())
    }

    pub(crate) fn register(&self, waker: &Waker) {
        self.0.register_by_ref(waker);
    }

    pub(crate) fn wake(&self) {
        self.0.wake();
    }
}
