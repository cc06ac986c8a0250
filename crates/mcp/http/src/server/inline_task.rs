//! The future that serves a session, polled also by the requests that bring messages for it.
//!
//! The future runs in a task. A request on another connection would have to wake that task and be woken by it in turn.
//! Instead the request queues its message and then polls the future *inline*. Mostly the answer is ready when that poll
//! returns.

use std::fmt;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Weak};
use std::task::{Context, Poll, Wake, Waker};

use futures::FutureExt;
use futures::future::BoxFuture;

use crate::server::coalescing_waker::CoalescingWaker;
use crate::sync::{AtomicBool, Mutex};

/// The most polls of the future in one inline poll. The rest is left to the future's own task.
const ROUNDS: usize = 4;

/// The future that serves one session.
pub(crate) struct InlineTask {
    /// None once it has ended.
    running: Mutex<Option<BoxFuture<'static, ()>>>,
    /// The future is to be dropped, not polled.
    stopped: AtomicBool,
    wakes: Arc<CoalescingWaker>,
    /// `wakes` as a waker.
    waker: Waker,
}

/// The future that runs a session in a task of its own; requests may poll the same session inline. The session is dropped with
/// it, or after the last inline poll.
pub(crate) struct SessionTask(Arc<InlineTask>);

impl InlineTask {
    /// Makes the task of a session, and the reference through which requests poll it.
    pub(crate) fn new(running: BoxFuture<'static, ()>) -> (SessionTask, Weak<Self>) {
        let wakes = CoalescingWaker::new();
        let waker = wakes.clone().into();
        let task = Arc::new(Self {
            running: Mutex::new(Some(running)),
            stopped: AtomicBool::new(false),
            wakes,
            waker,
        });
        let inline = Arc::downgrade(&task);
        (SessionTask(task), inline)
    }

    /// Polls the future after `announce`, which wakes it.
    pub(crate) fn poll_inline(&self, announce: impl FnOnce()) {
        let Some(mut running) = self.running.try_lock() else {
            // Another thread polls it, and will poll once more.
            return announce();
        };
        self.wakes.begin_poll();
        announce();
        let mut ended = false;
        for _ in 0..ROUNDS {
            if !self.wakes.begin_poll() {
                break;
            }
            ended = running.as_mut().is_none_or(|running| self.poll(running).is_ready());
            if ended {
                *running = None;
                break;
            }
        }
        // Before the lock is free: the next inline poll would take a wake that came until now for one of its own.
        let woken = self.wakes.end_poll();
        drop(running);
        if woken || ended {
            self.wakes.task().wake();
        }
    }

    /// Makes the task drop the future and end.
    pub(crate) fn stop(&self) {
        self.stopped.store(true, Ordering::SeqCst);
        self.wakes.task().wake();
    }

    fn poll(&self, running: &mut BoxFuture<'static, ()>) -> Poll<()> {
        running.poll_unpin(&mut Context::from_waker(&self.waker))
    }
}

impl Future for SessionTask {
    type Output = ();

    fn poll(self: std::pin::Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let task = &self.0;
        task.wakes.task().register(cx.waker());
        let Some(mut running) = task.running.try_lock() else {
            // An inline poll polls it once more, or has just ended.
            task.wakes.wake_by_ref();
            return Poll::Pending;
        };
        let running_on = running.as_mut().filter(|_| !task.stopped.load(Ordering::SeqCst));
        let polled = running_on.map_or(Poll::Ready(()), |running| task.poll(running));
        if polled.is_ready() {
            *running = None;
        }
        polled
    }
}

impl fmt::Debug for InlineTask {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("InlineTask").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use futures::StreamExt;
    use futures::channel::mpsc::{self, UnboundedReceiver};

    use super::*;

    /// Counts what it is given.
    async fn count(mut given: UnboundedReceiver<()>, counted: Arc<AtomicUsize>) {
        while given.next().await.is_some() {
            counted.fetch_add(1, Ordering::SeqCst);
        }
    }

    /// Counts how often the future's own task is woken.
    #[derive(Default)]
    struct Woken(AtomicUsize);

    impl Wake for Woken {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }

