//! A session that is served by whoever brings something for it.
//!
//! What serves a session is a future that runs somewhere. A request that comes in on a connection would have to wake it
//! there and be woken by it in turn. Instead the connection *visits* it: it polls the future itself, once it has put the
//! message where the future finds it, and mostly has the answer when that returns.

use std::fmt;
use std::sync::{Arc, Weak};
use std::task::{Context, Poll, Wake, Waker};

use crate::server::bell::Bell;
use crate::server::serving::Running;
use crate::sync::Mutex;

/// How often a visitor polls before it leaves the rest to the future's own task.
const ROUNDS: usize = 4;

/// What serves one session.
pub(crate) struct Served {
    running: Mutex<Option<Running>>,
    bell: Arc<Bell>,
    /// The bell as a waker.
    waker: Waker,
}

/// The future's own task. The future goes with it, or with the last visitor.
pub(crate) struct Home(Arc<Served>);

impl Served {
    /// Makes the task in which a session is served. It may be visited through the reference.
    pub(crate) fn new(running: Running) -> (Home, Weak<Self>) {
        let bell = Bell::new();
        let waker = bell.clone().into();
        let served = Arc::new(Self { running: Mutex::new(Some(running)), bell, waker });
        let visited = Arc::downgrade(&served);
        (Home(served), visited)
    }

    /// Lets the future see what has been brought, of which `announce` tells it by waking it.
    pub(crate) fn visit(&self, announce: impl FnOnce()) {
        let Some(mut running) = self.running.try_lock() else {
            // Somebody else polls it, and will again.
            return announce();
        };
        self.bell.hear();
        announce();
        let mut ended = false;
        for _ in 0..ROUNDS {
            if !self.bell.hear() {
                break;
            }
            ended = running.as_mut().is_none_or(|running| self.poll(running).is_ready());
            if ended {
                *running = None;
                break;
            }
        }
        // Before the next visitor can come, who would take it that what has been rung is heard.
        let rung = self.bell.leave();
        drop(running);
        if rung || ended {
            self.bell.task().wake();
        }
    }

    fn poll(&self, running: &mut Running) -> Poll<()> {
        running.poll(&mut Context::from_waker(&self.waker))
    }
}

impl Future for Home {
    type Output = ();

    fn poll(self: std::pin::Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let served = &self.0;
        served.bell.task().register(cx.waker());
        let Some(mut running) = served.running.try_lock() else {
            // There is a visitor, who polls it once more, or has just gone.
            served.bell.wake_by_ref();
            return Poll::Pending;
        };
        let polled = running.as_mut().map_or(Poll::Ready(()), |running| served.poll(running));
        if polled.is_ready() {
            *running = None;
        }
        polled
    }
}

impl fmt::Debug for Served {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Served").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use futures::FutureExt;
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
    fn a_visitor_gets_done_what_it_brings() {
        let (give, given) = mpsc::unbounded();
        let counted = Arc::new(AtomicUsize::new(0));
        let (mut home, served) = Served::new(Running::new(count(given, counted.clone())));
        let woken = Arc::new(Woken::default());
        let waker = woken.clone().into();
        let mut cx = Context::from_waker(&waker);
        assert!(home.poll_unpin(&mut cx).is_pending());
        for brought in 1..=3 {
            served.upgrade().unwrap().visit(|| give.unbounded_send(()).unwrap());
            assert_eq!(counted.load(Ordering::SeqCst), brought);
        }
        assert_eq!(woken.0.load(Ordering::SeqCst), 0, "its own task has nothing to do");
        // Also the end, of which that task has to hear.
        served.upgrade().unwrap().visit(|| give.close_channel());
        assert_eq!(woken.0.load(Ordering::SeqCst), 1);
        assert!(home.poll_unpin(&mut cx).is_ready());
        drop(home);
        assert!(served.upgrade().is_none());
    }

    #[test]
    fn a_visitor_leaves_what_takes_long_to_the_task() {
        let mut turns = 0;
        let long = std::future::poll_fn(move |cx| {
            turns += 1;
            if turns > 1 {
                cx.waker().wake_by_ref();
            }
            if turns > 2 * ROUNDS { Poll::Ready(()) } else { Poll::Pending }
        });
        let (mut home, served) = Served::new(Running::new(long));
        let woken = Arc::new(Woken::default());
        let waker = woken.clone().into();
        let mut cx = Context::from_waker(&waker);
        assert!(home.poll_unpin(&mut cx).is_pending());
        let before = woken.0.load(Ordering::SeqCst);
        let served = served.upgrade().unwrap();
        served.visit(|| served.waker.wake_by_ref());
        assert_eq!(woken.0.load(Ordering::SeqCst), before + 1);
        let rest = (0..ROUNDS).filter(|_| home.poll_unpin(&mut cx).is_pending()).count();
        assert_eq!(rest, ROUNDS - 1, "the visitor has gone {ROUNDS} of the steps");
    }

    /// Nothing that is brought is overlooked, whoever polls at that moment.
    #[test]
    fn visitors_from_many_threads_lose_nothing() {
        let (give, given) = mpsc::unbounded();
        let counted = Arc::new(AtomicUsize::new(0));
        let (home, served) = Served::new(Running::new(count(given, counted.clone())));
        let visitors: Vec<_> = (0..4)
            .map(|_| {
                let (give, served) = (give.clone(), served.clone());
                std::thread::spawn(move || {
                    for _ in 0..5000 {
                        if let Some(served) = served.upgrade() {
                            served.visit(|| give.unbounded_send(()).unwrap());
                        }
                    }
                })
            })
            .collect();
        drop(give);
        // It ends when the last visitor has gone, and whoever polled then tells it.
        tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(home);
        visitors.into_iter().for_each(|visitor| visitor.join().unwrap());
        assert_eq!(counted.load(Ordering::SeqCst), 20_000);
    }

    /// A wake that falls between two visits is heard, also if what is brought wakes nobody.
    #[test]
    fn visitors_drown_no_other_wake() {
        let (give, given) = mpsc::unbounded();
        let counted = Arc::new(AtomicUsize::new(0));
        let (home, served) = Served::new(Running::new(count(given, counted.clone())));
        let visitors: Vec<_> = (0..3)
            .map(|_| {
                let served = served.clone();
                std::thread::spawn(move || {
                    while let Some(served) = served.upgrade() {
                        served.visit(|| {});
                    }
                })
            })
            .collect();
        let ringer = std::thread::spawn(move || {
            for rung in 1..=4000 {
                give.unbounded_send(()).unwrap();
                let begun = std::time::Instant::now();
                while counted.load(Ordering::SeqCst) < rung {
                    assert!(begun.elapsed().as_secs() < 3, "wake {rung} was lost");
                    std::thread::yield_now();
                }
            }
        });
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let runs = std::thread::spawn(move || runtime.block_on(home));
        ringer.join().unwrap();
        runs.join().unwrap();
        visitors.into_iter().for_each(|visitor| visitor.join().unwrap());
    }
}
