//! Combines the wakers of several tasks into one waker, for a source that two tasks poll.

use std::sync::Arc;
use std::task::{Wake, Waker};

use futures_util::task::AtomicWaker;

/// One waker for `N` tasks, such as the reading and the writing task of a connection.
///
/// A source that two tasks poll keeps only the waker of the last poll, and that task may never poll again. So each task
/// registers its waker here, and the source gets this waker, which wakes all tasks.
#[derive(Debug)]
pub struct Wakers<const N: usize>([AtomicWaker; N]);

impl Wakers<2> {
    /// The index of the reading task.
    pub const READER: usize = 0;
    /// The index of the writing task.
    pub const WRITER: usize = 1;
}

impl<const N: usize> Wakers<N> {
    /// Registers the waker of one task, in place of its earlier one.
    ///
    /// # Panics
    ///
    /// If `task` is not less than `N`.
    pub fn register(&self, task: usize, waker: &Waker) {
        self.0[task].register(waker);
    }

    /// Wakes one task.
    ///
    /// # Panics
    ///
    /// If `task` is not less than `N`.
    pub fn wake_one(&self, task: usize) {
        self.0[task].wake();
    }

    /// Wakes all tasks.
    pub fn wake_all(&self) {
        self.0.iter().for_each(AtomicWaker::wake);
    }
}

impl<const N: usize> Default for Wakers<N> {
    fn default() -> Self {
        Self([const { AtomicWaker::new() }; N])
    }
}

impl<const N: usize> Wake for Wakers<N> {
    fn wake(self: Arc<Self>) {
        self.wake_all();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.wake_all();
    }
}
