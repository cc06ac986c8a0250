//! Models of `InlineTask`: inline polls that race with wake-ups and with each other.

use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Poll, Waker};

use futures::FutureExt;
use futures::future::BoxFuture;
use loom::future::block_on;
use loom::thread;

use crate::server::inline_task::InlineTask;
use crate::sync::Mutex;

/// The values for a future, and its waker.
#[derive(Default)]
struct Inbox(Mutex<(usize, Option<Waker>)>);

impl Inbox {
    fn bring(&self) {
        let mut state = self.0.lock();
        state.0 += 1;
        let waker = state.1.take();
        drop(state);
        waker.into_iter().for_each(Waker::wake);
    }

    /// Ends when `count` values have been brought.
    fn serving(self: Arc<Self>, count: usize) -> BoxFuture<'static, ()> {
        poll_fn(move |cx| {
            let mut state = self.0.lock();
            if state.0 == count {
                return Poll::Ready(());
            }
            state.1 = Some(cx.waker().clone());
            Poll::Pending
        })
        .boxed()
    }
}

/// Lets other threads run whenever the future waits: while a poller comes or goes, its task polls it again and again.
async fn yielding(future: impl Future<Output = ()>) {
    let mut future = pin!(future);
    poll_fn(|cx| {
        let polled = future.as_mut().poll(cx);
        if polled.is_pending() {
            thread::yield_now();
        }
        polled
    })
    .await;
}

/// One thread brings a value in an inline poll while another brings one outside.
pub fn a_poll_and_a_wake_are_both_seen() {
    let inbox = Arc::new(Inbox::default());
    let (handle, task) = InlineTask::new(inbox.clone().serving(2));
    let brought = inbox.clone();
    let poller = thread::spawn(move || {
        if let Some(task) = task.upgrade() {
            task.poll_inline(|| brought.bring());
        }
    });
    let other = thread::spawn(move || inbox.bring());
    block_on(yielding(handle));
    poller.join().expect("no panic");
    other.join().expect("no panic");
}

/// Two threads poll inline; one may find the task being polled by the other.
pub fn two_inline_polls_are_both_seen() {
    let inbox = Arc::new(Inbox::default());
    let (handle, task) = InlineTask::new(inbox.clone().serving(2));
    let pollers = [inbox.clone(), inbox].map(|inbox| {
        let task = task.clone();
        thread::spawn(move || {
            if let Some(task) = task.upgrade() {
                task.poll_inline(|| inbox.bring());
            }
        })
    });
    block_on(yielding(handle));
    for poller in pollers {
        poller.join().expect("no panic");
    }
}
