//! Tracks the futures that a spawner runs. Waits until none runs, and aborts the rest when it is dropped.

use std::sync::{Arc, Weak};
use std::task::{Context, Poll, Waker};

use agentwire_sync::{Mutex, MutexGuard};
use futures::future::{AbortHandle, Abortable};
use slab::Slab;

use crate::server::Spawner;

/// The futures that a spawner runs, with a handle to abort each.
#[derive(Debug, Default)]
pub(crate) struct SpawnedTasks(Arc<Mutex<RunningTasks>>);

#[derive(Debug, Default)]
struct RunningTasks {
    running: Slab<AbortHandle>,
    /// Nothing more is run.
    closed: bool,
    waker: Option<Waker>,
}

impl SpawnedTasks {
    /// Returns a spawner that registers each future and passes it to `spawner`.
    pub(crate) fn spawner(&self, spawner: Spawner) -> Spawner {
        let known = Arc::downgrade(&self.0);
        Spawner::new(move |task| {
            let Some(known) = known.upgrade() else {
                return;
            };
            let (handle, registration) = AbortHandle::new_pair();
            let mut state = lock(&known);
            if state.closed {
                return;
            }
            let place = TaskSlot { known: Arc::downgrade(&known), number: state.running.insert(handle) };
            drop(state);
            let task = Abortable::new(task, registration);
            spawner.spawn_caught(Box::pin(async move {
                // Held until the task has been dropped, however that comes about.
                let place = place;
                let _ = task.await;
                drop(place);
            }));
        })
    }

    /// Ready when nothing runs.
    pub(crate) fn poll_idle(&self, cx: &Context<'_>) -> Poll<()> {
        let mut known = lock(&self.0);
        if known.running.is_empty() {
            return Poll::Ready(());
        }
        known.waker = Some(cx.waker().clone());
        Poll::Pending
    }
}

/// Aborts what still runs.
impl Drop for SpawnedTasks {
    fn drop(&mut self) {
        let mut known = lock(&self.0);
        known.closed = true;
        let handles: Vec<_> = known.running.iter().map(|(_, handle)| handle.clone()).collect();
        drop(known);
        handles.iter().for_each(AbortHandle::abort);
    }
}

/// The slot of a future among those that run.
struct TaskSlot {
    known: Weak<Mutex<RunningTasks>>,
    number: usize,
}

impl Drop for TaskSlot {
    fn drop(&mut self) {
        let Some(known) = self.known.upgrade() else {
            return;
        };
        let mut known = lock(&known);
        known.running.try_remove(self.number);
        if !known.running.is_empty() {
            return;
        }
        // Releases the memory of many tasks once the last has ended.
        known.running.shrink_to_fit();
        let waker = known.waker.take();
        drop(known);
        if let Some(waker) = waker {
            waker.wake();
        }
    }
}

fn lock(known: &Mutex<RunningTasks>) -> MutexGuard<'_, RunningTasks> {
    known.lock()
}
