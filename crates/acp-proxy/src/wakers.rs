use std::sync::Arc;
use std::task::{Wake, Waker};

use futures::task::AtomicWaker;

/// Wakes two who wait for the same thing and may be different tasks: whichever of them asked last must not be the
/// only one that is woken, because it may never ask again.
#[derive(Debug, Default)]
pub(crate) struct Wakers {
    waiting: [AtomicWaker; 2],
}

impl Wakers {
    pub(crate) fn register(&self, index: usize, waker: &Waker) {
        self.waiting[index].register(waker);
    }

    pub(crate) fn wake_one(&self, index: usize) {
        self.waiting[index].wake();
    }
}

impl Wake for Wakers {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.waiting.iter().for_each(AtomicWaker::wake);
    }
}
