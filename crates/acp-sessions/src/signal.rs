//! Something that happens once and that any number may wait for.

use std::collections::BTreeMap;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

/// Clones are the same signal.
#[derive(Clone, Default)]
pub(crate) struct Signal(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    is_set: bool,
    next: u64,
    waiting: BTreeMap<u64, Waker>,
}

impl Signal {
    /// Lets it happen. Says whether it had not before.
    pub(crate) fn set(&self) -> bool {
        let mut state = self.lock();
        let first = !std::mem::replace(&mut state.is_set, true);
        let waiting = std::mem::take(&mut state.waiting);
        drop(state);
        waiting.into_values().for_each(Waker::wake);
        first
    }

    pub(crate) fn is_set(&self) -> bool {
        self.lock().is_set
    }

    /// Completes when it has happened.
    pub(crate) fn wait(&self) -> Wait {
        Wait { signal: self.clone(), key: None }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Signal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Signal").field(&self.is_set()).finish()
    }
}

/// See [`Signal::wait`].
#[must_use = "futures do nothing unless polled"]
pub(crate) struct Wait {
    signal: Signal,
    key: Option<u64>,
}

impl Future for Wait {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let this = &mut *self;
        let mut state = this.signal.lock();
        if state.is_set {
            return Poll::Ready(());
        }
        let key = *this.key.get_or_insert_with(|| {
            state.next += 1;
            state.next
        });
        state.waiting.insert(key, cx.waker().clone());
        Poll::Pending
    }
}

impl Drop for Wait {
    fn drop(&mut self) {
        if let Some(key) = self.key {
            self.signal.lock().waiting.remove(&key);
        }
    }
}
