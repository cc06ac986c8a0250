//! Measures what a piece of work costs: processor time of this process, and peak memory over what was there before.
//!
//! Time is compared with a reference that runs in the same process, because a shared machine changes its speed.
//! Memory is counted by the allocator, so it does not depend on the machine at all.
//!
//! ```
//! use agentwire_cost_tests::Meter;
//!
//! let meter = Meter::lock();
//! let (sum, cost) = meter.measure(|| vec![1_u8; 1 << 20].iter().map(|byte| usize::from(*byte)).sum::<usize>());
//! assert_eq!(sum, 1 << 20);
//! assert!(cost.peak_bytes >= 1 << 20 && cost.peak_bytes < 2 << 20);
//! ```

#![cfg(unix)]

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use peak_alloc::PeakAlloc;
use rustix::time::{ClockId, clock_gettime};
use serde::de::IgnoredAny;

#[global_allocator]
static ALLOCATOR: PeakAlloc = PeakAlloc;

static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

/// The right to measure. Both figures are the whole process's, so a test holds the meter from its first line to its last.
#[derive(Debug)]
pub struct Meter {
    _lock: MutexGuard<'static, ()>,
}

/// The cost of a piece of work.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Cost {
    /// The most bytes allocated at a time, over those allocated when the work began.
    pub peak_bytes: usize,
    /// Bytes that are still allocated after the work, over those allocated when it began.
    pub kept_bytes: usize,
    /// Processor time of all threads of the process.
    pub cpu: Duration,
}

impl Meter {
    /// Waits until no other test of this process measures.
    pub fn lock() -> Self {
        Self { _lock: ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner) }
    }

    /// Runs the work and returns what it returned, and what it cost.
    pub fn measure<T>(&self, work: impl FnOnce() -> T) -> (T, Cost) {
        let before = ALLOCATOR.current_usage();
        ALLOCATOR.reset_peak_usage();
        let started = cpu_time();
        let result = work();
        let cost = Cost {
            cpu: cpu_time().saturating_sub(started),
            peak_bytes: ALLOCATOR.peak_usage().saturating_sub(before),
            kept_bytes: ALLOCATOR.current_usage().saturating_sub(before),
        };
        (result, cost)
    }

    /// How many bytes the whole process has allocated at this moment.
    pub fn allocated() -> usize {
        ALLOCATOR.current_usage()
    }

    /// The processor time that `serde_json` takes to check this JSON without keeping any of it: the unit in which other
    /// work on the same bytes is measured. The least of three runs.
    pub fn reference(&self, json: &[u8]) -> Duration {
        let run = || self.measure(|| check_json(json)).1.cpu;
        (0..3).map(|_| run()).min().unwrap_or_default()
    }
}

/// How often a pair of works is measured before it is given up that their times are as they should be.
const ROUNDS: usize = 20;

impl Meter {
    /// The least processor times of two pieces of work, which are measured in turn until `holds` accepts them,
    /// 20 times at most. Other work on the machine, its caches and its memory only makes a run longer.
    pub fn least_of_both(
        &self,
        mut one: impl FnMut(),
        mut other: impl FnMut(),
        holds: impl Fn(Duration, Duration) -> bool,
    ) -> (Duration, Duration) {
        let mut least = (Duration::MAX, Duration::MAX);
        for _ in 0..ROUNDS {
            least.0 = least.0.min(self.measure(&mut one).1.cpu);
            least.1 = least.1.min(self.measure(&mut other).1.cpu);
            if holds(least.0, least.1) {
                break;
            }
        }
        least
    }
}

impl Cost {
    /// Peak bytes for each byte of input.
    pub fn peak_per_byte(&self, input: usize) -> f64 {
        self.peak_bytes as f64 / input as f64
    }

    /// Processor time as a multiple of a reference's.
    pub fn cpu_ratio(&self, reference: Duration) -> f64 {
        self.cpu.as_secs_f64() / reference.as_secs_f64()
    }
}

/// Checks JSON without keeping any of it: the work that other work on the same bytes is compared with.
///
/// # Panics
///
/// When it is not JSON.
pub fn check_json(json: impl AsRef<[u8]>) {
    serde_json::from_slice::<IgnoredAny>(json.as_ref()).expect("the reference is JSON");
}

fn cpu_time() -> Duration {
    let now = clock_gettime(ClockId::ProcessCPUTime);
    Duration::new(now.tv_sec.unsigned_abs(), u32::try_from(now.tv_nsec).unwrap_or_default())
}
