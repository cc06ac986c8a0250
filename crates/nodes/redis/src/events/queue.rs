//! The queue to the task that writes events.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use agentwire_store::{Durable, SessionId, StoreError};
use futures_util::FutureExt;
use tokio::sync::{mpsc, watch};
use tokio::time::{Instant, timeout};

use crate::error::TimedOut;
use crate::events::incomplete::Incomplete;
use crate::events::message::{Change, Message, StreamLimits, Write};
use crate::events::pipeline::EventPipeline;
use crate::events::shares::Shares;
use crate::events::waiting::Waiting;
use crate::events::writer::Writer;
use crate::link::Link;
use crate::link::keys::Keys;
use crate::link::slot::{SLOTS, slot};

/// The bytes that an event counts in the queue beside its data.
const OVERHEAD: usize = 256;

/// The writers of a cluster's slots.
const CLUSTER_WRITERS: usize = 16;

/// The queues to the [`Writer`]s.
#[derive(Debug)]
pub(crate) struct EventQueue {
    /// The connection for commands other than those of the writers. What it learns of the engine holds for both.
    link: Arc<Link>,
    /// One for each part of a cluster's slots, so that a master that does not answer holds up its own events alone.
    lanes: Vec<Lane>,
    shares: Arc<Shares>,
    waiting: Arc<Waiting>,
    /// The most bytes of a stream.
    stream_bytes: usize,
}

/// The queue to one writer.
#[derive(Debug)]
struct Lane {
    sender: mpsc::UnboundedSender<Message>,
    /// How many messages were queued. Counted before one is sent: who reads the number has all that were sent before in it.
    queued: AtomicU64,
    /// With how many of them the writer has finished.
    finished: watch::Receiver<u64>,
    incomplete: Incomplete,
}

/// An event finds no room.
#[derive(Debug, thiserror::Error)]
#[error(
    "an event of the stream finds no room in its caller's share of {queue_bytes} bytes that wait, or in {stream_bytes} of a stream"
)]
struct NoRoom {
    queue_bytes: usize,
    stream_bytes: usize,
}

impl EventQueue {
    /// Starts writers, which end with the queue.
    pub(crate) fn new(
        link: &Arc<Link>,
        of_events: &Arc<Link>,
        keys: &Keys,
        limits: StreamLimits,
        shares: Arc<Shares>,
    ) -> Self {
        let writers = if link.is_cluster() { CLUSTER_WRITERS } else { 1 };
        let start = |_| {
            let ((sender, receiver), (finish, finished)) = (mpsc::unbounded_channel(), watch::channel(0));
            let links = (of_events.clone(), link.clone());
            let incomplete = Incomplete::default();
            let pipeline = EventPipeline::new(links, keys.clone(), limits, incomplete.clone());
            tokio::spawn(Writer::new(pipeline).run(receiver, finish));
            Lane { sender, queued: AtomicU64::new(0), finished, incomplete }
        };
        let lanes = (0..writers).map(start).collect();
        let waiting = Waiting::new(link.timeout());
        Self { link: link.clone(), lanes, shares, waiting, stream_bytes: limits.bytes }
    }

    pub(crate) fn write(&self, session: SessionId, stream: u64, change: Change) -> Durable {
        let size = change.bytes() + OVERHEAD;
        let now = Instant::now();
        let room = self.shares.take(session, size, now.into_std()).filter(|_| size <= self.stream_bytes);
        let is_refused = self.refuses((session, stream), room.is_some(), &change, now.into_std());
        let Some(room) = room.filter(|_| !is_refused) else {
            return Durable::failed(StoreError::full(NoRoom {
                queue_bytes: self.shares.limit(),
                stream_bytes: self.stream_bytes,
            }));
        };
        let (waiter, stored) = self.waiting.add(now);
        self.send(session, Message::Write(Write { session, stream, change, size, room, waiter }));
        if let Err(open) = self.link.check_circuit() {
            // It is stored when the engine is back. Its sender need not wait for the time-out.
            return Durable::failed(StoreError::away(open));
        }
        Durable::Later(Box::pin(
            stored.map(|stored| stored.unwrap_or_else(|gone| Err(StoreError::away(gone)))),
        ))
    }

    /// Completes when the engine has what was queued for a session before this call, or has refused it. A session that has nothing in
    /// the queue waits for no other that is known.
    pub(crate) fn written(
        &self,
        session: SessionId,
    ) -> impl Future<Output = Result<(), StoreError>> + Send + use<> {
        let lane = self.lane(session);
        let (link, mut finished) = (self.link.clone(), lane.finished.clone());
        let shares = self.shares.clone();
        let queued = if shares.has_queued(session) { lane.queued.load(Ordering::SeqCst) } else { 0 };
        async move {
            if *finished.borrow() < queued {
                link.check_circuit().map_err(StoreError::away)?;
            }
            match timeout(link.timeout(), finished.wait_for(|finished| *finished >= queued)).await {
                Ok(written) => written.map(drop).map_err(StoreError::away),
                // Its own may be written, and others of the same batch not.
                Err(_) if !shares.has_queued(session) => Ok(()),
                Err(_) => Err(StoreError::away(TimedOut(link.timeout().as_millis()))),
            }
        }
    }

    fn lane(&self, session: SessionId) -> &Lane {
        let index = match self.lanes.len() {
            1 => 0,
            lanes => slot(session) * lanes / SLOTS,
        };
        &self.lanes[index]
    }

    fn send(&self, session: SessionId, message: Message) {
        let lane = self.lane(session);
        lane.queued.fetch_add(1, Ordering::SeqCst);
        _ = lane.sender.send(message);
    }

    /// Returns whether a change of a stream finds no room, or one before it has found none.
    fn refuses(
        &self,
        (session, stream): (SessionId, u64),
        fits: bool,
        change: &Change,
        now: std::time::Instant,
    ) -> bool {
        let incomplete = &self.lane(session).incomplete;
        let (is_incomplete, ended) = (incomplete.refuses(session, stream, now), change.is_last());
        if fits && !is_incomplete {
            return false;
        }
        if !is_incomplete && !ended {
            incomplete.add(session, stream, now);
        }
        // What was queued of it before is deleted behind that.
        if ended || !is_incomplete && !matches!(change, Change::Begin(_)) {
            self.send(session, Message::Delete { session, stream, ended });
        }
        true
    }

    /// Deletes the streams of a session.
    pub(crate) fn forget(&self, session: SessionId) {
        self.shares.forget(session);
        self.lane(session).incomplete.forget(session);
        self.send(session, Message::Forget(session));
    }
}
