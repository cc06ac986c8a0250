//! Models of `Monitor`: several waiters for one update, and for the items of one queue.

use std::sync::Arc;

use loom::future::block_on;
use loom::thread;

use crate::monitor::Monitor;

/// Two threads wait for the second of two updates.
pub fn an_update_wakes_all_waiters() {
    let monitor = Arc::new(Monitor::new(0));
    let wait = |monitor: Arc<Monitor<u32>>| {
        move || block_on(monitor.wait_until(|value| (*value == 2).then_some(())))
    };
    let waiter = thread::spawn(wait(monitor.clone()));
    let updater = thread::spawn({
        let monitor = monitor.clone();
        move || (0..2).for_each(|_| monitor.update(|value| *value += 1))
    });
    wait(monitor)();
    waiter.join().expect("no panic");
    updater.join().expect("no panic");
}

/// Two waiters take from a queue. One may give up before an item is there.
pub fn each_value_is_taken_once() {
    let monitor = Arc::new(Monitor::new(Vec::new()));
    let producer = thread::spawn({
        let monitor = monitor.clone();
        move || (0..2).for_each(|item| monitor.update(|items: &mut Vec<i32>| items.push(item)))
    });
    let taker = thread::spawn({
        let monitor = monitor.clone();
        move || {
            let mut wait = monitor.wait_until(|items| items.pop());
            let mut cx = std::task::Context::from_waker(std::task::Waker::noop());
            match std::pin::Pin::new(&mut wait).poll(&mut cx) {
                std::task::Poll::Ready(_) => 1,
                std::task::Poll::Pending => 0,
            }
        }
    });
    block_on(monitor.wait_until(|items| items.pop()));
    let taken = 1 + taker.join().expect("no panic");
    producer.join().expect("no panic");
    assert_eq!(monitor.with(|items| items.len()), 2 - taken);
}
