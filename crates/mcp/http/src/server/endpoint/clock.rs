//! Counts the ticks of an endpoint, and calls or wakes the streams and exchanges that depend on them.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::task::{Context, Waker};
use std::time::Duration;

use agentwire_sync::Mutex;
use futures::task::AtomicWaker;
use slab::Slab;

use crate::server::EndpointConfig;
use crate::server::endpoint::drain::Drain;

/// The times of a configuration, in ticks.
#[derive(Debug)]
pub(crate) struct Ticks {
    /// The length of a tick: the granularity of everything that waits for seconds or minutes.
    pub(crate) period: Duration,
    pub(crate) idle: u32,
    pub(crate) opening: u32,
    pub(crate) keep_alive: u32,
    pub(crate) stall: u32,
    pub(crate) slow_reader_timeout: u32,
    pub(crate) stream_time: Option<u32>,
}

impl Ticks {
    pub(crate) fn of(config: &EndpointConfig) -> Self {
        let limits = &config.limits;
        let shortest = config
            .idle
            .min(limits.opening_timeout)
            .min(limits.keep_alive)
            .min(limits.stall)
            .min(config.slow_reader_timeout.saturating_mul(2));
        let shortest = shortest.min(config.stream_time.unwrap_or(shortest));
        let period = (shortest / 4).clamp(Duration::from_millis(5), Duration::from_secs(1));
        // Rounded up; at least one.
        let ticks = |time: Duration| {
            u32::try_from(time.as_nanos().div_ceil(period.as_nanos())).unwrap_or(u32::MAX).max(1)
        };
        Self {
            period,
            idle: ticks(config.idle),
            opening: ticks(limits.opening_timeout),
            keep_alive: ticks(limits.keep_alive),
            stall: ticks(limits.stall),
            slow_reader_timeout: ticks(config.slow_reader_timeout),
            stream_time: config.stream_time.map(ticks),
        }
    }
}

/// A stream for which time matters.
pub(crate) trait TimedStream: fmt::Debug + Send + Sync {
    /// Does what is due at tick `now`.
    fn tick(&self, now: u32, config: &EndpointConfig, ticks: &Ticks);

    /// Wakes the exchange that feeds the stream, because it should end.
    fn begin_shutdown(&self);
}

/// Counts ticks while something waits for time to pass. Sessions are not registered here: their table has them all.
#[derive(Debug, Default)]
pub(crate) struct Clock {
    now: AtomicU32,
    /// Whether ticks are being counted, or the clock's task has been woken to begin.
    running: AtomicBool,
    /// The task that counts ticks.
    task: AtomicWaker,
    entries: Mutex<Slab<Entry>>,
    /// Is notified of the end of each entry.
    drain: Arc<Drain>,
}

#[derive(Debug)]
enum Entry {
    /// A stream that has a reader.
    Stream(Arc<dyn TimedStream>),
    /// An exchange whose response has not begun, and the tick at which it started.
    Exchange { waker: Waker, since: u32 },
}

/// An entry of a [`Clock`], which goes when this is dropped.
#[derive(Debug)]
pub(crate) struct Registration {
    clock: Arc<Clock>,
    key: usize,
}

impl Clock {
    pub(crate) fn new(drain: Arc<Drain>) -> Self {
        Self { drain, ..Self::default() }
    }

    /// The number of ticks so far. It wraps.
    pub(crate) fn now(&self) -> u32 {
        self.now.load(Ordering::Relaxed)
    }

    /// Counts a tick and wakes the exchanges that have waited for the head delay. Returns the number of the tick.
    pub(crate) fn tick(&self, config: &EndpointConfig, ticks: &Ticks) -> u32 {
        let now = self.now.fetch_add(1, Ordering::Relaxed).wrapping_add(1);
        self.streams().iter().for_each(|stream| stream.tick(now, config, ticks));
        self.wake_exchanges(|since| now.wrapping_sub(since) >= ticks.keep_alive);
        now
    }

