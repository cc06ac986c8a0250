//! Callers that wait until an event is stored. After the time-out each gets the error that the engine is away.

use std::collections::VecDeque;
use std::sync::{Arc, Weak};
use std::time::Duration;

use agentwire_store::StoreError;
use agentwire_sync::Mutex;
use tokio::sync::{Notify, oneshot};
use tokio::time::{Instant, sleep_until};

use crate::error::TimedOut;

type Stored = Result<(), StoreError>;

/// All that wait, and those of the last time-out that have been answered. One timer is enough for them: each waits as long as any other.
#[derive(Debug)]
pub(crate) struct Waiting {
    timeout: Duration,
    queue: Mutex<Queue>,
    /// Wakes the timer when the queue is no longer empty.
    arrived: Arc<Notify>,
}

#[derive(Debug, Default)]
struct Queue {
    /// The number of the first.
    first: u64,
    /// `None` for one that has been answered.
    senders: VecDeque<Option<(Instant, oneshot::Sender<Stored>)>>,
}

/// One that waits.
#[derive(Debug)]
pub(crate) struct Waiter {
    waiting: Arc<Waiting>,
    number: u64,
}

impl Waiting {
    /// Starts the timer, which ends with this.
    pub(crate) fn new(timeout: Duration) -> Arc<Self> {
        let arrived = Arc::<Notify>::default();
        let this = Arc::new(Self { timeout, queue: Mutex::default(), arrived: arrived.clone() });
        tokio::spawn(run(Arc::downgrade(&this), arrived));
        this
    }

    /// One more waits from `now`.
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

    /// Answers those whose time has passed. Returns when that of the next passes.
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
    /// The first that has not been answered.
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
    /// Answers it, unless its time has passed.
    pub(crate) fn tell(self, result: Stored) {
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

/// It waits no longer: nothing will tell it.
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
    async fn each_is_told_in_time() {
        let waiting = Waiting::new(TIMEOUT);
        let started = Instant::now();
        let mut others = Vec::new();
        for round in 1..=3 {
            let (told, first) = waiting.add(Instant::now());
            let (late, second) = waiting.add(Instant::now());
            tokio::time::sleep(TIMEOUT / 4).await;
            others.push(waiting.add(Instant::now()));
            told.tell(Ok(()));
            assert!(first.await.unwrap().is_ok());
            assert!(matches!(second.await.unwrap(), Err(StoreError::Away(_))));
            assert_eq!(started.elapsed().as_millis(), round * TIMEOUT.as_millis());
            late.tell(Ok(()));
        }
        for (waiter, receiver) in others {
            assert!(receiver.await.unwrap().is_err());
            waiter.tell(Ok(()));
        }
        let queue = waiting.queue.lock();
        assert_eq!((queue.first, queue.senders.len()), (9, 0));
    }

    #[tokio::test(start_paused = true)]
    async fn one_that_nothing_will_tell_waits_no_longer() {
        let waiting = Waiting::new(TIMEOUT);
        let (waiter, receiver) = waiting.add(Instant::now());
        let (_other, late) = waiting.add(Instant::now());
        drop((waiting, waiter));
        assert!(receiver.now_or_never().is_some_and(|told| told.is_err()));
        assert!(late.now_or_never().is_none());
    }
}
