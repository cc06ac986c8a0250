//! The queue to the task that writes events.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use agentwire_store::{Durable, SessionId, StoreError};
use agentwire_sync::Mutex;
use tokio::sync::{mpsc, oneshot};
use tokio::time::Instant;

use crate::error::{CircuitOpen, TimedOut};
use crate::keys::Keys;
use crate::link::Link;
use crate::writer::{Change, Message, StreamLimits, Write, Writer};

/// What an event counts in the queue beside its data, in bytes.
const OVERHEAD: usize = 256;

/// The queue to the [`Writer`].
#[derive(Debug)]
pub(crate) struct EventQueue {
    link: Arc<Link>,
    sender: mpsc::UnboundedSender<Message>,
    /// The bytes in the queue.
    queued: Arc<AtomicUsize>,
    /// The most bytes in the queue.
    queue_bytes: usize,
    /// The most bytes of a stream.
    stream_bytes: usize,
    /// Streams with an event that found no room in the queue, and whether something of them may be stored. They take no further
    /// events, because a client that resumed them would miss that one.
    incomplete: Mutex<HashMap<(SessionId, u64), bool>>,
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
    /// Starts a writer, which ends with the queue.
    pub(crate) fn new(link: &Arc<Link>, keys: &Keys, limits: StreamLimits, queue_bytes: usize) -> Self {
        let (sender, receiver) = mpsc::unbounded_channel();
        let queued = Arc::new(AtomicUsize::new(0));
        tokio::spawn(Writer::new(link.clone(), keys.clone(), limits, queued.clone()).run(receiver));
        Self {
            link: link.clone(),
            sender,
            queued,
            queue_bytes,
            stream_bytes: limits.bytes,
            incomplete: Mutex::default(),
        }
    }

    pub(crate) fn write(&self, session: SessionId, stream: u64, change: Change) -> Durable {
        let (bytes, is_first, is_last) = match &change {
            Change::Begin(runs) => (runs.len(), true, false),
            Change::Event { place, data } => (data.len(), *place == 1, false),
            Change::Last { place, data } => (data.len(), *place == 1, true),
            Change::End => (0, false, true),
        };
        let size = bytes + OVERHEAD;
        if self.refuses((session, stream), size, is_first, is_last) {
            return Durable::failed(StoreError::full(NoRoom {
                queue_bytes: self.queue_bytes,
                stream_bytes: self.stream_bytes,
            }));
        }
        self.queued.fetch_add(size, Ordering::Relaxed);
        let (done, result) = oneshot::channel();
        _ = self.sender.send(Message::Write(Write { session, stream, change, size, done }));
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

    /// Returns whether a change of a stream finds no room, or one before it has found none.
    fn refuses(&self, stream: (SessionId, u64), size: usize, is_first: bool, is_last: bool) -> bool {
        let mut incomplete = self.incomplete.lock();
        let is_stored = match incomplete.get(&stream) {
            Some(is_stored) => *is_stored,
            None if size <= self.stream_bytes
                && self.queued.load(Ordering::Relaxed) + size <= self.queue_bytes =>
            {
                return false;
            }
            None => !is_first,
        };
        if is_last {
            incomplete.remove(&stream);
            if is_stored {
                _ = self.sender.send(Message::Delete(stream.0, stream.1));
            }
        } else {
            incomplete.insert(stream, is_stored);
        }
        true
    }

    /// Deletes the streams of a session.
    pub(crate) fn forget(&self, session: SessionId) {
        self.incomplete.lock().retain(|(other, _), _| *other != session);
        _ = self.sender.send(Message::Forget(session));
    }
}
