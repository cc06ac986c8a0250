//! One waker for the reading and the writing task of a child, with a flag for whether it was woken.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::Wake;

use agentwire_sync::Wakers;

/// Wakes the task that reads from a child and the task that writes to it. The child's stderr and its end concern both.
#[derive(Debug)]
pub(super) struct ChildWaker {
    pub(super) tasks: Wakers<2>,
    woken: AtomicBool,
}

impl ChildWaker {
    /// Counts as woken at first, so that everything is polled once.
    pub(super) fn new() -> Arc<Self> {
        Arc::new(Self { tasks: Wakers::default(), woken: AtomicBool::new(true) })
    }

    /// Whether there was a wake since the last call.
    pub(super) fn take(&self) -> bool {
        // Called for every message, so the common answer costs no more than a load.
        self.woken.load(Ordering::Acquire) && self.woken.swap(false, Ordering::AcqRel)
    }
}

impl Wake for ChildWaker {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.woken.store(true, Ordering::Release);
        self.tasks.wake_all();
    }
}
