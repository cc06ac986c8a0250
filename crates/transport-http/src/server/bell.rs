//! A waker for what is polled inside of something else: as long as it is polled there, being woken means to be polled
//! once more there, and costs no way through whoever runs it all.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::Wake;

use crate::sync::{AtomicU8, AtomicWaker};

/// Nobody polls: whoever should is woken.
const ALONE: u8 = 0;
/// Somebody polls.
const HEARD: u8 = 1;
/// Meanwhile it was rung.
const RUNG: u8 = 2;

/// Wakes whoever should poll.
#[derive(Debug)]
pub(crate) struct Bell {
    state: AtomicU8,
    task: AtomicWaker,
}

impl Bell {
    pub(crate) fn new() -> Arc<Self> {
        Arc::new(Self { state: AtomicU8::new(ALONE), task: AtomicWaker::new() })
    }

    /// The task to be woken while nobody polls.
    pub(crate) fn task(&self) -> &AtomicWaker {
        &self.task
    }

    /// Says that somebody polls now. Tells whether it was rung since that was last said.
    pub(crate) fn hear(&self) -> bool {
        self.state.swap(HEARD, Ordering::SeqCst) == RUNG
    }

    /// Says that nobody polls any more. Tells whether it was rung and not heard.
    pub(crate) fn leave(&self) -> bool {
        self.state.swap(ALONE, Ordering::SeqCst) == RUNG
    }
}

impl Wake for Bell {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        let rung = self.state.compare_exchange(HEARD, RUNG, Ordering::SeqCst, Ordering::SeqCst);
        if rung == Err(ALONE) {
            self.task.wake();
        }
    }
}
