//! The configuration, clock and byte quotas that an endpoint's streams, sessions and exchanges share. Counts open exchanges.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use futures::FutureExt;
use futures::future::BoxFuture;
use futures_channel::mpsc::UnboundedSender;

use crate::server::EndpointConfig;
use crate::server::admission::quota::Quota;
use crate::server::endpoint::clock::{Clock, Registration, Ticks, TimedStream};
use crate::server::endpoint::drain::Drain;
use crate::server::nodes::endpoint_nodes::EndpointNodes;

/// The settings, quotas and clock of an endpoint, which its streams, exchanges and sessions share.
#[derive(Debug)]
pub(crate) struct Resources {
    pub(crate) config: EndpointConfig,
    pub(crate) ticks: Ticks,
    pub(crate) clock: Arc<Clock>,
    /// Bytes of requests that are read or unanswered.
    pub(crate) requests: Quota,
    /// Bytes of incomplete bodies that belong to no session.
    pub(crate) sessionless_bodies: Quota,
    pub(crate) nodes: EndpointNodes,
    /// How many exchanges without a session have not ended.
    exchanges: AtomicUsize,
    /// How many futures that serve sessions have not ended.
    session_tasks: AtomicUsize,
    pub(crate) drain: Arc<Drain>,
    /// Futures for the task that serves the endpoint.
    jobs: UnboundedSender<BoxFuture<'static, ()>>,
}

/// Held by the future that serves a session.
pub(crate) struct SessionTaskGuard(Arc<Resources>);

/// Why an exchange does not begin.
pub(crate) enum NoExchange {
    /// The limit, which is this number, is reached.
    TooMany(usize),
    /// The endpoint shuts down.
    Closing,
}

impl Resources {
    pub(crate) fn new(config: EndpointConfig, jobs: UnboundedSender<BoxFuture<'static, ()>>) -> Self {
        // Both limits have room for the longest body.
        let of_caller = (config.sessionless_body_budget / 2).max(config.limits.longest_request());
        let sessionless_bodies = Quota::new(config.sessionless_body_budget.max(of_caller), of_caller);
        let drain = Arc::new(Drain::new());
        Self {
            ticks: Ticks::of(&config),
            requests: config.limits.request_quota(),
            sessionless_bodies,
            nodes: EndpointNodes::new(&config),
            config,
            clock: Arc::new(Clock::new(drain.clone())),
            exchanges: AtomicUsize::new(0),
            session_tasks: AtomicUsize::new(0),
            drain,
            jobs,
        }
    }

    /// Passes a future of a session to the task that serves the endpoint. Once the endpoint has ended it is dropped.
    pub(crate) fn spawn(&self, job: impl Future<Output = ()> + Send + 'static) {
        let _ended = self.jobs.unbounded_send(job.boxed());
    }

    /// The number of ticks so far. It wraps.
    pub(crate) fn now(&self) -> u32 {
        self.clock.now()
    }

    /// Whether new requests are refused.
    pub(crate) fn is_closing(&self) -> bool {
        self.drain.is_closing()
    }

    /// Counts an exchange, unless there are too many or the endpoint closes.
    pub(crate) fn add_exchange(&self) -> Result<(), NoExchange> {
        let before = self.exchanges.fetch_add(1, Ordering::SeqCst);
        // Checked after the exchange is counted: a shutdown that finds no exchange has closed the endpoint before.
        let refusal = if self.is_closing() {
            NoExchange::Closing
        } else if before >= self.config.exchange_limit {
            NoExchange::TooMany(self.config.exchange_limit)
        } else {
            return Ok(());
        };
        self.end_exchange();
        Err(refusal)
    }

    /// How many exchanges without a session have not ended.
    pub(crate) fn exchanges(&self) -> usize {
        self.exchanges.load(Ordering::SeqCst)
    }

    pub(crate) fn end_exchange(&self) {
        self.exchanges.fetch_sub(1, Ordering::SeqCst);
        self.drain.note_end();
    }

    /// Counts the future that serves a session.
    pub(crate) fn add_session_task(self: &Arc<Self>) -> SessionTaskGuard {
        self.session_tasks.fetch_add(1, Ordering::SeqCst);
        SessionTaskGuard(self.clone())
    }

    /// Whether no request runs, no session is served and no stream has a reader.
    pub(crate) fn is_idle(&self) -> bool {
        let none = |count: &AtomicUsize| count.load(Ordering::SeqCst) == 0;
        none(&self.exchanges) && none(&self.session_tasks) && self.clock.is_empty()
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

impl Drop for SessionTaskGuard {
    fn drop(&mut self) {
        self.0.session_tasks.fetch_sub(1, Ordering::SeqCst);
        self.0.drain.note_end();
    }
}
