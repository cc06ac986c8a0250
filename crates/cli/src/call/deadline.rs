//! The deadline of a tool call.

use std::time::Duration;

use agentwire_jsonrpc::RequestMethod as _;
use agentwire_mcp_client::CallError;
use agentwire_mcp_client::schema::CallToolRequest;
use tokio::time::{Instant, sleep_until};

/// How long a call with reports of progress may last, if the limit is not longer: 10 minutes.
const MAX_DURATION: Duration = Duration::from_secs(600);

/// When waiting for the answer to a call ends. Progress moves the deadline. The time in which the user answers a question
/// does not count.
pub(super) struct Deadline {
    limit: Duration,
    /// The deadline without further progress. None if the clock cannot represent it.
    until: Option<Instant>,
    /// The deadline that progress does not move.
    last: Option<Instant>,
}

impl Deadline {
    /// The limit counts from `since` on, so that connecting is a part of it.
    pub(super) fn new(limit: Duration, since: Instant) -> Self {
        Self { limit, until: since.checked_add(limit), last: since.checked_add(limit.max(MAX_DURATION)) }
    }

    /// Moves the deadline, because the server reports progress.
    pub(super) fn renew(&mut self) {
        self.until = Instant::now().checked_add(self.limit).min(self.last);
    }

    /// Fails after the last deadline. Frequent reports of progress may leave no time to poll [`Self::expired`].
    pub(super) fn check(&self) -> Result<(), CallError> {
        match self.last {
            Some(last) if last <= Instant::now() => Err(self.timed_out()),
            _ => Ok(()),
        }
    }

    /// Moves the deadline by the time since `since`, in which the server waited for the user.
    pub(super) fn exclude(&mut self, since: Instant) {
        let waited = since.elapsed();
        let later = |end: Option<Instant>| end.and_then(|end| end.checked_add(waited));
        (self.until, self.last) = (later(self.until), later(self.last));
    }

    /// Completes at the deadline.
    pub(super) async fn expired(&self) -> CallError {
        match self.until {
            Some(until) => sleep_until(until).await,
            None => std::future::pending().await,
        }
        self.timed_out()
    }

    fn timed_out(&self) -> CallError {
        CallError::timed_out(CallToolRequest::NAME, self.limit)
    }
}
