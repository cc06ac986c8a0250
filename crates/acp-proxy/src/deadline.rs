use std::sync::{Arc, OnceLock};
use std::task::Waker;
use std::time::{Duration, Instant};

use agentwire_peer::Config;
use futures::task::AtomicWaker;

use crate::relay::HalfClose;

/// "For ever" is some decades, so that it can be added to a time.
const LONGEST: Duration = Duration::from_secs(1 << 30);

/// The time after so long.
pub(crate) fn after(now: Instant, wait: Duration) -> Instant {
    now + wait.min(LONGEST)
}

/// When a chain is closed at the latest: one deadline for all its hops, which begins with the first closing.
///
/// If each hop gave its neighbours the time to drain and to close anew, closing would take longer with every hop.
pub(crate) struct Deadline {
    drain: Duration,
    close: Duration,
    began: OnceLock<Instant>,
    /// One for each hop.
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

    /// When work that still goes on is dropped, and each transport is being closed.
    fn drained(&self) -> Option<Instant> {
        self.began.get().map(|began| after(*began, self.drain))
    }

    /// When each transport counts as closed.
    fn closed(&self) -> Option<Instant> {
        self.drained().map(|drained| after(drained, self.close))
    }
}

/// Where a relay stands in its chain, and the deadline that it shares with the others.
pub(crate) struct Position {
    deadline: Arc<Deadline>,
    hop: usize,
    pub(crate) half_close: HalfClose,
}

impl Position {
    /// The position of a hop, counted from the client.
    pub(crate) fn new(deadline: &Arc<Deadline>, hop: usize, half_close: HalfClose) -> Self {
        Self { deadline: deadline.clone(), hop, half_close }
    }

    /// The position of a relay between a client and an agent, without others.
    pub(crate) fn alone(config: &Config, half_close: HalfClose) -> Self {
        Self::new(&Deadline::new(config, 1), 0, half_close)
    }

    /// Whether the client of this relay is the client of the chain.
    pub(crate) fn is_first(&self) -> bool {
        self.hop == 0
    }

    /// Has the task woken when the deadline begins.
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

    /// The time after so long, but not after the deadline.
    pub(crate) fn within(&self, now: Instant, wait: Duration) -> Instant {
        let at = after(now, wait);
        self.deadline.closed().map_or(at, |closed| closed.min(at))
    }
}
