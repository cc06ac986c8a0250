//! Gauges of the current counts of a program's parts: sessions, streams, requests, readiness and restarts.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};

use agentwire_sync::Mutex;
use agentwire_wire_derive::Build;
use opentelemetry::KeyValue;
use opentelemetry::metrics::Meter;

/// A part of a program that has counts, such as an HTTP endpoint or the tool servers of a session. Closures implement it.
pub trait Stats: Send + Sync {
    /// Returns the current counts. It must not block.
    fn counts(&self) -> Counts;
}

impl<F: Fn() -> Counts + Send + Sync> Stats for F {
    fn counts(&self) -> Counts {
        self()
    }
}

/// The counts of a part of a program. `None` for a count that the part does not have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Build)]
#[non_exhaustive]
pub struct Counts {
    /// Sets the number of open sessions.
    pub sessions: Option<u64>,
    /// Sets the number of open streams, such as those of Server-Sent Events.
    pub streams: Option<u64>,
    /// Sets the number of requests without a session that are being answered.
    pub exchanges: Option<u64>,
    /// Sets whether the part accepts requests: the result of its last readiness check, and `false` once it shuts down.
    pub ready: Option<bool>,
    /// Sets how often child processes were started again since the part was made.
    pub child_restarts: Option<u64>,
}

impl Counts {
    /// Makes a value without counts.
    pub fn new() -> Self {
        Self::default()
    }
}

/// Reads one count of a part.
type ReadCount = fn(&Counts) -> Option<u64>;
/// Joins the counts of two parts.
type Join = fn(u64, u64) -> u64;

/// The parts whose counts are reported.
#[derive(Default)]
pub(crate) struct WatchedParts {
    parts: Mutex<Vec<Arc<Part>>>,
    /// The restarts of dropped parts, because a counter must never decrease.
    earlier_restarts: Mutex<BTreeMap<&'static str, u64>>,
}

struct Part {
    component: &'static str,
    stats: Weak<dyn Stats>,
    /// The number of restarts when it was last read.
    restarts: AtomicU64,
}

impl WatchedParts {
    /// Makes the instruments. They hold the parts weakly, because a meter never drops its instruments.
    pub(crate) fn new(meter: &Meter) -> Arc<Self> {
        let watched = Arc::new(Self::default());
        let gauge = |name, unit, what, count: ReadCount, join: Join| {
            let watched = Arc::downgrade(&watched);
            let gauge = meter.u64_observable_gauge(name).with_unit(unit).with_description(what);
            gauge
                .with_callback(move |gauge| {
                    let joined =
                        watched.upgrade().map(|watched| watched.joined(count, join)).unwrap_or_default();
                    joined
                        .iter()
                        .for_each(|(component, count)| gauge.observe(*count, &[attribute(component)]));
                })
                .build()
        };
        let sum = u64::saturating_add;
        gauge("agentwire.sessions.active", "{session}", "Open sessions.", |counts| counts.sessions, sum);
        gauge("agentwire.streams.active", "{stream}", "Open streams.", |counts| counts.streams, sum);
        let exchanges = "Open requests without a session.";
        gauge("agentwire.exchanges.active", "{request}", exchanges, |counts| counts.exchanges, sum);
        let ready = "1 if all parts of the component accept requests, else 0.";
        gauge("agentwire.ready", "", ready, |counts| counts.ready.map(u64::from), u64::min);
        let weak = Arc::downgrade(&watched);
        meter
            .u64_observable_counter("agentwire.child.restarts")
            .with_unit("{restart}")
            .with_description("Child processes that were started again.")
            .with_callback(move |counter| {
                let sums = weak.upgrade().map(|watched| watched.restarts()).unwrap_or_default();
                sums.iter().for_each(|(component, sum)| counter.observe(*sum, &[attribute(component)]));
            })
            .build();
        watched
    }

    pub(crate) fn add(&self, component: &'static str, stats: Weak<dyn Stats>) {
        self.remove_ended();
        self.parts.lock().push(Arc::new(Part { component, stats, restarts: AtomicU64::new(0) }));
    }

    /// A count for each component, joined over its parts that have it.
    fn joined(&self, count: ReadCount, join: Join) -> BTreeMap<&'static str, u64> {
        let mut joined = BTreeMap::new();
        // The lock is not held while a part is asked for its counts.
        let parts = self.parts.lock().clone();
        for part in parts {
            if let Some(amount) = part.stats.upgrade().and_then(|stats| count(&stats.counts())) {
                joined.entry(part.component).and_modify(|sum| *sum = join(*sum, amount)).or_insert(amount);
            }
        }
        joined
    }

    fn restarts(&self) -> BTreeMap<&'static str, u64> {
        self.remove_ended();
        let parts = self.parts.lock().clone();
        let mut sums = self.earlier_restarts.lock().clone();
        for part in parts {
            let Some(restarts) = part.stats.upgrade().and_then(|stats| stats.counts().child_restarts) else {
                continue;
            };
            let restarts = restarts.max(part.restarts.fetch_max(restarts, Ordering::Relaxed));
            *sums.entry(part.component).or_default() += restarts;
        }
        sums
    }

    /// Removes the dropped parts, and keeps their restarts.
    fn remove_ended(&self) {
        let mut earlier = self.earlier_restarts.lock();
        self.parts.lock().retain(|part| {
            let lives = part.stats.strong_count() > 0;
            let restarts = part.restarts.load(Ordering::Relaxed);
            if !lives && restarts > 0 {
                *earlier.entry(part.component).or_default() += restarts;
            }
            lives
        });
    }
}

fn attribute(component: &'static str) -> KeyValue {
    KeyValue::new("agentwire.component", component)
}
