//! Makes a function yield when all futures that it awaits are ready at once.

use std::future::poll_fn;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::task::Poll;
use std::time::{Duration, Instant};

/// How long a function may run between two waits before a method of its context waits for one poll.
/// Thousands of calls of one client may run side by side, and those of others wait until each had its turn.
const MAX_RUN: Duration = Duration::from_micros(200);

/// The clock is read once for this many queued notifications. Queueing waits by itself once the queue is full.
const QUEUED_PER_LOOK: u32 = 64;

/// Makes a function yield whose awaited futures are all ready at once. Otherwise it would hold its thread, and a cancel could
/// neither be read nor drop it.
#[derive(Default)]
pub(crate) struct YieldTimer {
    /// When the function was first seen here.
    origin: OnceLock<Instant>,
    /// When it last waited here, in nanoseconds after the origin.
    last: AtomicU64,
    queued: AtomicU32,
}

impl YieldTimer {
    /// Waits for one poll if the function has not waited here for [`MAX_RUN`].
    pub(crate) async fn yield_if_due(&self) {
        if self.is_due() {
            yield_once().await;
        }
    }

    /// Whether the function has to wait for one poll after it has queued a notification.
    #[inline]
    pub(crate) fn is_due_queued(&self) -> bool {
        // If two threads count at once, one count is lost: a counter that loses none costs more.
        let queued = self.queued.load(Ordering::Relaxed);
        self.queued.store(queued.wrapping_add(1), Ordering::Relaxed);
        queued.is_multiple_of(QUEUED_PER_LOOK) && self.is_due()
    }

    fn is_due(&self) -> bool {
        let run = self.origin.get_or_init(Instant::now).elapsed();
        let now = u64::try_from(run.as_nanos()).unwrap_or(u64::MAX);
        let is_due = run.saturating_sub(Duration::from_nanos(self.last.load(Ordering::Relaxed))) >= MAX_RUN;
        if is_due {
            self.last.store(now, Ordering::Relaxed);
        }
        is_due
    }
}

/// Is pending once, and woken at once.
pub(crate) async fn yield_once() {
    let mut has_yielded = false;
    poll_fn(|cx| {
        if std::mem::replace(&mut has_yielded, true) {
            return Poll::Ready(());
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}
