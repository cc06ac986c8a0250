//! The FIFO queue of outgoing frames with its size in bytes. A queued request can be withdrawn.

use std::collections::VecDeque;

use agentwire_jsonrpc::{Frame, Message, Notification, RawJson, RequestId};

use crate::event::CallId;

/// A frame to send, with the request of the peer that it belongs to, for transports with a stream for each request.
#[derive(Debug, PartialEq)]
#[non_exhaustive]
pub struct Transmit {
    /// The frame.
    pub frame: Frame,
    /// The request of the peer that it answers or belongs to.
    pub in_reply_to: Option<RequestId>,
    /// The approximate size of the frame in bytes.
    pub size: usize,
}

/// The kind of an entry of the queue.
#[derive(Debug, PartialEq, Eq, Clone, Copy)]
pub(crate) enum EntryKind {
    /// The request of a call, which may be withdrawn.
    Call(CallId),
    /// Responses to this many requests of the peer.
    Responses(usize),
    /// An error with the id null.
    RefusalWithoutId,
    Notification,
}

#[derive(Debug)]
struct Entry {
    transmit: Transmit,
    kind: EntryKind,
}

/// The frames to send, in one FIFO, so that no frame overtakes another.
#[derive(Debug, Default)]
pub(crate) struct Queue {
    entries: VecDeque<Entry>,
    size: usize,
    responses: usize,
    refusals_without_id: usize,
}

/// The maximum number of queued errors with the id null.
const MAX_REFUSALS_WITHOUT_ID: usize = 16;

/// The method and the text of the params of a notification. `None` for any other frame.
fn text(frame: &Frame) -> Option<(&str, Option<&str>)> {
    match frame {
        Frame::Single(Message::Notification(Notification { method, params, .. })) => {
            Some((method, params.as_ref().map(RawJson::as_str)))
        }
        _ => None,
    }
}

impl Queue {
    /// An empty queue with room for one frame. Growing from none would make room for four, which an idle session keeps.
    pub(crate) fn new() -> Self {
        Self { entries: VecDeque::with_capacity(1), ..Self::default() }
    }

    #[inline]
    pub(crate) fn push(&mut self, frame: impl Into<Frame>, in_reply_to: Option<RequestId>, kind: EntryKind) {
        let frame = frame.into();
        let size = frame.size_hint();
        self.size += size;
        match kind {
            EntryKind::Responses(count) => self.responses += count,
            EntryKind::RefusalWithoutId => self.refusals_without_id += 1,
            EntryKind::Call(_) | EntryKind::Notification => {}
        }
        self.entries.push_back(Entry { transmit: Transmit { frame, in_reply_to, size }, kind });
    }

    #[inline]
    pub(crate) fn pop(&mut self) -> Option<Transmit> {
        let entry = self.entries.pop_front()?;
        self.forget(&entry);
        Some(entry.transmit)
    }

    /// Whether a notification of the same text is queued. `==` on params compares values, and parses both to do so.
    pub(crate) fn has_notification(&self, transmit: &Transmit) -> bool {
        let new = text(&transmit.frame);
        self.entries.iter().map(|entry| &entry.transmit).any(|queued| {
            let is_similar = queued.size == transmit.size && queued.in_reply_to == transmit.in_reply_to;
            is_similar && new.is_some() && text(&queued.frame) == new
        })
    }

    /// Whether the request of a call is still queued.
    pub(crate) fn holds(&self, call: CallId) -> bool {
        self.entries.iter().any(|entry| entry.kind == EntryKind::Call(call))
    }

    /// Removes the request of a call. Returns false if it is sent already.
    pub(crate) fn withdraw(&mut self, call: CallId) -> bool {
        let index = self.entries.iter().position(|entry| entry.kind == EntryKind::Call(call));
        let entry = index.and_then(|index| self.entries.remove(index));
        if let Some(entry) = &entry {
            self.forget(entry);
        }
        entry.is_some()
    }

    /// Releases unused capacity, if there is room for more than `many` frames.
    pub(crate) fn shrink(&mut self, many: usize) {
        if self.entries.capacity() > many {
            self.entries.shrink_to_fit();
        }
    }

    fn forget(&mut self, entry: &Entry) {
        self.size -= entry.transmit.size;
        match entry.kind {
            EntryKind::Responses(count) => self.responses -= count,
            EntryKind::RefusalWithoutId => self.refusals_without_id -= 1,
            EntryKind::Call(_) | EntryKind::Notification => {}
        }
    }

    /// The approximate size of the queue in bytes.
    #[inline]
    pub(crate) fn size(&self) -> usize {
        self.size
    }

    /// How many responses are queued.
    #[inline]
    pub(crate) fn responses(&self) -> usize {
        self.responses + self.refusals_without_id
    }

    /// Whether the queue has [`MAX_REFUSALS_WITHOUT_ID`] errors with the id null.
    pub(crate) fn has_max_refusals(&self) -> bool {
        self.refusals_without_id >= MAX_REFUSALS_WITHOUT_ID
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }
}
