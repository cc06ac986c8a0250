//! Warnings for the operator about requests to an endpoint.

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use agentwire_jsonrpc::{Printable, WithCauses};
use agentwire_store::StoreError;
use agentwire_sync::Mutex;

use crate::server::Principal;

/// Warnings for the operator about requests to an endpoint.
/// [`EndpointConfig::on_warning`](crate::server::EndpointConfig::on_warning) sets the receiver.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum EndpointWarning {
    /// A request named a session of another principal, so the session's id may be stolen. The request got 404.
    ForeignSession {
        /// The principal of the request.
        principal: Option<Principal>,
        /// How many such requests there were since the last such warning, beside this one.
        others: u64,
    },
    /// The store that the nodes of the server share fails, so requests get 503. Given once for each of up to 8 reasons,
    /// and again after a minute without a failure.
    Store {
        /// The error of the store.
        reason: String,
    },
    /// The id of a session has no room for the params of its `initialize`, so only this node knows the session, although the endpoint has
    /// [sealed sessions](crate::server::EndpointConfig::sealed_sessions).
    UnsealedSession {
        /// The bytes of the params.
        params: usize,
        /// How many such sessions there were since the last such warning, beside this one.
        others: u64,
    },
}

impl fmt::Display for EndpointWarning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ForeignSession { principal, others } => {
                match principal {
                    Some(principal) => write!(f, "a request of {:?}", principal.as_str())?,
                    None => write!(f, "a request without a principal")?,
                }
                write!(f, " named a session of another principal, whose id may be stolen")?;
                if *others > 0 { write!(f, "; so did {others} others") } else { Ok(()) }
            }
            Self::Store { reason } => {
                write!(f, "requests get 503, because the shared store fails: {}", Printable::one_line(reason))
            }
            Self::UnsealedSession { params, others } => {
                write!(
                    f,
                    "an initialize has {params} bytes of params, too many for the id of its session, so no other node knows it"
                )?;
                if *others > 0 { write!(f, "; so it is with {others} others") } else { Ok(()) }
            }
        }
    }
}

/// At most one warning of each kind is given in this time.
const INTERVAL: Duration = Duration::from_secs(1);

/// A store that has not failed for this time has recovered.
const RECOVERED: Duration = Duration::from_secs(60);

/// The most reasons that are reported of one outage.
const REASONS: usize = 8;

/// The receiver of warnings, and the warnings that it did not get.
#[derive(Clone, Default)]
pub(crate) struct Warnings {
    receive: Option<Arc<dyn Fn(EndpointWarning) + Send + Sync>>,
    foreign: Arc<Mutex<WarningHistory>>,
    unsealed: Arc<Mutex<WarningHistory>>,
    store: Arc<Mutex<StoreFailure>>,
}

/// The last failure of the store, and the reasons that were given since it last worked.
#[derive(Default)]
struct StoreFailure {
    last: Option<Instant>,
    reasons: Vec<String>,
}

#[derive(Default)]
struct WarningHistory {
    /// When the last warning was given.
    last: Option<Instant>,
    /// How many were not given since.
    others: u64,
}

impl Warnings {
    pub(crate) fn new(receive: impl Fn(EndpointWarning) + Send + Sync + 'static) -> Self {
        Self { receive: Some(Arc::new(receive)), ..Self::default() }
    }

    /// Warns of a request that names a session of another principal.
    #[cold]
    pub(crate) fn foreign_session(&self, principal: Option<&Principal>) {
        let principal = principal.cloned();
        self.warn(&self.foreign, |others| EndpointWarning::ForeignSession { principal, others });
    }

    /// Warns of a session whose id has no room for the params of its `initialize`.
    #[cold]
    pub(crate) fn unsealed_session(&self, params: usize) {
        self.warn(&self.unsealed, |others| EndpointWarning::UnsealedSession { params, others });
    }

    /// Warns of a store that fails.
    #[cold]
    pub(crate) fn store(&self, error: &StoreError) {
        let Some(receive) = &self.receive else { return };
        let reason = WithCauses::new(error).to_string();
        if self.store.lock().is_news(&reason, Instant::now()) {
            receive(EndpointWarning::Store { reason });
        }
    }

    fn warn(&self, history: &Mutex<WarningHistory>, warning: impl FnOnce(u64) -> EndpointWarning) {
        let Some(receive) = &self.receive else { return };
        // The lock is not held while the receiver runs.
        let others = history.lock().next();
        if let Some(others) = others {
            receive(warning(others));
        }
    }
}

impl StoreFailure {
    /// Notes a failure. Returns whether to report it.
    fn is_news(&mut self, reason: &str, now: Instant) -> bool {
        if self.last.replace(now).is_some_and(|last| now.duration_since(last) >= RECOVERED) {
            self.reasons.clear();
        }
        let is_news = self.reasons.len() < REASONS && !self.reasons.iter().any(|known| known == reason);
        if is_news {
            self.reasons.push(reason.to_owned());
        }
        is_news
    }
}

impl WarningHistory {
    /// How many warnings were not given before one that is given now. `None` if it is not given.
    fn next(&mut self) -> Option<u64> {
        let now = Instant::now();
        if self.last.is_some_and(|last| now.duration_since(last) < INTERVAL) {
            self.others += 1;
            return None;
        }
        self.last = Some(now);
        Some(std::mem::take(&mut self.others))
    }
}

impl fmt::Debug for Warnings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Warnings").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn store_failure_is_reported_once_for_each_reason() {
        let (mut failure, start) = (StoreFailure::default(), Instant::now());
        let mut at = |seconds, reason: &str| failure.is_news(reason, start + Duration::from_secs(seconds));
        assert!(at(0, "full"));
        assert!((1..300).step_by(59).all(|seconds| !at(seconds, "full")), "it goes on");
        // The trials of a circuit alternate.
        assert!(at(300, "away") && !at(301, "away") && !at(302, "full"));
        assert!(at(302 + 60, "away"), "it has recovered in the meantime");
        let reported = (0..100).filter(|number| at(362, &number.to_string())).count();
        assert_eq!(reported, REASONS - 1);
    }
}
