//! A value behind a lock with async waiters: each update wakes the futures that wait for a condition on the value.

use std::collections::BTreeMap;
use std::fmt;
use std::future::Future;
use std::marker::PhantomData;
use std::ops::Deref;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use crate::sync::{Mutex, MutexGuard};

/// One in this many of the waits that could complete at once is pending for one poll first.
const READY_IN_A_ROW: u32 = 128;

/// A value behind a lock, and the futures that wait for a condition on it.
///
/// The lock is held only while a closure runs. A closure must not use the same monitor, and should be short, because other
/// threads block until it returns.
pub struct Monitor<T>(Mutex<Inner<T>>);

struct Inner<T> {
    value: T,
    /// The wakers of the waiters, by their keys.
    waiting: BTreeMap<u64, Waker>,
    next_key: u64,
    /// Counts the waits that found their condition met.
    ready: u32,
}

impl<T> Monitor<T> {
    /// Makes a monitor without waiters.
    pub fn new(value: T) -> Self {
        Self(Mutex::new(Inner { value, waiting: BTreeMap::new(), next_key: 0, ready: 0 }))
    }

    /// Reads the value, or changes a part that no condition depends on. Wakes no waiter.
    pub fn with<R>(&self, look: impl FnOnce(&mut T) -> R) -> R {
        look(&mut self.lock().value)
    }

    /// Changes the value, and wakes all waiters once the lock is released.
    pub fn update<R>(&self, change: impl FnOnce(&mut T) -> R) -> R {
        self.update_if(|value| (change(value), true))
    }

    /// Runs a closure on the value, and wakes all waiters if it returns true beside its result.
    pub fn update_if<R>(&self, change: impl FnOnce(&mut T) -> (R, bool)) -> R {
        let mut inner = self.lock();
        let (result, changed) = change(&mut inner.value);
        let waiting = if changed { std::mem::take(&mut inner.waiting) } else { BTreeMap::new() };
        drop(inner);
        waiting.into_values().for_each(Waker::wake);
        result
    }

    /// Waits until the closure returns a value. It runs at each poll, and may change the value, which wakes no
    /// waiter.
    ///
    /// Dropping the future leaves the value as the last run of the closure left it.
    pub fn wait_until<R, F>(&self, look: F) -> WaitUntil<T, &Self, F>
    where
        F: FnMut(&mut T) -> Option<R>,
    {
        Waiter::new(self).until(look)
    }

    /// Returns the value.
    pub fn into_inner(self) -> T {
        self.0.into_inner().value
    }

    fn lock(&self) -> MutexGuard<'_, Inner<T>> {
        self.0.lock()
    }
}

impl<T: Default> Default for Monitor<T> {
    fn default() -> Self {
        Self::new(T::default())
    }
}

impl<T: fmt::Debug> fmt::Debug for Monitor<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.with(|value| f.debug_tuple("Monitor").field(value).finish())
    }
}

/// One future's registration with a monitor, for futures that are written by hand. `M` is a reference to the monitor, or an
/// [`Arc`](std::sync::Arc) of it.
pub struct Waiter<T, M: Deref<Target = Monitor<T>>> {
    monitor: M,
    /// `None` until a poll is pending.
    key: Option<u64>,
    value: PhantomData<fn(&T)>,
}

impl<T, M: Deref<Target = Monitor<T>>> Waiter<T, M> {
    /// Makes a waiter, which registers when a poll of it is pending.
    pub fn new(monitor: M) -> Self {
        Self { monitor, key: None, value: PhantomData }
    }

    /// Returns the monitor.
    pub fn monitor(&self) -> &M {
        &self.monitor
    }

    /// Runs the closure. If it returns `None`, the next update wakes the task of `cx`.
    pub fn poll<R>(&mut self, cx: &Context<'_>, look: impl FnOnce(&mut T) -> Option<R>) -> Poll<R> {
        self.poll_update_if(cx, |value| Some((look(value)?, false)))
    }

    /// As [`poll`](Self::poll). Also wakes all other waiters if the closure returns true beside its result, because it has
    /// changed the value. Takes the lock once.
    pub fn poll_update_if<R>(
        &mut self,
        cx: &Context<'_>,
        change: impl FnOnce(&mut T) -> Option<(R, bool)>,
    ) -> Poll<R> {
        let mut guard = self.monitor.lock();
        let inner = &mut *guard;
        // Checked before the closure runs, because the closure may take its result out of the value.
        if inner.ready == READY_IN_A_ROW {
            inner.ready = 0;
            drop(guard);
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        if let Some((found, changed)) = change(&mut inner.value) {
            inner.ready += 1;
            if changed {
                let own = self.key.take().and_then(|key| inner.waiting.remove(&key));
                let waiting = std::mem::take(&mut inner.waiting);
                drop(guard);
                drop(own);
                waiting.into_values().for_each(Waker::wake);
            }
            return Poll::Ready(found);
        }
        let key = *self.key.get_or_insert_with(|| {
            inner.next_key += 1;
            inner.next_key
        });
        let replaced = match inner.waiting.get(&key) {
            Some(waker) if waker.will_wake(cx.waker()) => None,
            _ => inner.waiting.insert(key, cx.waker().clone()),
        };
        drop(guard);
        drop(replaced);
        Poll::Pending
    }

    /// Makes a future that completes when the closure returns a value; see [`Monitor::wait_until`].
    pub fn until<R, F: FnMut(&mut T) -> Option<R>>(self, look: F) -> WaitUntil<T, M, F> {
        WaitUntil { waiter: self, look }
    }
}

impl<T, M: Deref<Target = Monitor<T>>> Drop for Waiter<T, M> {
    fn drop(&mut self) {
        if let Some(key) = self.key {
            let waker = self.monitor.lock().waiting.remove(&key);
            drop(waker);
        }
    }
}

impl<T, M: Deref<Target = Monitor<T>>> fmt::Debug for Waiter<T, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Waiter").field("is_registered", &self.key.is_some()).finish_non_exhaustive()
    }
}

/// The future of [`Monitor::wait_until`] and [`Waiter::until`].
#[must_use = "futures do nothing unless polled"]
#[derive(Debug)]
pub struct WaitUntil<T, M: Deref<Target = Monitor<T>>, F> {
    waiter: Waiter<T, M>,
    look: F,
}

// Neither the place nor the closure is ever pinned.
impl<T, M: Deref<Target = Monitor<T>>, F> Unpin for WaitUntil<T, M, F> {}

impl<T, M, F, R> Future for WaitUntil<T, M, F>
where
    M: Deref<Target = Monitor<T>>,
    F: FnMut(&mut T) -> Option<R>,
{
    type Output = R;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<R> {
        let this = &mut *self;
        this.waiter.poll(cx, &mut this.look)
    }
}
