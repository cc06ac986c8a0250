//! Counts the unanswered calls of tools, so that the end of the server can wait for them.

use std::collections::BTreeSet;
use std::sync::Arc;

use agentwire_sync::Mutex;
use tokio::sync::Notify;

/// The open calls. Clones share them.
#[derive(Clone, Default)]
pub(super) struct OpenCalls(Arc<Inner>);

#[derive(Default)]
struct Inner {
    calls: Mutex<Calls>,
    ended: Notify,
}

#[derive(Default)]
struct Calls {
    last: u64,
    open: BTreeSet<u64>,
}

impl OpenCalls {
    /// Adds a call, which is open until the result is dropped.
    pub(super) fn begin(&self) -> OpenCall {
        let mut calls = self.0.calls.lock();
        calls.last += 1;
        let number = calls.last;
        calls.open.insert(number);
        drop(calls);
        OpenCall { calls: self.clone(), number }
    }

    pub(super) fn count(&self) -> usize {
        self.0.calls.lock().open.len()
    }

    /// Waits for the end of all calls that are open now, but not of later ones.
    pub(super) async fn ended(&self) {
        let last = self.0.calls.lock().last;
        loop {
            let ended = self.0.ended.notified();
            let mut ended = std::pin::pin!(ended);
            // From here on no end is missed.
            ended.as_mut().enable();
            if self.0.calls.lock().open.first().is_none_or(|first| *first > last) {
                return;
            }
            ended.await;
        }
    }
}

/// A call that is open.
pub(super) struct OpenCall {
    calls: OpenCalls,
    number: u64,
}

impl Drop for OpenCall {
    fn drop(&mut self) {
        self.calls.0.calls.lock().open.remove(&self.number);
        self.calls.0.ended.notify_waiters();
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;

    use super::*;

    #[test]
    fn wait_does_not_include_later_calls() {
        let calls = OpenCalls::default();
        assert!(calls.ended().now_or_never().is_some());
        let (first, second) = (calls.begin(), calls.begin());
        let mut ended = std::pin::pin!(calls.ended());
        assert_eq!((calls.count(), ended.as_mut().now_or_never()), (2, None));
        let third = calls.begin();
        drop(first);
        assert_eq!(ended.as_mut().now_or_never(), None);
        drop(second);
        assert_eq!(ended.as_mut().now_or_never(), Some(()));
        assert_eq!(calls.count(), 1);
        drop(third);
    }
}
