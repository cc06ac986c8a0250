use std::sync::Arc;
use std::task::Wake;

use futures::task::AtomicWaker;

/// The task that reads and the task that writes, which may be two: both are woken by whatever happens, because
/// either goes on with everything.
#[derive(Debug, Default)]
pub(crate) struct Wakers {
    pub(crate) reader: AtomicWaker,
    pub(crate) writer: AtomicWaker,
}

impl Wake for Wakers {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.reader.wake();
        self.writer.wake();
    }
}