    /// Wakes all streams and exchanges, because they should end.
    pub(crate) fn begin_shutdown(&self) {
        self.streams().iter().for_each(|stream| stream.begin_shutdown());
        self.wake_exchanges(|_| true);
    }

    /// Whether ticks are to be counted. If not, the task is woken once they are to be.
    pub(crate) fn is_running(&self, cx: &Context<'_>) -> bool {
        self.task.register(cx.waker());
        self.running.load(Ordering::SeqCst)
    }

    /// Wakes the task that counts ticks, unless it runs.
    pub(crate) fn start(&self) {
        if !self.running.swap(true, Ordering::SeqCst) {
            self.task.wake();
        }
    }

    /// Stops unless time matters to an entry or to something else. Returns whether it has stopped.
    pub(crate) fn stop_unless(&self, matters: impl FnOnce() -> bool) -> bool {
        self.running.store(false, Ordering::SeqCst);
        // An entry that was added before this store has found the clock running, and has not started it.
        let matters = matters() || !self.is_empty();
        self.running.fetch_or(matters, Ordering::SeqCst);
        !matters
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.entries.lock().is_empty()
    }

    /// How many streams have a reader.
    pub(crate) fn streams_len(&self) -> usize {
        self.entries.lock().iter().filter(|(_, entry)| matches!(entry, Entry::Stream(_))).count()
    }

    /// Registers a stream that has a reader. [`start`](Self::start) is called after it.
    pub(crate) fn register_stream(self: &Arc<Self>, stream: Arc<dyn TimedStream>) -> Registration {
        self.register(Entry::Stream(stream))
    }

    /// Registers an exchange to be woken when the head delay has passed since the tick `since`, and when the endpoint begins to
    /// shut down.
    pub(crate) fn register_exchange(
        self: &Arc<Self>,
        registration: &mut Option<Registration>,
        since: u32,
        cx: &Context<'_>,
    ) {
        if let Some(Registration { key, .. }) = registration {
            return self.set_waker(*key, cx.waker());
        }
        *registration = Some(self.register(Entry::Exchange { waker: cx.waker().clone(), since }));
        self.start();
    }

    fn register(self: &Arc<Self>, entry: Entry) -> Registration {
        let key = self.entries.lock().insert(entry);
        Registration { clock: self.clone(), key }
    }

    /// Every stream that has a reader.
    fn streams(&self) -> Vec<Arc<dyn TimedStream>> {
        let stream = |(_, entry): (_, &Entry)| match entry {
            Entry::Stream(stream) => Some(stream.clone()),
            Entry::Exchange { .. } => None,
        };
        self.entries.lock().iter().filter_map(stream).collect()
    }

    /// Wakes the exchanges that fit, by the tick at which they started.
    fn wake_exchanges(&self, fits: impl Fn(u32) -> bool) {
        let waker = |(_, entry): (_, &Entry)| match entry {
            Entry::Exchange { waker, since } if fits(*since) => Some(waker.clone()),
            _ => None,
        };
        let due: Vec<Waker> = self.entries.lock().iter().filter_map(waker).collect();
        due.into_iter().for_each(Waker::wake);
    }

    /// Replaces the waker of an exchange.
    fn set_waker(&self, key: usize, new: &Waker) {
        let mut entries = self.entries.lock();
        let replaced = match entries.get_mut(key) {
            Some(Entry::Exchange { waker, .. }) if !waker.will_wake(new) => {
                Some(std::mem::replace(waker, new.clone()))
            }
            _ => None,
        };
        drop(entries);
        // It may be the last owner of a task, and dropping the task locks these entries again.
        drop(replaced);
    }
}

impl Drop for Registration {
    fn drop(&mut self) {
        let mut entries = self.clock.entries.lock();
        let entry = entries.try_remove(self.key);
        // Releases the memory of many entries once the last has gone.
        if entries.is_empty() && entries.capacity() > 1024 {
            entries.shrink_to_fit();
        }
        drop(entries);
        drop(entry);
        self.clock.drain.note_end();
    }
}
