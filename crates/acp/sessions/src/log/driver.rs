//! Polls the writer of an update log, in the background and whenever a command is queued.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use agentwire_sync::{Monitor, Mutex, MutexGuard, Wakers};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;

use super::queue::{self, Queue};

type Writer = BoxFuture<'static, ()>;

/// The writer of a log. The driver polls it, and so does each task that queues a command.
pub(super) struct WriterSlot {
    writer: Mutex<Option<Writer>>,
    /// Holds the waker of the [`LogDriver`].
    driver: Arc<Wakers<1>>,
    /// Wakes the driver. All polls of the writer use it.
    waker: Waker,
}

impl WriterSlot {
    pub(super) fn new(writer: impl Future<Output = ()> + Send + 'static) -> Self {
        let driver = Arc::<Wakers<1>>::default();
        Self { writer: Mutex::new(Some(writer.boxed())), waker: driver.clone().into(), driver }
    }

    /// Polls the writer. Returns false while another thread polls it: that poll may miss a command, so the caller must wake
    /// the driver.
    pub(super) fn try_poll(&self) -> bool {
        self.writer.try_lock().map(|writer| self.poll(writer)).is_some()
    }

    fn poll(&self, mut slot: MutexGuard<'_, Option<Writer>>) -> Poll<()> {
        let Some(writer) = slot.as_mut() else { return Poll::Ready(()) };
        let polled = writer.poll_unpin(&mut Context::from_waker(&self.waker));
        if polled.is_ready() {
            *slot = None;
        }
        polled
    }
}

/// Polls the writer of a log in the background, until the log is closed. Dropping it ends the log: the queued commands are
/// refused.
pub(crate) struct LogDriver {
    queue: Arc<Monitor<Queue>>,
    slot: Arc<WriterSlot>,
}

impl LogDriver {
    pub(super) fn new(queue: Arc<Monitor<Queue>>, slot: Arc<WriterSlot>) -> Self {
        Self { queue, slot }
    }
}

impl Future for LogDriver {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let slot = &self.slot;
        slot.driver.register(0, cx.waker());
        // Blocks while another thread polls the writer: that poll may have missed the event that woke this task.
        slot.poll(slot.writer.lock())
    }
}

impl Drop for LogDriver {
    fn drop(&mut self) {
        queue::end(&self.queue);
        // Where another thread polls the writer right now, the writer is dropped with the log.
        let writer = self.slot.writer.try_lock().and_then(|mut slot| slot.take());
        drop(writer);
    }
}
