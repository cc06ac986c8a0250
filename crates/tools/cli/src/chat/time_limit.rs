//! The time that `--timeout` gives the agent.

use std::time::{Duration, Instant};

use agentwire_acp_client::{BoxError, CallError};

/// The time that the agent has for several steps together: to start, to open a session, and in some chats for the turn.
#[derive(Clone, Copy, Debug)]
pub(super) struct TimeLimit {
    whole: Duration,
    /// `None` if the clock cannot represent it.
    until: Option<Instant>,
}

impl TimeLimit {
    /// A limit that starts now.
    pub(super) fn new(whole: Duration) -> Self {
        Self { whole, until: Instant::now().checked_add(whole) }
    }

    /// Restarts the limit now.
    pub(super) fn restart(&mut self) {
        *self = Self::new(self.whole);
    }

    /// The time for all steps together.
    pub(super) fn whole(&self) -> Duration {
        self.whole
    }

    /// The time that is left.
    pub(super) fn left(&self) -> Duration {
        self.until.map_or(self.whole, |until| until.saturating_duration_since(Instant::now()))
    }

    /// The end of the time. `None` if the clock cannot represent it.
    pub(super) fn until(&self) -> Option<Instant> {
        self.until
    }

    /// Extends the limit by the time since `since`, in which the chat did not wait for the agent.
    pub(super) fn exclude(&mut self, since: Instant) {
        self.until = self.until.and_then(|until| until.checked_add(since.elapsed()));
    }

    /// Names the whole limit in the error of a call that had the rest of the time. The person knows only the whole limit.
    pub(super) fn name(&self, error: BoxError) -> BoxError {
        match error.downcast::<CallError>() {
            Ok(CallError::TimedOut { method, .. }) => CallError::timed_out(method, self.whole).into(),
            Ok(other) => other.into(),
            Err(other) => other,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_share_the_time_and_errors_name_the_whole() {
        let whole = Duration::from_secs(60);
        let mut limit = TimeLimit { whole, until: Instant::now().checked_add(Duration::from_secs(10)) };
        let left = limit.left();
        assert!(left <= Duration::from_secs(10) && left > Duration::from_secs(5), "{left:?}");
        limit.exclude(Instant::now().checked_sub(Duration::from_secs(20)).unwrap());
        assert!(limit.left() > Duration::from_secs(20), "{limit:?}");
        let error = limit.name(CallError::timed_out("m", left).into());
        assert_eq!(error.to_string(), CallError::timed_out("m", whole).to_string());
        assert_eq!(limit.name("other".into()).to_string(), "other");
        limit.restart();
        assert!(limit.left() > Duration::from_secs(50));
        assert_eq!(TimeLimit::new(Duration::MAX).left(), Duration::MAX);
        assert_eq!(TimeLimit::new(Duration::ZERO).left(), Duration::ZERO);
    }
}
