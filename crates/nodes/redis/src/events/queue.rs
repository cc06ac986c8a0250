//! The queues to the tasks that write events.

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

/// The bytes that an event counts in the queue in addition to its data.
const OVERHEAD: usize = 256;

/// The number of writers for a cluster. Each serves a part of the slots.
const CLUSTER_WRITERS: usize = 16;

/// The queues to the [`Writer`]s.
#[derive(Debug)]
pub(crate) struct EventQueue {
    /// The connection for commands other than those of the writers. Both share one circuit.
    link: Arc<Link>,
    /// One for each part of a cluster's slots, so that a master that does not answer delays its own events only.
    lanes: Vec<WriterQueue>,
    shares: Arc<Shares>,
    waiting: Arc<Waiting>,
    /// The maximum size of a stream, in bytes.
    stream_bytes: usize,
}

/// The queue to one writer.
#[derive(Debug)]
struct WriterQueue {
    sender: mpsc::UnboundedSender<Message>,
    /// The number of messages that were queued. Raised before a message is sent, so it is never too low.
    queued: AtomicU64,
    /// The number of messages that the writer has finished.
    finished: watch::Receiver<u64>,
    incomplete: Incomplete,
}

/// An event does not fit into the queue or the stream.
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
            WriterQueue { sender, queued: AtomicU64::new(0), finished, incomplete }
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
            // It is stored when the engine is back. The caller need not wait for the time-out.
            return Durable::failed(StoreError::away(open));
        }
        Durable::Later(Box::pin(
            stored.map(|stored| stored.unwrap_or_else(|gone| Err(StoreError::away(gone)))),
        ))
    }

    /// Completes when the engine has stored or refused the events of a session that were queued before this call. Completes at once if
    /// neither the session nor an unknown session has events in the queue.
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
                // The session's events may be written while others of the same batch are not.
                Err(_) if !shares.has_queued(session) => Ok(()),
                Err(_) => Err(StoreError::away(TimedOut(link.timeout().as_millis()))),
            }
        }
    }

    fn lane(&self, session: SessionId) -> &WriterQueue {
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

    /// Returns whether a change is refused, because it does not fit or its stream has lost an event. Deletes the stream if so.
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
        // The deletion is queued behind the earlier changes of the stream, so it deletes them too.
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
