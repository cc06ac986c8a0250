//! Checks the readiness of the server, for its page and its metric.

use agentwire_jsonrpc::WithCauses;
use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use agentwire_transport_http::server::{Endpoint, EndpointCounts};
use tokio::time::{MissedTickBehavior, interval};

/// The timeout of a check of readiness: 2 s.
const CHECK_LIMIT: Duration = Duration::from_secs(2);

/// The interval between updates of the metric: 5 s. Prometheus and collectors read it less often.
const CHECK_INTERVAL: Duration = Duration::from_secs(5);

/// The readiness of a server: its endpoint answers, and it is not about to end. Clones share it.
#[derive(Clone)]
pub(super) struct Readiness(Arc<ReadinessInner>);

struct ReadinessInner {
    endpoint: Endpoint,
    is_ending: AtomicBool,
    /// Whether the last check succeeded.
    answers: AtomicBool,
}

impl Readiness {
    pub(super) fn new(endpoint: Endpoint) -> Self {
        Self(Arc::new(ReadinessInner {
            endpoint,
            is_ending: AtomicBool::new(false),
            answers: AtomicBool::new(false),
        }))
    }

    /// Marks the server as ending, and so not ready.
    pub(super) fn end(&self) {
        self.0.is_ending.store(true, Ordering::SeqCst);
    }

    fn is_ending(&self) -> bool {
        self.0.is_ending.load(Ordering::SeqCst)
    }

    /// Checks the endpoint. The error is the reason for not being ready.
    pub(super) async fn check(&self) -> Result<(), String> {
        if self.is_ending() {
            return Err("the server is about to end".into());
        }
        let checked = self.0.endpoint.check(CHECK_LIMIT).await;
        self.0.answers.store(checked.is_ok(), Ordering::Relaxed);
        checked.map_err(|why| WithCauses::new(&why).to_string())
    }

    /// Repeats the check for the metric, which is read by functions that cannot await.
    pub(super) async fn keep_checking(&self) -> Infallible {
        let mut ticks = interval(CHECK_INTERVAL);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            ticks.tick().await;
            // The metric reports it.
            let _checked = self.check().await;
        }
    }

    /// The counts of the endpoint's open parts, and its readiness, for metrics.
    pub(super) fn counts(&self) -> (EndpointCounts, bool) {
        (self.0.endpoint.counts(), self.0.answers.load(Ordering::Relaxed) && !self.is_ending())
    }
}
