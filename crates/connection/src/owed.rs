use std::collections::HashMap;

use agentwire_jsonrpc::{ErrorObject, Message, RequestId, Response};
use slab::Slab;

use crate::event::OwedId;

/// How many requests are looked through one by one for an id.
const FEW: usize = 8;

/// A request of the peer's that has not been answered.
#[derive(Debug)]
pub(crate) struct Owed {
    pub(crate) id: RequestId,
    pub(crate) batch: Option<usize>,
    /// The peer said that it no longer wants the answer.
    pub(crate) cancelled: bool,
    /// The peer cannot be reached with the answer.
    pub(crate) abandoned: bool,
    serial: u64,
}

/// Answers to a batch, which leave together.
#[derive(Debug, Default)]
struct Batch {
    waiting: usize,
    answers: Vec<Message>,
    /// How many bytes those are, about.
    bytes: usize,
}

/// Requests by an index. The first has a place of its own: many connections never have more than one at a time.
#[derive(Debug, Default)]
struct Places {
    /// At the index 0.
    first: Option<Owed>,
    /// From the index 1 on.
    rest: Slab<Owed>,
}

impl Places {
    fn insert(&mut self, owed: Owed) -> usize {
        if self.first.is_some() {
            return 1 + self.rest.insert(owed);
        }
        self.first = Some(owed);
        0
    }

    fn get(&self, index: usize) -> Option<&Owed> {
        match index.checked_sub(1) {
            None => self.first.as_ref(),
            Some(index) => self.rest.get(index),
        }
    }

    fn get_mut(&mut self, index: usize) -> Option<&mut Owed> {
        match index.checked_sub(1) {
            None => self.first.as_mut(),
            Some(index) => self.rest.get_mut(index),
        }
    }

    fn remove(&mut self, index: usize) -> Option<Owed> {
        match index.checked_sub(1) {
            None => self.first.take(),
            Some(index) => self.rest.try_remove(index),
        }
    }

    fn iter(&self) -> impl Iterator<Item = (usize, &Owed)> {
        let rest = self.rest.iter().map(|(index, entry)| (index + 1, entry));
        self.first.iter().map(|entry| (0, entry)).chain(rest)
    }

    fn len(&self) -> usize {
        usize::from(self.first.is_some()) + self.rest.len()
    }
}

/// The calls that we owe an answer, and the batches some of them came in.
#[derive(Debug, Default)]
pub(crate) struct Ledger {
    owed: Places,
    /// Where each is, once there are too many to look at one by one. Empty until then, and again when it has become
    /// empty. The null id is not here: it names no request.
    by_id: HashMap<RequestId, usize>,
    batches: Slab<Batch>,
    /// How many answers wait in batches for their siblings.
    held: usize,
    /// How many bytes those are, about.
    held_bytes: usize,
    last_serial: u64,
}

impl Ledger {
    /// Takes a request. None when one with the same id is still unanswered.
    pub(crate) fn insert(&mut self, id: RequestId, batch: Option<usize>) -> Option<OwedId> {
        if self.index(&id).is_some() {
            return None;
        }
        let named = (!self.by_id.is_empty() && !id.is_null()).then(|| id.clone());
        self.last_serial += 1;
        let serial = self.last_serial;
        let index = self.owed.insert(Owed { id, batch, cancelled: false, abandoned: false, serial });
        if let Some(id) = named {
            self.by_id.insert(id, index);
        }
        if let Some(batch) = batch {
            self.batches[batch].waiting += 1;
        }
        if self.by_id.is_empty() && self.owed.len() > FEW {
            let named = self.owed.iter().filter(|(_, entry)| !entry.id.is_null());
            self.by_id.extend(named.map(|(index, entry)| (entry.id.clone(), index)));
        }
        Some(OwedId { index, serial })
    }

    /// Where the unanswered request with this id is.
    fn index(&self, id: &RequestId) -> Option<usize> {
        if !self.by_id.is_empty() {
            return self.by_id.get(id).copied();
        }
        let found = self.owed.iter().find(|(_, entry)| !id.is_null() && entry.id == *id);
        found.map(|(index, _)| index)
    }

    pub(crate) fn remove(&mut self, owed: OwedId) -> Option<Owed> {
        self.owed.get(owed.index).filter(|entry| entry.serial == owed.serial)?;
        let entry = self.owed.remove(owed.index)?;
        if !self.by_id.is_empty() && !entry.id.is_null() {
            self.by_id.remove(&entry.id);
        }
        Some(entry)
    }

    /// The unanswered request with this id.
    pub(crate) fn find(&mut self, id: &RequestId) -> Option<(OwedId, &mut Owed)> {
        let index = self.index(id)?;
        let entry = self.owed.get_mut(index)?;
        Some((OwedId { index, serial: entry.serial }, entry))
    }

    pub(crate) fn id(&self, owed: OwedId) -> Option<&RequestId> {
        self.owed.get(owed.index).filter(|entry| entry.serial == owed.serial).map(|entry| &entry.id)
    }

    pub(crate) fn len(&self) -> usize {
        self.owed.len()
    }

    /// Gives back the memory of empty places, if there are more than `many`.
    pub(crate) fn shrink(&mut self, many: usize) {
        if self.owed.rest.capacity() > many {
            self.owed.rest.shrink_to_fit();
            self.by_id.shrink_to_fit();
        }
    }

    /// How many requests cost memory: the unanswered, and those whose answer waits in a batch.
    pub(crate) fn pending(&self) -> usize {
        self.owed.len() + self.held
    }

    /// Opens a batch, which stays open until [`close_batch`](Self::close_batch).
    pub(crate) fn open_batch(&mut self) -> usize {
        self.batches.insert(Batch { waiting: 1, answers: Vec::new(), bytes: 0 })
    }

    /// All messages of the batch have been read. Gives the answers if none is waited for.
    pub(crate) fn close_batch(&mut self, batch: usize) -> Option<Vec<Message>> {
        self.settle(batch, None, usize::MAX)
    }

    /// Adds an answer that nobody owed, such as the refusal of a malformed message.
    pub(crate) fn add_to_batch(&mut self, batch: usize, answer: Message) {
        let bytes = answer.size_hint();
        let entry = &mut self.batches[batch];
        entry.answers.push(answer);
        entry.bytes += bytes;
        self.held += 1;
        self.held_bytes += bytes;
    }

    /// One request less is waited for. Gives the answers when it was the last. An answer with which those that wait would
    /// have more than `limit` bytes becomes an error.
    pub(crate) fn settle(
        &mut self,
        batch: usize,
        answer: Option<Response>,
        limit: usize,
    ) -> Option<Vec<Message>> {
        if let Some(answer) = answer {
            let id = answer.id.clone();
            let answer = Message::from(answer);
            let fits = self.held_bytes.saturating_add(answer.size_hint()) <= limit;
            self.add_to_batch(
                batch,
                if fits { answer } else { Response::new(id, Err(too_long(limit))).into() },
            );
        }
        let entry = &mut self.batches[batch];
        entry.waiting -= 1;
        if entry.waiting > 0 {
            return None;
        }
        let Batch { answers, bytes, .. } = self.batches.remove(batch);
        self.held -= answers.len();
        self.held_bytes -= bytes;
        (!answers.is_empty()).then_some(answers)
    }

    pub(crate) fn open_batches(&self) -> usize {
        self.batches.len()
    }
}

/// What stands in a batch in the place of an answer that there is no room for.
fn too_long(limit: usize) -> ErrorObject {
    ErrorObject::internal_error(format_args!(
        "the answers to this batch are longer than the limit, which is {limit} bytes; ask for less at a time"
    ))
}
