//! A waker for futures that are polled inside another one: a wake during such a poll makes the poller poll once more, and does
//! not go through the executor.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::Wake;

use crate::sync::{AtomicU8, AtomicWaker};

/// No poll is running: a wake goes to the task.
const IDLE: u8 = 0;
/// A poll is running.
const POLLING: u8 = 1;
/// A wake has come during the poll.
const WOKEN: u8 = 2;

/// Records a wake during a poll, and passes any other on to a task.
#[derive(Debug)]
pub(crate) struct CoalescingWaker {
    state: AtomicU8,
    task: AtomicWaker,
}

impl CoalescingWaker {
    pub(crate) fn new() -> Arc<Self> {
        Arc::new(Self { state: AtomicU8::new(IDLE), task: AtomicWaker::new() })
    }

    /// The task that is woken while no poll is running.
    pub(crate) fn task(&self) -> &AtomicWaker {
        &self.task
    }

    /// Begins a poll. Returns whether a wake has come since the last one began.
    pub(crate) fn begin_poll(&self) -> bool {
        self.state.swap(POLLING, Ordering::SeqCst) == WOKEN
    }

    /// Ends polling. Returns whether a wake has come since the last poll began.
    pub(crate) fn end_poll(&self) -> bool {
        self.state.swap(IDLE, Ordering::SeqCst) == WOKEN
    }
}

impl Wake for CoalescingWaker {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        let woken = self.state.compare_exchange(POLLING, WOKEN, Ordering::SeqCst, Ordering::SeqCst);
        if woken == Err(IDLE) {
            self.task.wake();
        }
    }
}
