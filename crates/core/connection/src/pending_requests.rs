//! Tracks the peer's unanswered requests, and holds the responses to a batch until all are there.

use std::collections::HashMap;

use agentwire_jsonrpc::{ErrorObject, Message, RequestId, Response};
use slab::Slab;

use crate::event::IncomingId;

/// The maximum number of requests that are searched one by one for an id. If there are more, an index is used.
const UNINDEXED: usize = 8;

/// An unanswered request of the peer.
#[derive(Debug)]
pub(crate) struct IncomingRequest {
    pub(crate) id: RequestId,
    pub(crate) batch: Option<usize>,
    /// Whether the peer has cancelled it.
    pub(crate) cancelled: bool,
    /// Whether the caller has left, so that the response cannot be delivered.
    pub(crate) abandoned: bool,
    serial: u64,
}

/// The responses to a batch, which are sent together.
#[derive(Debug, Default)]
struct Batch {
    /// The requests without an outcome, plus one while the batch is being read.
    waiting: usize,
    responses: Vec<Message>,
    /// The approximate size of the responses in bytes.
    bytes: usize,
}

/// The unanswered requests of the peer, and the open batches.
#[derive(Debug, Default)]
pub(crate) struct PendingRequests {
    unanswered: Slab<IncomingRequest>,
    /// The index of each request. It is filled once there are more than [`UNINDEXED`], and used until all of them are answered. The
    /// null id is not in it, because it identifies no request.
    by_id: HashMap<RequestId, usize>,
    batches: Slab<Batch>,
    /// The number of responses that wait for the rest of their batches.
    held: usize,
    /// The approximate size of these responses in bytes.
    held_bytes: usize,
    last_serial: u64,
}

impl PendingRequests {
    /// An empty table with room for one request. Growing from none would make room for four, which an idle session keeps.
    pub(crate) fn new() -> Self {
        Self { unanswered: Slab::with_capacity(1), ..Self::default() }
    }

    /// Adds a request. Returns `None` if another one with the same id is unanswered.
    pub(crate) fn insert(&mut self, id: RequestId, batch: Option<usize>) -> Option<IncomingId> {
        if self.index(&id).is_some() {
            return None;
        }
        let named = (!self.by_id.is_empty() && !id.is_null()).then(|| id.clone());
        self.last_serial += 1;
        let serial = self.last_serial;
        let index =
            self.unanswered.insert(IncomingRequest { id, batch, cancelled: false, abandoned: false, serial });
        if let Some(id) = named {
            self.by_id.insert(id, index);
        }
        if let Some(batch) = batch {
            self.batches[batch].waiting += 1;
        }
        if self.by_id.is_empty() && self.unanswered.len() > UNINDEXED {
            let named = self.unanswered.iter().filter(|(_, entry)| !entry.id.is_null());
            self.by_id.extend(named.map(|(index, entry)| (entry.id.clone(), index)));
        }
        Some(IncomingId { index, serial })
    }

    /// The index of the unanswered request with this id.
    fn index(&self, id: &RequestId) -> Option<usize> {
        if !self.by_id.is_empty() {
            return self.by_id.get(id).copied();
        }
        let found = self.unanswered.iter().find(|(_, entry)| !id.is_null() && entry.id == *id);
        found.map(|(index, _)| index)
    }

    pub(crate) fn remove(&mut self, incoming: IncomingId) -> Option<IncomingRequest> {
        self.unanswered.get(incoming.index).filter(|entry| entry.serial == incoming.serial)?;
        let entry = self.unanswered.remove(incoming.index);
        if !self.by_id.is_empty() && !entry.id.is_null() {
            self.by_id.remove(&entry.id);
        }
        Some(entry)
    }

    /// The unanswered request with this id.
    pub(crate) fn find(&mut self, id: &RequestId) -> Option<(IncomingId, &mut IncomingRequest)> {
        let index = self.index(id)?;
        let entry = self.unanswered.get_mut(index)?;
        Some((IncomingId { index, serial: entry.serial }, entry))
    }

    pub(crate) fn id(&self, incoming: IncomingId) -> Option<&RequestId> {
        self.unanswered
            .get(incoming.index)
            .filter(|entry| entry.serial == incoming.serial)
            .map(|entry| &entry.id)
    }

    pub(crate) fn len(&self) -> usize {
        self.unanswered.len()
    }

    /// Releases unused capacity, if there is room for more than `many` requests.
    pub(crate) fn shrink(&mut self, many: usize) {
        if self.unanswered.capacity() > many {
            self.unanswered.shrink_to_fit();
            self.by_id.shrink_to_fit();
        }
    }

    /// How many requests take memory: the unanswered ones, and those whose response waits in a batch.
    pub(crate) fn count_with_batched(&self) -> usize {
        self.unanswered.len() + self.held
    }

    /// Opens a batch, which stays open until [`close_batch`](Self::close_batch).
    pub(crate) fn open_batch(&mut self) -> usize {
        self.batches.insert(Batch { waiting: 1, responses: Vec::new(), bytes: 0 })
    }

    /// Called when all messages of the batch have been read. Returns the responses if all of them are there.
    pub(crate) fn close_batch(&mut self, batch: usize) -> Option<Vec<Message>> {
        self.settle(batch, None, usize::MAX)
    }

    /// Adds a response that belongs to no pending request, such as the refusal of a malformed message.
    pub(crate) fn add_to_batch(&mut self, batch: usize, response: Message) {
        let bytes = response.size_hint();
        let entry = &mut self.batches[batch];
        entry.responses.push(response);
        entry.bytes += bytes;
        self.held += 1;
        self.held_bytes += bytes;
    }

    /// Ends one wait of the batch, with the response to a request, or with `None` if no response is sent. Returns all responses of the
    /// batch if this was the last wait. If the held responses would exceed `limit` bytes, the response becomes an error.
    pub(crate) fn settle(
        &mut self,
        batch: usize,
        response: Option<Response>,
        limit: usize,
    ) -> Option<Vec<Message>> {
        if let Some(response) = response {
            let id = response.id.clone();
            let response = Message::from(response);
            let fits = self.held_bytes.saturating_add(response.size_hint()) <= limit;
            self.add_to_batch(
                batch,
                if fits { response } else { Response::new(id, Err(too_long(limit))).into() },
            );
        }
        let entry = &mut self.batches[batch];
        entry.waiting -= 1;
        if entry.waiting > 0 {
            return None;
        }
        let Batch { responses, bytes, .. } = self.batches.remove(batch);
        self.held -= responses.len();
        self.held_bytes -= bytes;
        (!responses.is_empty()).then_some(responses)
    }

    pub(crate) fn open_batches(&self) -> usize {
        self.batches.len()
    }
}

/// The error in place of a response that exceeds the limit.
fn too_long(limit: usize) -> ErrorObject {
    ErrorObject::internal_error(format_args!(
        "the answers to this batch are longer than the limit, which is {limit} bytes; ask for less at a time"
    ))
}
