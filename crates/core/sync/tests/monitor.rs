//! Waiters, and when they are woken.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Weak};
use std::task::{Context, Poll};
use std::thread;

use agentwire_sync::{Monitor, Waiter, Wakers};
use futures::executor::block_on;
use futures::task::{ArcWake, waker, waker_ref};
use futures::{FutureExt, poll};

/// Counts its wakes.
#[derive(Default)]
struct Count(AtomicUsize);

impl ArcWake for Count {
    fn wake_by_ref(this: &Arc<Self>) {
        this.0.fetch_add(1, Ordering::Relaxed);
    }
}

impl Count {
    fn take(&self) -> usize {
        self.0.swap(0, Ordering::Relaxed)
    }
}

#[test]
fn an_update_wakes_all_who_wait_and_nothing_else_does() {
    let monitor = Monitor::new(0);
    let counts: [Arc<Count>; 3] = Default::default();
    let mut waits = counts.each_ref().map(|_| monitor.wait_until(|value| (*value == 2).then_some(())));
    let mut poll =
        |index: usize| waits[index].poll_unpin(&mut Context::from_waker(&waker_ref(&counts[index])));
    assert!((0..3).all(|index| poll(index).is_pending()));
    assert_eq!(monitor.with(|value| *value), 0);
    monitor.update_if(|value| (*value += 1, false));
    assert!(counts.iter().all(|count| count.take() == 0));
    monitor.update(|value| *value += 1);
    assert!(counts.iter().all(|count| count.take() == 1));
    monitor.update(|_| {});
    assert!(counts.iter().all(|count| count.take() == 0), "only who has looked is woken again");
    assert!((0..3).all(|index| poll(index).is_ready()));
}

#[test]
fn waiter_may_take_the_value_and_a_dropped_one_leaves_nothing() {
    block_on(async {
        let queue = Monitor::new(vec![1, 2]);
        let next = || queue.wait_until(|items: &mut Vec<i32>| items.pop());
        assert_eq!((next().await, next().await), (2, 1));
        let mut waiting = next();
        assert!(poll!(&mut waiting).is_pending());
        let count = Arc::<Count>::default();
        {
            let mut gone = pin!(next());
            let waker = waker(count.clone());
            assert!(gone.as_mut().poll_unpin(&mut Context::from_waker(&waker)).is_pending());
        }
        assert_eq!(Arc::strong_count(&count), 1, "its waker has gone");
        queue.update(|items| items.push(3));
        assert_eq!((count.take(), waiting.await), (0, 3));
        assert_eq!(queue.into_inner(), [0; 0]);
    });
}

/// A waker that uses the monitor when it is woken and when it is dropped.
struct Uses(Weak<Monitor<u32>>);

impl ArcWake for Uses {
    fn wake_by_ref(this: &Arc<Self>) {
        this.touch();
    }
}

impl Uses {
    fn touch(&self) {
        if let Some(monitor) = self.0.upgrade() {
            monitor.with(|value| *value += 1);
        }
    }
}

impl Drop for Uses {
    fn drop(&mut self) {
        self.touch();
    }
}

#[test]
fn no_waker_is_woken_or_dropped_under_the_lock() {
    let monitor = Arc::new(Monitor::new(0));
    let uses = || waker(Arc::new(Uses(Arc::downgrade(&monitor))));
    let mut waiter = Waiter::new(&*monitor);
    let never = |_: &mut u32| None::<()>;
    // The second takes the place of the first, which is dropped.
    for _ in 0..2 {
        assert!(waiter.poll(&Context::from_waker(&uses()), never).is_pending());
    }
    assert_eq!(monitor.with(|value| *value), 1);
    // Woken and dropped.
    monitor.update(|_| {});
    assert_eq!(monitor.with(|value| *value), 3);
    assert!(waiter.poll(&Context::from_waker(&uses()), never).is_pending());
    drop(waiter);
    assert_eq!(monitor.with(|value| *value), 4);
}

#[test]
fn a_loop_of_waits_that_are_met_lets_others_run() {
    let monitor = Arc::new(Monitor::new(()));
    let mut endless = pin!(async {
        loop {
            Waiter::new(monitor.clone()).until(|()| Some(())).await;
        }
    });
    let count = Arc::<Count>::default();
    let waker = waker_ref(&count);
    let mut cx = Context::from_waker(&waker);
    for _ in 0..3 {
        let polled: Poll<()> = endless.poll_unpin(&mut cx);
        assert!(polled.is_pending());
        assert_eq!(count.take(), 1, "it wakes itself");
    }
}

#[test]
fn a_closure_that_panics_poisons_nothing() {
    let monitor = Monitor::new(0);
    let panics = || {
        monitor.update(|value| {
            *value = 7;
            panic!("on purpose")
        })
    };
    assert!(catch_unwind(AssertUnwindSafe(panics)).is_err());
    assert_eq!(monitor.with(|value| *value), 7);
    assert_eq!(format!("{monitor:?}"), "Monitor(7)");
}

#[test]
fn threads_hand_over() {
    let monitor = Arc::new(Monitor::new(0_u32));
    let turns = 2000;
    let play = |parity: u32| {
        let monitor = monitor.clone();
        move || {
            for turn in (parity..turns).step_by(2) {
                block_on(monitor.wait_until(|value| (*value == turn).then_some(())));
                monitor.update(|value| *value += 1);
            }
        }
    };
    let players = [thread::spawn(play(0)), thread::spawn(play(1))];
    players.into_iter().for_each(|player| player.join().unwrap());
    assert_eq!(monitor.with(|value| *value), turns);
}

#[test]
fn wakers_wake_all_or_one() {
    let wakers = Arc::<Wakers<2>>::default();
    let counts: [Arc<Count>; 2] = Default::default();
    let register = || (0..2).for_each(|task| wakers.register(task, &waker_ref(&counts[task])));
    let taken = || counts.each_ref().map(|count| count.take());
    register();
    std::task::Waker::from(wakers.clone()).wake();
    assert_eq!(taken(), [1, 1]);
    wakers.wake_all();
    assert_eq!(taken(), [0, 0], "each is woken once");
    register();
    wakers.wake_one(1);
    assert_eq!(taken(), [0, 1]);
}

#[test]
fn a_poll_that_changes_the_value_wakes_the_others_and_not_itself() {
    let monitor = Monitor::new(0);
    let counts: [Arc<Count>; 2] = Default::default();
    let wakers = counts.each_ref().map(|count| waker(count.clone()));
    let mut waiters = [(); 2].map(|()| Waiter::new(&monitor));
    let is_two = |value: &mut i32| (*value == 2).then_some(());
    for (waiter, waker) in waiters.iter_mut().zip(&wakers) {
        assert!(waiter.poll(&Context::from_waker(waker), is_two).is_pending());
    }
    let mut set = |to: i32, changed: bool| {
        waiters[0].poll_update_if(&Context::from_waker(&wakers[0]), |value| {
            *value = to;
            Some(((), changed))
        })
    };
    assert!(set(1, false).is_ready());
    assert!(counts.iter().all(|count| count.take() == 0));
    assert!(set(2, true).is_ready());
    assert_eq!(counts.each_ref().map(|count| count.take()), [0, 1]);
    assert!(waiters[1].poll(&Context::from_waker(&wakers[1]), is_two).is_ready());
}
