//! The deadline for closing a chain, which all its hops share.

use std::sync::{Arc, OnceLock};
use std::task::Waker;
use std::time::{Duration, Instant};

use agentwire_peer::Config;
use futures_util::task::AtomicWaker;

/// The longest wait, some decades, so that it can be added to a time.
const LONGEST: Duration = Duration::from_secs(1 << 30);

/// Returns the time after `wait`.
pub(crate) fn after(now: Instant, wait: Duration) -> Instant {
    now + wait.min(LONGEST)
}

/// The deadline for closing a chain: one for all its hops, which begins with the first closing.
///
/// If each hop had the whole time to drain and to close, closing would take longer with every hop.
pub(crate) struct Deadline {
    drain: Duration,
    close: Duration,
    began: OnceLock<Instant>,
    /// The waker of each hop.
    wakers: Vec<AtomicWaker>,
}

impl Deadline {
    pub(crate) fn new(config: &Config, hops: usize) -> Arc<Self> {
        let wakers = (0..hops).map(|_| AtomicWaker::new()).collect();
        Arc::new(Self { drain: config.drain, close: config.close, began: OnceLock::new(), wakers })
    }

    /// Starts the deadline, unless it runs already.
    fn begin(&self, now: Instant) {
        if self.began.set(now).is_ok() {
            self.wakers.iter().for_each(AtomicWaker::wake);
        }
    }

    /// Returns the time at which unfinished hooks are dropped and the transports begin to close.
    fn drained(&self) -> Option<Instant> {
        self.began.get().map(|began| after(*began, self.drain))
    }

    /// Returns the time at which each transport counts as closed.
    fn closed(&self) -> Option<Instant> {
        self.drained().map(|drained| after(drained, self.close))
    }
}

/// The ability of an agent to answer after its input is closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HalfClose {
    Yes,
    /// It is closed only after it has answered.
    No,
}

/// The closing of one hop of a chain: the deadline that all hops share, and how this hop's agent is closed.
pub(crate) struct HopClosing {
    deadline: Arc<Deadline>,
    hop: usize,
    pub(crate) half_close: HalfClose,
}

impl HopClosing {
    /// Makes the closing of a hop. The hop at the client is number 0.
    pub(crate) fn new(deadline: &Arc<Deadline>, hop: usize, half_close: HalfClose) -> Self {
        Self { deadline: deadline.clone(), hop, half_close }
    }

    /// Makes the closing of the only relay between a client and an agent.
    pub(crate) fn alone(config: &Config, half_close: HalfClose) -> Self {
        Self::new(&Deadline::new(config, 1), 0, half_close)
    }

    /// Returns whether the client of this relay is the client of the chain.
    pub(crate) fn is_first(&self) -> bool {
        self.hop == 0
    }

    /// Registers the waker to wake when the deadline begins.
    pub(crate) fn register(&self, waker: &Waker) {
        if self.deadline.began.get().is_none() {
            self.deadline.wakers[self.hop].register(waker);
        }
    }

    pub(crate) fn begin(&self, now: Instant) {
        self.deadline.begin(now);
    }

    pub(crate) fn drained(&self) -> Option<Instant> {
        self.deadline.drained()
    }

    /// Returns the time after `wait`, or the deadline if that is earlier.
    pub(crate) fn within(&self, now: Instant, wait: Duration) -> Instant {
        let at = after(now, wait);
        self.deadline.closed().map_or(at, |closed| closed.min(at))
    }
}
