//! The queue to the task that writes events.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use agentwire_store::{Durable, SessionId, StoreError};
use tokio::sync::{mpsc, oneshot};
use tokio::time::Instant;

use crate::error::{CircuitOpen, TimedOut};
use crate::incomplete::Incomplete;
use crate::keys::Keys;
use crate::link::Link;
use crate::message::{Change, Message, StreamLimits, Write};
use crate::slot::{SLOTS, slot};
use crate::writer::Writer;

/// What an event counts in the queue beside its data, in bytes.
const OVERHEAD: usize = 256;

/// The writers of a cluster's slots.
const CLUSTER_WRITERS: usize = 16;

/// The queues to the [`Writer`]s.
#[derive(Debug)]
pub(crate) struct EventQueue {
    link: Arc<Link>,
    /// One for each part of a cluster's slots, so that a master that does not answer holds up its own events alone.
    senders: Vec<mpsc::UnboundedSender<Message>>,
    /// The bytes in the queue.
    queued: Arc<AtomicUsize>,
    /// The most bytes in the queue.
    queue_bytes: usize,
    /// The most bytes of a stream.
    stream_bytes: usize,
    incomplete: Incomplete,
}

/// An event finds no room.
#[derive(Debug, thiserror::Error)]
#[error(
    "an event of the stream finds no room in {queue_bytes} bytes that wait, or {stream_bytes} of a stream"
)]
struct NoRoom {
    queue_bytes: usize,
    stream_bytes: usize,
}

impl EventQueue {
    /// Starts writers, which end with the queue.
    pub(crate) fn new(link: &Arc<Link>, keys: &Keys, limits: StreamLimits, queue_bytes: usize) -> Self {
        let queued = Arc::new(AtomicUsize::new(0));
        let incomplete = Incomplete::default();
        let writers = if link.is_cluster() { CLUSTER_WRITERS } else { 1 };
        let start = |_| {
            let (sender, receiver) = mpsc::unbounded_channel();
            let writer = Writer::new(link.clone(), keys.clone(), limits, queued.clone(), incomplete.clone());
            tokio::spawn(writer.run(receiver));
            sender
        };
        let senders = (0..writers).map(start).collect();
        Self { link: link.clone(), senders, queued, queue_bytes, stream_bytes: limits.bytes, incomplete }
    }

    pub(crate) fn write(&self, session: SessionId, stream: u64, change: Change) -> Durable {
        let size = change.bytes() + OVERHEAD;
        if self.refuses(session, stream, size, &change) {
            return Durable::failed(StoreError::full(NoRoom {
                queue_bytes: self.queue_bytes,
                stream_bytes: self.stream_bytes,
            }));
        }
        self.queued.fetch_add(size, Ordering::Relaxed);
        let (done, result) = oneshot::channel();
        self.send(session, Message::Write(Write { session, stream, change, size, done }));
        if self.link.is_open() {
            // It is stored when the engine is back. Its sender need not wait for the time-out.
            return Durable::failed(StoreError::away(CircuitOpen));
        }
        let timeout = self.link.timeout();
        let deadline = Instant::now() + timeout;
        Durable::Later(Box::pin(async move {
            match tokio::time::timeout_at(deadline, result).await {
                Ok(Ok(result)) => result,
                Ok(Err(_)) | Err(_) => Err(StoreError::away(TimedOut(timeout.as_millis()))),
            }
        }))
    }

    fn send(&self, session: SessionId, message: Message) {
        _ = self.senders[slot(session) * self.senders.len() / SLOTS].send(message);
    }

    /// Returns whether a change of a stream finds no room, or one before it has found none.
    fn refuses(&self, session: SessionId, stream: u64, size: usize, change: &Change) -> bool {
        let fits =
            || size <= self.stream_bytes && self.queued.load(Ordering::Relaxed) + size <= self.queue_bytes;
        if change.is_last() {
            let is_incomplete = self.incomplete.remove(session, stream);
            if is_incomplete || fits() {
                return is_incomplete;
            }
        } else if !self.incomplete.contains(session, stream) {
            if fits() {
                return false;
            }
            self.incomplete.add(session, stream);
        } else {
            return true;
        }
        // What was queued of it before is deleted behind that.
        if !change.is_first() {
            self.send(session, Message::Delete(session, stream));
        }
        true
    }

    /// Deletes the streams of a session.
    pub(crate) fn forget(&self, session: SessionId) {
        self.incomplete.forget(session);
        self.send(session, Message::Forget(session));
    }
}
