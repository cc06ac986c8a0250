//! What an operator should know of the requests to an endpoint.

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use agentwire_sync::Mutex;

use crate::server::Principal;

/// What an operator should know of the requests to an endpoint.
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
}

impl fmt::Display for EndpointWarning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self::ForeignSession { principal, others } = self;
        match principal {
            Some(principal) => write!(f, "a request of {:?}", principal.as_str())?,
            None => write!(f, "a request of no principal")?,
        }
        write!(f, " named a session of another principal, whose id may be stolen")?;
        if *others > 0 { write!(f, "; so did {others} others") } else { Ok(()) }
    }
}

/// At most one warning is given in so long.
const INTERVAL: Duration = Duration::from_secs(1);

/// The receiver of warnings, and what it was not told.
#[derive(Clone, Default)]
pub(crate) struct Warnings {
    receive: Option<Arc<dyn Fn(EndpointWarning) + Send + Sync>>,
    history: Arc<Mutex<WarningHistory>>,
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
        let Some(receive) = &self.receive else { return };
        let (mut history, now) = (self.history.lock(), Instant::now());
        if history.last.is_some_and(|last| now.duration_since(last) < INTERVAL) {
            history.others += 1;
            return;
        }
        history.last = Some(now);
        let others = std::mem::take(&mut history.others);
        drop(history);
        receive(EndpointWarning::ForeignSession { principal: principal.cloned(), others });
    }
}

impl fmt::Debug for Warnings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Warnings").finish_non_exhaustive()
    }
}
