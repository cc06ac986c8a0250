use std::time::Duration;

use agentwire_jsonrpc::RequestMethod as _;
use agentwire_mcp_client::CallError;
use agentwire_mcp_client::schema::CallToolRequest;
use tokio::time::{Instant, sleep_until};

/// How long a server may keep us waiting in all, if it tells of progress and the limit is no longer than that.
const MOST: Duration = Duration::from_secs(600);

/// For how long the answer to a call is still waited for. Progress starts the wait anew, and what the user takes to answer
/// the server does not count.
pub(super) struct Patience {
    limit: Duration,
    /// When it ends; none if never.
    until: Option<Instant>,
    /// When it ends in any case.
    last: Option<Instant>,
}

impl Patience {
    pub(super) fn new(limit: Duration) -> Self {
        let now = Instant::now();
        Self { limit, until: now.checked_add(limit), last: now.checked_add(limit.max(MOST)) }
    }

    /// The server is at work.
    pub(super) fn renew(&mut self) {
        self.until = Instant::now().checked_add(self.limit).min(self.last);
    }

    /// Fails when it is over in any case: a server that never stops to report leaves no time to wait for that.
    pub(super) fn check(&self) -> Result<(), CallError> {
        match self.last {
            Some(last) if last <= Instant::now() => Err(self.late()),
            _ => Ok(()),
        }
    }

    /// The server has waited for us since then.
    pub(super) fn forgive(&mut self, since: Instant) {
        let waited = since.elapsed();
        let later = |end: Option<Instant>| end.and_then(|end| end.checked_add(waited));
        (self.until, self.last) = (later(self.until), later(self.last));
    }

    /// Completes when it is over.
    pub(super) async fn over(&self) -> CallError {
        match self.until {
            Some(until) => sleep_until(until).await,
            None => std::future::pending().await,
        }
        self.late()
    }

    fn late(&self) -> CallError {
        CallError::timed_out(CallToolRequest::NAME, self.limit)
    }
}
