//! Locks and monitors that futures wait for, combined wakers, and retry pauses, without a runtime.
//!
//! - [`Mutex`]: a lock that a panic does not poison.
//! - [`Monitor`]: a value behind such a lock. [`update`](Monitor::update) changes it and wakes all waiters;
//!   [`wait_until`](Monitor::wait_until) completes when the value meets a condition.
//! - [`Wakers`]: one waker for several tasks that wait for the same event.
//! - [`Backoff`]: the pauses between attempts that fail.
//!
//! ```
//! use agentwire_sync::Monitor;
//!
//! # futures::executor::block_on(async {
//! let queue = Monitor::new(Vec::new());
//! let consumer = queue.wait_until(|items: &mut Vec<i32>| items.pop());
//! let producer = async { queue.update(|items| items.push(7)) };
//! assert_eq!(futures::join!(consumer, producer).0, 7);
//! # });
//! ```
//!
//! # Invariants
//!
//! - No waker is woken, cloned from another, or dropped while the lock is held, except that a waiter clones its own. A waker
//!   may be the last owner of a task, whose destructor then uses the same monitor.
//! - A waiter checks its condition and registers under one lock, so no change comes between the two.
//! - A dropped waiter is removed with its waker.
//! - A panic does not poison a lock: the next holder finds the value as the panicking one left it.
//! - One in 128 of the waits that could complete at once is pending for one poll first and wakes itself. So a loop over waits
//!   lets other futures of its task run.

mod backoff;
mod monitor;
mod mutex;
mod sync;
mod wakers;

pub use backoff::{Backoff, random_fraction};
pub use monitor::{Monitor, WaitUntil, Waiter};
pub use mutex::{Mutex, MutexGuard};
pub use wakers::Wakers;