    #[test]
    fn an_inline_poll_serves_what_it_brings() {
        let (give, given) = mpsc::unbounded();
        let counted = Arc::new(AtomicUsize::new(0));
        let (mut handle, task) = InlineTask::new(count(given, counted.clone()).boxed());
        let woken = Arc::new(Woken::default());
        let waker = woken.clone().into();
        let mut cx = Context::from_waker(&waker);
        assert!(handle.poll_unpin(&mut cx).is_pending());
        for brought in 1..=3 {
            task.upgrade().unwrap().poll_inline(|| give.unbounded_send(()).unwrap());
            assert_eq!(counted.load(Ordering::SeqCst), brought);
        }
        assert_eq!(woken.0.load(Ordering::SeqCst), 0, "its own task has nothing to do");
        // The end wakes that task, too.
        task.upgrade().unwrap().poll_inline(|| give.close_channel());
        assert_eq!(woken.0.load(Ordering::SeqCst), 1);
        assert!(handle.poll_unpin(&mut cx).is_ready());
        drop(handle);
        assert!(task.upgrade().is_none());
    }

    #[test]
    fn an_inline_poll_leaves_a_long_run_to_the_task() {
        let mut turns = 0;
        let long = std::future::poll_fn(move |cx| {
            turns += 1;
            if turns > 1 {
                cx.waker().wake_by_ref();
            }
            if turns > 2 * ROUNDS { Poll::Ready(()) } else { Poll::Pending }
        });
        let (mut handle, task) = InlineTask::new(long.boxed());
        let woken = Arc::new(Woken::default());
        let waker = woken.clone().into();
        let mut cx = Context::from_waker(&waker);
        assert!(handle.poll_unpin(&mut cx).is_pending());
        let before = woken.0.load(Ordering::SeqCst);
        let task = task.upgrade().unwrap();
        task.poll_inline(|| task.waker.wake_by_ref());
        assert_eq!(woken.0.load(Ordering::SeqCst), before + 1);
        let rest = (0..ROUNDS).filter(|_| handle.poll_unpin(&mut cx).is_pending()).count();
        assert_eq!(rest, ROUNDS - 1, "the inline poll has made {ROUNDS} of the steps");
    }

    /// Each message is counted, whichever thread polls at that moment.
    #[test]
    fn inline_polls_from_many_threads_lose_nothing() {
        let (give, given) = mpsc::unbounded();
        let counted = Arc::new(AtomicUsize::new(0));
        let (handle, task) = InlineTask::new(count(given, counted.clone()).boxed());
        let pollers: Vec<_> = (0..4)
            .map(|_| {
                let (give, task) = (give.clone(), task.clone());
                std::thread::spawn(move || {
                    for _ in 0..5000 {
                        if let Some(task) = task.upgrade() {
                            task.poll_inline(|| give.unbounded_send(()).unwrap());
                        }
                    }
                })
            })
            .collect();
        drop(give);
        // It ends when the last poller has gone, which wakes it.
        tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(handle);
        pollers.into_iter().for_each(|poller| poller.join().unwrap());
        assert_eq!(counted.load(Ordering::SeqCst), 20_000);
    }

    /// A wake between two inline polls is kept, also where those bring nothing.
    #[test]
    fn inline_polls_lose_no_other_wake() {
        let (give, given) = mpsc::unbounded();
        let counted = Arc::new(AtomicUsize::new(0));
        let (handle, task) = InlineTask::new(count(given, counted.clone()).boxed());
        let pollers: Vec<_> = (0..3)
            .map(|_| {
                let task = task.clone();
                std::thread::spawn(move || {
                    while let Some(task) = task.upgrade() {
                        task.poll_inline(|| {});
                    }
                })
            })
            .collect();
        let sender = std::thread::spawn(move || {
            for sent in 1..=4000 {
                give.unbounded_send(()).unwrap();
                let begun = std::time::Instant::now();
                while counted.load(Ordering::SeqCst) < sent {
                    assert!(begun.elapsed().as_secs() < 60, "wake {sent} was lost");
                    std::thread::yield_now();
                }
            }
        });
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let runs = std::thread::spawn(move || runtime.block_on(handle));
        sender.join().unwrap();
        runs.join().unwrap();
        pollers.into_iter().for_each(|poller| poller.join().unwrap());
    }
}
