//! The deadline of a command's requests to a server, without the time of a person.

use std::sync::Arc;
use std::time::Duration;

use agentwire_sync::Mutex;
use tokio::time::{Instant, sleep};

use crate::failure::Overdue;

/// The longest work with reports of progress, unless the limit is longer: 10 minutes.
const MAX_DURATION: Duration = Duration::from_secs(600);

/// The shortest time between two checks of the deadline, which moves while a person is busy.
const STEP: Duration = Duration::from_millis(20);

/// The time in which the server waits for a person: for an answer, or for a login. Clones share it.
#[derive(Clone, Debug, Default)]
pub(crate) struct PersonTime(Arc<Mutex<Waits>>);

#[derive(Debug, Default)]
struct Waits {
    /// The time of the waits that have ended.
    ended: Duration,
    /// How many waits are open, and the time at which the first of them began.
    open: usize,
    since: Option<Instant>,
}

impl PersonTime {
    /// Begins a wait, which ends when the result is dropped.
    pub(crate) fn begin(&self) -> PersonWait {
        let mut waits = self.0.lock();
        waits.open += 1;
        waits.since.get_or_insert_with(Instant::now);
        PersonWait(self.clone())
    }

    fn total(&self) -> Duration {
        let waits = self.0.lock();
        waits.ended + waits.since.map_or(Duration::ZERO, |since| since.elapsed())
    }
}

/// A wait for a person.
#[derive(Debug)]
pub(crate) struct PersonWait(PersonTime);

impl Drop for PersonWait {
    fn drop(&mut self) {
        let mut waits = self.0.0.lock();
        waits.open -= 1;
        if waits.open == 0
            && let Some(since) = waits.since.take()
        {
            waits.ended += since.elapsed();
        }
    }
}

/// The time at which waiting for a server ends. Progress moves it. The time in which the server waits for a person does not
/// count.
#[derive(Clone)]
pub(crate) struct Deadline {
    limit: Duration,
    since: Instant,
    person: PersonTime,
    /// The person's time before `since`.
    before: Duration,
    /// The deadline without further progress, and the last one, which progress does not move. Both count from `since`.
    until: Duration,
    last: Duration,
}

impl Deadline {
    /// A deadline with a limit that starts now, so that connecting counts too.
    pub(crate) fn new(limit: Duration, person: PersonTime) -> Self {
        let before = person.total();
        Self { limit, since: Instant::now(), person, before, until: limit, last: limit.max(MAX_DURATION) }
    }

    /// Moves the deadline after a report of progress.
    pub(crate) fn renew(&mut self) {
        self.until = self.elapsed().saturating_add(self.limit).min(self.last);
    }

    /// Fails after the last deadline. Frequent reports of progress may leave no time to poll [`Self::expired`].
    pub(crate) fn check(&self) -> Result<(), Overdue> {
        if self.elapsed() >= self.last { Err(Overdue(self.limit)) } else { Ok(()) }
    }

    /// Completes at the deadline.
    pub(crate) async fn expired(&self) -> Overdue {
        loop {
            match self.until.saturating_sub(self.elapsed()) {
                Duration::ZERO => return Overdue(self.limit),
                left => sleep(left.max(STEP)).await,
            }
        }
    }

    /// The time since `since` without the time of a person.
    fn elapsed(&self) -> Duration {
        self.since.elapsed().saturating_sub(self.person.total().saturating_sub(self.before))
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;

    use super::*;

    #[tokio::test]
    async fn the_time_of_a_person_does_not_count() {
        let seconds = Duration::from_secs;
        let ago = |time: u64| Instant::now().checked_sub(seconds(time)).unwrap();
        let person = PersonTime::default();
        // A login before, which is not part of the time since then.
        person.0.lock().ended = seconds(100);
        let mut deadline = Deadline { since: ago(20), ..Deadline::new(seconds(10), person.clone()) };
        let is_over = |deadline: &Deadline| deadline.expired().now_or_never().is_some();
        assert!(is_over(&deadline));
        let (question, login) = (person.begin(), person.begin());
        person.0.lock().since = Some(ago(15));
        assert!(!is_over(&deadline), "a person is busy");
        drop(question);
        assert!(!is_over(&deadline), "a person is still busy");
        drop(login);
        assert!(!is_over(&deadline), "what it took does not count");
        deadline.since = ago(28);
        assert!(is_over(&deadline));
        deadline.renew();
        assert!(!is_over(&deadline), "progress moves it");
        deadline.since = ago(16 + MAX_DURATION.as_secs());
        deadline.renew();
        assert!(is_over(&deadline) && deadline.check().is_err(), "but not for ever");
    }
}
