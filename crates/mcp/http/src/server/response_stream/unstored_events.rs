//! The part of a stream that waits until the store has its events.

use std::collections::VecDeque;
use std::iter;
use std::ops::Range;
use std::task::{Context, Poll};

use agentwire_store::StoreError;
use futures::FutureExt;

pub(super) use crate::server::endpoint_store::Stored;
use crate::server::response::queue::Queue;

/// Another node has taken the stream over.
pub(super) struct TakenOver;

/// The part of a stream that waits until the store has its events. It begins with a result, or with the first id of the stream: a client
/// that has read one of those must find it in the store when it resumes the stream, wherever that is.
#[derive(Default)]
pub(super) struct UnstoredEvents {
    /// The first part. Few streams have more of them at a time.
    first: Option<Part>,
    rest: VecDeque<Part>,
}

/// A result or a first id, and what follows it up to the next result.
struct Part {
    stored: Stored,
    /// Whether it begins with an answer, or with the first event of the stream. Its id is sent only once the store has it.
    is_required: bool,
    /// The line that has the id of the first event.
    id: Range<usize>,
    /// The lines with the ids of the later events.
    later_ids: Vec<Range<usize>>,
    bytes: Queue,
}

impl UnstoredEvents {
    pub(super) fn is_empty(&self) -> bool {
        self.first.is_none()
    }

    pub(super) fn len(&self) -> usize {
        self.first.iter().chain(&self.rest).map(|part| part.bytes.len()).sum()
    }

    /// The end of the stream. `None` if nothing waits.
    pub(super) fn last(&mut self) -> Option<&mut Queue> {
        self.last_part().map(|part| &mut part.bytes)
    }

    fn last_part(&mut self) -> Option<&mut Part> {
        self.rest.back_mut().or(self.first.as_mut())
    }

    /// Adds the range of a line with an id in the bytes at the end of the stream.
    pub(super) fn add_id(&mut self, id: Range<usize>) {
        if let Some(part) = self.last_part().filter(|_| !id.is_empty()) {
            part.later_ids.push(id);
        }
    }

    /// Adds the beginning of an event that waits until it is stored. `id` is the line in it that has the event's id.
    pub(super) fn push(&mut self, stored: Stored, is_required: bool, id: Range<usize>, bytes: Queue) {
        let part = Part { stored, is_required, id, later_ids: Vec::new(), bytes };
        match &self.first {
            None => self.first = Some(part),
            Some(_) => self.rest.push_back(part),
        }
    }

    /// Drops all parts.
    pub(super) fn clear(&mut self) {
        (self.first, self.rest) = (None, VecDeque::new());
    }

    /// Moves the parts that need not wait any more to `ready`. If the store may have nothing of the stream, a part loses its ids,
    /// because no client can resume the stream after them. Sets `is_lost` to whether that holds for the last part.
    pub(super) fn poll(
        &mut self,
        cx: &mut Context<'_>,
        ready: &mut Queue,
        is_lost: &mut bool,
    ) -> Poll<Result<(), TakenOver>> {
        while let Some(part) = &mut self.first {
            let Poll::Ready(stored) = part.stored.poll_unpin(cx) else { return Poll::Pending };
            let Some(mut part) = std::mem::replace(&mut self.first, self.rest.pop_front()) else { break };
            match stored {
                Ok(()) => *is_lost = false,
                Err(StoreError::TakenOver) => return Poll::Ready(Err(TakenOver)),
                // The store has what came before, and may have this later: without its id it would come twice to a client that resumes
                // the stream.
                Err(StoreError::Away(_)) if !*is_lost && !part.is_required => {}
                Err(_) => {
                    *is_lost = true;
                    part.bytes.cut(iter::once(part.id).chain(part.later_ids));
                }
            }
            ready.append(part.bytes);
        }
        Poll::Ready(Ok(()))
    }
}
