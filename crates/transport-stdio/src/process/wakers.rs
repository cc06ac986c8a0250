use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::Wake;

use futures::task::AtomicWaker;

/// Wakes whoever reads from and whoever writes to a child.
///
/// Its stderr and its end concern both, who may be different tasks. Whichever of them polled last must not be
/// the only one that is woken: it may never poll again.
#[derive(Debug)]
pub(super) struct Wakers {
    pub(super) reader: AtomicWaker,
    pub(super) writer: AtomicWaker,
    woken: AtomicBool,
}

impl Wakers {
    /// Counts as woken at first, so that everything is polled once.
    pub(super) fn new() -> Arc<Self> {
        Arc::new(Self {
            reader: AtomicWaker::new(),
            writer: AtomicWaker::new(),
            woken: AtomicBool::new(true),
        })
    }

    /// Whether there was a wake since this was last asked.
    pub(super) fn take(&self) -> bool {
        // Asked for every message, so the common answer costs no more than a load.
        self.woken.load(Ordering::Acquire) && self.woken.swap(false, Ordering::AcqRel)
    }
}

impl Wake for Wakers {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.woken.store(true, Ordering::Release);
        self.reader.wake();
        self.writer.wake();
    }
}
