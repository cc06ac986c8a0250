//! Remembers recently ended sessions, and deletes their records again after a failover: a store may lose its last writes, and
//! deletions with them.

use std::collections::{HashSet, VecDeque};
use std::time::{Duration, Instant};

use agentwire_sync::Monitor;
use futures_util::StreamExt;
use futures_util::stream;

use crate::{SessionId, StoreError};

/// How long the end of a session is remembered: longer than a failover takes.
const REMEMBERED: Duration = Duration::from_secs(10 * 60);

/// How many ends are remembered, at most. Each takes about 64 bytes.
const LIMIT: usize = 65_536;

/// The most records that are deleted at the same time.
const AT_ONCE: usize = 16;

/// The number of pauses between two rounds of deletion. A client can make a node miss messages, and must not cause many rounds by
/// that.
const PAUSES: u32 = 10;

/// The recently ended sessions.
#[derive(Debug, Default)]
pub(crate) struct EndedSessions {
    ids: HashSet<SessionId>,
    /// The same ids in the order in which the sessions ended.
    order: VecDeque<(Instant, SessionId)>,
    /// The number of times that the store may have lost the deletions.
    doubts: u64,
    /// The value of `doubts` after which the records were last deleted again.
    settled: u64,
}

impl EndedSessions {
    /// Remembers a session that has ended now.
    pub(crate) fn add(&mut self, session: SessionId, now: Instant) {
        self.remove_old(now);
        if self.ids.insert(session) {
            self.order.push_back((now, session));
        }
    }

    /// Returns whether a session has ended recently.
    pub(crate) fn contains(&mut self, session: SessionId, now: Instant) -> bool {
        self.remove_old(now);
        self.ids.contains(&session)
    }

    /// Notes that the store may have lost the deletions.
    pub(crate) fn doubt(&mut self) {
        self.doubts += 1;
    }

    /// The sessions whose deletion the store may have lost, the newest first, and the value of `doubts`. `None` if their records
    /// were deleted again.
    fn doubted(&mut self, now: Instant) -> Option<(u64, Vec<SessionId>)> {
        if self.settled == self.doubts {
            return None;
        }
        self.remove_old(now);
        Some((self.doubts, self.order.iter().rev().map(|(_, session)| *session).collect()))
    }

    /// Forgets the sessions that ended too long ago, and the oldest ones at the limit.
    fn remove_old(&mut self, now: Instant) {
        while let Some((at, session)) = self.order.front()
            && (now.duration_since(*at) >= REMEMBERED || self.order.len() >= LIMIT)
        {
            self.ids.remove(session);
            self.order.pop_front();
        }
        if self.order.is_empty() {
            (self.ids, self.order) = Default::default();
        }
    }
}

/// Calls `delete` for the recently ended sessions whenever the store may have lost their deletion.
pub(crate) async fn delete_again<D, P>(
    ended: &Monitor<EndedSessions>,
    delete: impl Fn(SessionId) -> D,
    pause: &impl Fn() -> P,
) where
    D: Future<Output = Result<(), StoreError>>,
    P: Future<Output = ()>,
{
    let delete = async |session| delete(session).await.is_err().then_some(session);
    loop {
        let (doubts, mut sessions) = ended.wait_until(|ended| ended.doubted(Instant::now())).await;
        // A new doubt concerns all of them, so it begins a new round.
        while !sessions.is_empty() && ended.with(|ended| ended.doubts == doubts) {
            let failed = stream::iter(sessions).map(&delete).buffer_unordered(AT_ONCE);
            sessions = failed.filter_map(std::future::ready).collect().await;
            if !sessions.is_empty() {
                pause().await;
                ended.with(|ended| sessions.retain(|session| ended.contains(*session, Instant::now())));
            }
        }
        if sessions.is_empty() {
            ended.with(|ended| ended.settled = doubts);
        }
        for _ in 0..PAUSES {
            pause().await;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use futures::FutureExt;
    use futures::executor::block_on;

    use super::*;
    use crate::{BusEvent, BusMessage, Clock, MemoryNodes, Node, SessionRecord, StoreLimits, Stores};

    #[test]
    fn end_is_remembered_for_a_time() {
        let (mut ended, start) = (EndedSessions::default(), Instant::now());
        let [first, second] = [(); 2].map(|()| SessionId::random().unwrap());
        ended.add(first, start);
        ended.add(second, start + REMEMBERED / 2);
        ended.add(first, start + REMEMBERED / 2);
        let mut at = |time| [first, second].map(|session| ended.contains(session, start + time));
        assert_eq!(at(REMEMBERED - Duration::from_secs(1)), [true, true]);
        assert_eq!(at(REMEMBERED), [false, true]);
        assert_eq!(at(REMEMBERED * 2), [false, false]);
        assert_eq!(ended.ids.capacity(), 0);
    }

    #[test]
    fn oldest_end_gives_way_at_the_limit() {
        let (mut ended, now) = (EndedSessions::default(), Instant::now());
        let first = SessionId::random().unwrap();
        ended.add(first, now);
        (1..LIMIT * 2).for_each(|_| ended.add(SessionId::random().unwrap(), now));
        assert!(!ended.contains(first, now));
        assert!(ended.ids.len() <= LIMIT && ended.order.len() == ended.ids.len());
    }

    /// A failover loses the deletion of a record.
    #[test]
    fn session_that_comes_back_with_its_record_is_ended_again() {
        let nodes = MemoryNodes::default();
        let memory = Stores::memory(&StoreLimits::new(), &Clock::system());
        let stores = Stores { nodes: Arc::new(nodes.clone()), ..memory };
        let node = block_on(Node::join(stores.clone())).unwrap();
        let [session, gone] = [(); 2].map(|()| SessionId::random().unwrap());
        node.note_end(session);
        node.note_end(gone);
        let record = SessionRecord::new(None, Vec::new());
        block_on(stores.records.create(session, record, REMEMBERED)).unwrap();
        let mut late = block_on(stores.bus.subscribe(crate::NodeId::new(1))).unwrap();
        let mut running = Box::pin(node.run(std::future::pending));
        assert!((&mut running).now_or_never().is_none());
        assert!(block_on(stores.records.load(session)).unwrap().is_some(), "nothing was interrupted");

        nodes.expire(node.id());
        assert!((&mut running).now_or_never().is_none());
        assert_eq!(block_on(stores.records.load(session)).unwrap(), None);
        let told = late.next().now_or_never().flatten();
        assert_eq!(told, Some(BusEvent::Message(BusMessage::SessionEnded(session))));
        assert!(late.next().now_or_never().is_none(), "the other record was not there");
    }
}
