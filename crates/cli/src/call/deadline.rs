use std::time::Duration;

use agentwire_jsonrpc::RequestMethod as _;
use agentwire_mcp_client::CallError;
use agentwire_mcp_client::schema::CallToolRequest;
use tokio::time::{Instant, sleep_until};

/// How long a call may last with reports of progress, if the limit is not longer: 10 minutes.
const MOST: Duration = Duration::from_secs(600);

/// When to give up waiting for the answer to a call. Progress moves it, and the time in which the user answers the server
/// does not count.
pub(super) struct Deadline {
    limit: Duration,
    /// When it ends; none if never.
    until: Option<Instant>,
    /// When it ends in any case.
    last: Option<Instant>,
}

impl Deadline {
    pub(super) fn new(limit: Duration) -> Self {
        let now = Instant::now();
        Self { limit, until: now.checked_add(limit), last: now.checked_add(limit.max(MOST)) }
    }

    /// Moves the deadline, because the server reports progress.
    pub(super) fn renew(&mut self) {
        self.until = Instant::now().checked_add(self.limit).min(self.last);
    }

    /// Fails after the last deadline. Frequent reports of progress may leave no time to poll [`Self::over`].
    pub(super) fn check(&self) -> Result<(), CallError> {
        match self.last {
            Some(last) if last <= Instant::now() => Err(self.late()),
            _ => Ok(()),
        }
    }

    /// Moves the deadline by the time since `since`, in which the server waited for us.
    pub(super) fn forgive(&mut self, since: Instant) {
        let waited = since.elapsed();
        let later = |end: Option<Instant>| end.and_then(|end| end.checked_add(waited));
        (self.until, self.last) = (later(self.until), later(self.last));
    }

    /// Completes at the deadline.
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
