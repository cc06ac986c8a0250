//! The configuration, clock and byte quotas that an endpoint's streams, sessions and exchanges share. Counts open exchanges.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use crate::server::EndpointConfig;
use crate::server::clock::{Clock, Registration, Ticks, TimedStream};
use crate::server::quota::Quota;

/// The settings, budgets and time of an endpoint: what its streams, exchanges and sessions share.
#[derive(Debug)]
pub(crate) struct Resources {
    pub(crate) config: EndpointConfig,
    pub(crate) ticks: Ticks,
    pub(crate) clock: Arc<Clock>,
    /// Bytes of requests that are read or unanswered.
    pub(crate) requests: Quota,
    /// Those of their bodies that are still being read and belong to no session.
    pub(crate) opening: Quota,
    /// How many exchanges without a session have not ended.
    exchanges: AtomicUsize,
    closing: AtomicBool,
}

/// A limit is reached; its value.
pub(crate) struct TooMany(pub(crate) usize);

impl Resources {
    pub(crate) fn new(config: EndpointConfig) -> Self {
        // Both limits have room for the longest body.
        let opening_of_caller = (config.opening_budget / 2).max(config.limits.longest_request());
        let opening = Quota::new(config.opening_budget.max(opening_of_caller), opening_of_caller);
        Self {
            ticks: Ticks::of(&config),
            requests: config.limits.request_quota(),
            opening,
            config,
            clock: Arc::default(),
            exchanges: AtomicUsize::new(0),
            closing: AtomicBool::new(false),
        }
    }

    /// The number of ticks so far. It wraps.
    pub(crate) fn now(&self) -> u32 {
        self.clock.now()
    }

    /// Whether new requests are refused.
    pub(crate) fn is_closing(&self) -> bool {
        self.closing.load(Ordering::Relaxed)
    }

    /// Makes the endpoint refuse new requests.
    pub(crate) fn set_closing(&self) {
        self.closing.store(true, Ordering::Relaxed);
    }

    /// Counts an exchange, unless there are too many.
    pub(crate) fn add_exchange(&self) -> Result<(), TooMany> {
        if self.exchanges.fetch_add(1, Ordering::Relaxed) >= self.config.exchange_limit {
            self.end_exchange();
            return Err(TooMany(self.config.exchange_limit));
        }
        Ok(())
    }

    pub(crate) fn end_exchange(&self) {
        self.exchanges.fetch_sub(1, Ordering::Relaxed);
    }

    /// Starts the timers of a stream that has a reader.
    pub(crate) fn register_stream<S: TimedStream + 'static>(&self, stream: &Arc<S>) -> Registration {
        let registration = self.clock.register_stream(stream.clone());
        if self.is_closing() {
            stream.begin_shutdown();
        }
        self.clock.start();
        registration
    }
}
