//! Counts that parts of a program have at the moment: sessions, streams, restarts.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};

use agentwire_sync::Mutex;
use agentwire_wire_derive::Build;
use opentelemetry::KeyValue;
use opentelemetry::metrics::Meter;

/// A part of a program that has counts, such as an HTTP endpoint or the tool servers of a session. A closure is one.
pub trait Stats: Send + Sync {
    /// Returns the counts at this moment. It must not block.
    fn counts(&self) -> Counts;
}

impl<F: Fn() -> Counts + Send + Sync> Stats for F {
    fn counts(&self) -> Counts {
        self()
    }
}

/// The counts of a part of a program. One that the part does not have is none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Build)]
#[non_exhaustive]
pub struct Counts {
    /// Sets the number of open sessions.
    pub sessions: Option<u64>,
    /// Open streams, such as those of Server-Sent Events.
    pub streams: Option<u64>,
    /// Sets the number of requests without a session that are being answered.
    pub exchanges: Option<u64>,
    /// Sets whether the part takes requests: what its last check of readiness found, and `false` once it is about to end.
    pub ready: Option<bool>,
    /// How often child processes were started again, since the part began.
    pub child_restarts: Option<u64>,
}

impl Counts {
    /// Returns no counts.
    pub fn new() -> Self {
        Self::default()
    }
}

/// Reads one count of a part.
type Count = fn(&Counts) -> Option<u64>;
/// Makes one count of those of two parts.
type Join = fn(u64, u64) -> u64;

/// The parts whose counts are reported.
#[derive(Default)]
pub(crate) struct Watched {
    parts: Mutex<Vec<Arc<Part>>>,
    /// The restarts of parts that are gone: a counter never falls.
    earlier_restarts: Mutex<BTreeMap<&'static str, u64>>,
}

struct Part {
    component: &'static str,
    stats: Weak<dyn Stats>,
    /// The restarts as they were last read.
    restarts: AtomicU64,
}

impl Watched {
    /// Makes the instruments. They hold the parts weakly, because a meter keeps its instruments for good.
    pub(crate) fn new(meter: &Meter) -> Arc<Self> {
        let watched = Arc::new(Self::default());
        let gauge = |name, unit, what, count: Count, join: Join| {
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
        let ready = "1 where all parts of the component take requests, else 0.";
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

    /// The joined counts of the parts that have it, by component.
    fn joined(&self, count: Count, join: Join) -> BTreeMap<&'static str, u64> {
        let mut joined = BTreeMap::new();
        // No code of a part's runs while the lock is held.
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

    /// Removes the parts that are gone, and keeps their restarts.
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
