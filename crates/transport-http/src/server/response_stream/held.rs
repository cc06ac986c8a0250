//! The part of a stream that waits until the store has its events.

use std::collections::VecDeque;
use std::task::{Context, Poll};

use agentwire_store::StoreError;
use futures::FutureExt;
use futures::future::BoxFuture;

use crate::server::queue::Queue;

/// Completes when the store has an event.
pub(super) type Stored = BoxFuture<'static, Result<(), StoreError>>;

/// Another node has ended the stream.
pub(super) struct TakenOver;

/// The part of a stream that waits until the store has its events. It begins with a result: a client that has read one must find it
/// in the store when it resumes the stream, wherever that is.
#[derive(Default)]
pub(super) struct Held {
    parts: VecDeque<Part>,
    /// The newest event that the store was given, unless it is that of the last part.
    newest: Option<Stored>,
}

/// A result, and what follows it up to the next result.
struct Part {
    stored: Stored,
    /// The length of the line at its beginning that has the event's id.
    id_len: usize,
    bytes: Queue,
}

impl Held {
    pub(super) fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    pub(super) fn len(&self) -> usize {
        self.parts.iter().map(|part| part.bytes.len()).sum()
    }

    /// The end of the stream. None where nothing waits.
    pub(super) fn last(&mut self) -> Option<&mut Queue> {
        self.parts.back_mut().map(|part| &mut part.bytes)
    }

    /// Notes an event for which nothing waits.
    pub(super) fn note(&mut self, stored: Stored) {
        self.newest = Some(stored);
    }

    /// Adds the beginning of an event that waits until it is stored.
    pub(super) fn push(&mut self, stored: Stored, id_len: usize, text: Vec<u8>) {
        self.newest = None;
        let mut bytes = Queue::default();
        *bytes.tail() = text;
        bytes.grown();
        self.parts.push_back(Part { stored, id_len, bytes });
    }

    /// Takes what completes when the store has the newest event.
    pub(super) fn take_newest(&mut self) -> Option<Stored> {
        self.newest.take().or_else(|| self.parts.pop_back().map(|part| part.stored))
    }

    /// Drops the bytes.
    pub(super) fn clear(&mut self) {
        self.newest = self.take_newest();
        self.parts.clear();
    }

    /// Moves what need not wait any more to `ready`. An event that the store has not taken goes without its id, because no client
    /// can resume the stream there.
    pub(super) fn poll(&mut self, cx: &mut Context<'_>, ready: &mut Queue) -> Poll<Result<(), TakenOver>> {
        while let Some(part) = self.parts.front_mut() {
            let Poll::Ready(stored) = part.stored.poll_unpin(cx) else { return Poll::Pending };
            let Some(mut part) = self.parts.pop_front() else { break };
            match stored {
                Ok(()) => {}
                Err(StoreError::TakenOver) => return Poll::Ready(Err(TakenOver)),
                Err(_) => part.bytes.advance(part.id_len),
            }
            ready.append(part.bytes);
        }
        Poll::Ready(Ok(()))
    }
}
