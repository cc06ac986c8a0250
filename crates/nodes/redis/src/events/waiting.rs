//! Callers that wait until an event is stored, and their time-outs.

use std::collections::VecDeque;
use std::sync::{Arc, Weak};
use std::time::Duration;

use agentwire_store::StoreError;
use agentwire_sync::Mutex;
use tokio::sync::{Notify, oneshot};
use tokio::time::{Instant, sleep_until};

use crate::error::TimedOut;

type Stored = Result<(), StoreError>;

/// The waiting callers, in the order of their deadlines: all have the same time-out, so one timer is enough. A caller that times out
/// gets the error that the engine is away.
#[derive(Debug)]
pub(crate) struct Waiting {
    timeout: Duration,
    queue: Mutex<Queue>,
    /// Wakes the timer when the queue is no longer empty, and when this is dropped.
    arrived: Arc<Notify>,
}

#[derive(Debug, Default)]
struct Queue {
    /// The number of the first caller in the queue.
    first: u64,
    /// `None` for a caller that has its result.
    senders: VecDeque<Option<(Instant, oneshot::Sender<Stored>)>>,
}

/// Gives one waiting caller its result.
#[derive(Debug)]
pub(crate) struct Waiter {
    waiting: Arc<Waiting>,
    number: u64,
}

impl Waiting {
    /// Starts the timer, which ends when this is dropped.
    pub(crate) fn new(timeout: Duration) -> Arc<Self> {
        let arrived = Arc::<Notify>::default();
        let this = Arc::new(Self { timeout, queue: Mutex::default(), arrived: arrived.clone() });
        tokio::spawn(run(Arc::downgrade(&this), arrived));
        this
    }

    /// Adds a caller that waits from `now` on.
    pub(crate) fn add(self: &Arc<Self>, now: Instant) -> (Waiter, oneshot::Receiver<Stored>) {
        let (sender, receiver) = oneshot::channel();
        let mut queue = self.queue.lock();
        let number = queue.first + queue.senders.len() as u64;
        queue.senders.push_back(Some((now + self.timeout, sender)));
        let is_first = queue.senders.len() == 1;
        drop(queue);
        if is_first {
            self.arrived.notify_one();
        }
        (Waiter { waiting: self.clone(), number }, receiver)
    }

    /// Fails the callers whose deadline has passed. Returns the next deadline.
    fn expire(&self, now: Instant) -> Option<Instant> {
        loop {
            let mut queue = self.queue.lock();
            let (deadline, _) = queue.next()?;
            if *deadline > now {
                return Some(*deadline);
            }
            let expired = queue.take(0);
            drop(queue);
            if let Some(sender) = expired {
                _ = sender.send(Err(StoreError::away(TimedOut(self.timeout.as_millis()))));
            }
        }
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        self.arrived.notify_one();
    }
}

impl Queue {
    /// The first caller without a result.
    fn next(&mut self) -> Option<&(Instant, oneshot::Sender<Stored>)> {
        while let Some(None) = self.senders.front() {
            self.senders.pop_front();
            self.first += 1;
        }
        self.senders.front()?.as_ref()
    }

    fn take(&mut self, index: usize) -> Option<oneshot::Sender<Stored>> {
        let (_, sender) = self.senders.get_mut(index)?.take()?;
        self.next();
        Some(sender)
    }
}

impl Waiter {
    /// Gives the caller its result, unless it has timed out.
    pub(crate) fn complete(self, result: Stored) {
        if let Some(sender) = self.take() {
            _ = sender.send(result);
        }
    }

    fn take(&self) -> Option<oneshot::Sender<Stored>> {
        let mut queue = self.waiting.queue.lock();
        let index = usize::try_from(self.number.checked_sub(queue.first)?).ok()?;
        queue.take(index)
    }
}

/// Ends the wait of a caller that will not get a result.
impl Drop for Waiter {
    fn drop(&mut self) {
        drop(self.take());
    }
}

async fn run(waiting: Weak<Waiting>, arrived: Arc<Notify>) {
    while let Some(waiting) = waiting.upgrade() {
        let next = waiting.expire(Instant::now());
        drop(waiting);
        match next {
            Some(deadline) => sleep_until(deadline).await,
            None => arrived.notified().await,
        }
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;

    use super::*;

    const TIMEOUT: Duration = Duration::from_secs(1);

    #[tokio::test(start_paused = true)]
    async fn callers_get_their_result_or_time_out() {
        let waiting = Waiting::new(TIMEOUT);
        let started = Instant::now();
        let mut others = Vec::new();
        for round in 1..=3 {
            let (early, first) = waiting.add(Instant::now());
            let (late, second) = waiting.add(Instant::now());
            tokio::time::sleep(TIMEOUT / 4).await;
            others.push(waiting.add(Instant::now()));
            early.complete(Ok(()));
            assert!(first.await.unwrap().is_ok());
            assert!(matches!(second.await.unwrap(), Err(StoreError::Away(_))));
            assert_eq!(started.elapsed().as_millis(), round * TIMEOUT.as_millis());
            late.complete(Ok(()));
        }
        for (waiter, receiver) in others {
            assert!(receiver.await.unwrap().is_err());
            waiter.complete(Ok(()));
        }
        let queue = waiting.queue.lock();
        assert_eq!((queue.first, queue.senders.len()), (9, 0));
    }

    #[tokio::test(start_paused = true)]
    async fn dropping_a_waiter_ends_its_callers_wait() {
        let waiting = Waiting::new(TIMEOUT);
        let (waiter, receiver) = waiting.add(Instant::now());
        let (_other, late) = waiting.add(Instant::now());
        drop((waiting, waiter));
        assert!(receiver.now_or_never().is_some_and(|result| result.is_err()));
        assert!(late.now_or_never().is_none());
    }
}
