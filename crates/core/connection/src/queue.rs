//! The FIFO queue of outgoing frames with its size in bytes. A queued request can be withdrawn.

use std::collections::VecDeque;

use agentwire_jsonrpc::{Frame, Message, Notification, RawJson, RequestId};

use crate::event::CallId;

/// A frame to send, and the request of the peer's that it belongs to, for transports with a stream for each request.
#[derive(Debug, PartialEq)]
#[non_exhaustive]
pub struct Transmit {
    /// The frame.
    pub frame: Frame,
    /// The request of the peer's that it answers or belongs to.
    pub in_reply_to: Option<RequestId>,
    /// The approximate size of the frame in bytes.
    pub size: usize,
}

/// The kind of an entry of the queue.
#[derive(Debug, PartialEq, Eq, Clone, Copy)]
pub(crate) enum Kind {
    /// The request of a call, which may be withdrawn.
    Call(CallId),
    /// Answers to this many requests of the peer's.
    Answer(usize),
    /// An error under the id null.
    RefusalWithoutId,
    Notification,
}

#[derive(Debug)]
struct Entry {
    transmit: Transmit,
    kind: Kind,
}

/// The frames to send: one FIFO for all, so that nothing overtakes.
#[derive(Debug, Default)]
pub(crate) struct Queue {
    entries: VecDeque<Entry>,
    size: usize,
    answers: usize,
    refusals_without_id: usize,
}

/// The most errors under the id null in the queue.
const MAX_REFUSALS_WITHOUT_ID: usize = 16;

/// The method and the text of the params, if it is a notification.
fn text(frame: &Frame) -> Option<(&str, Option<&str>)> {
    match frame {
        Frame::Single(Message::Notification(Notification { method, params, .. })) => {
            Some((method, params.as_ref().map(RawJson::as_str)))
        }
        _ => None,
    }
}

impl Queue {
    /// An empty queue with one place, because the first growth makes four, and an idle session keeps them.
    pub(crate) fn new() -> Self {
        Self { entries: VecDeque::with_capacity(1), ..Self::default() }
    }

    #[inline]
    pub(crate) fn push(&mut self, frame: impl Into<Frame>, in_reply_to: Option<RequestId>, kind: Kind) {
        let frame = frame.into();
        let size = frame.size_hint();
        self.size += size;
        match kind {
            Kind::Answer(count) => self.answers += count,
            Kind::RefusalWithoutId => self.refusals_without_id += 1,
            Kind::Call(_) | Kind::Notification => {}
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

    /// Whether a request has not left yet.
    pub(crate) fn holds(&self, call: CallId) -> bool {
        self.entries.iter().any(|entry| entry.kind == Kind::Call(call))
    }

    /// Withdraws a request that has not left yet. Returns false when it has.
    pub(crate) fn take_back(&mut self, call: CallId) -> bool {
        let index = self.entries.iter().position(|entry| entry.kind == Kind::Call(call));
        let entry = index.and_then(|index| self.entries.remove(index));
        if let Some(entry) = &entry {
            self.forget(entry);
        }
        entry.is_some()
    }

    /// Releases the memory of empty places, if there are more than `many`.
    pub(crate) fn shrink(&mut self, many: usize) {
        if self.entries.capacity() > many {
            self.entries.shrink_to_fit();
        }
    }

    fn forget(&mut self, entry: &Entry) {
        self.size -= entry.transmit.size;
        match entry.kind {
            Kind::Answer(count) => self.answers -= count,
            Kind::RefusalWithoutId => self.refusals_without_id -= 1,
            Kind::Call(_) | Kind::Notification => {}
        }
    }

    /// The approximate size of the queue in bytes.
    #[inline]
    pub(crate) fn size(&self) -> usize {
        self.size
    }

    /// How many answers are queued.
    #[inline]
    pub(crate) fn answers(&self) -> usize {
        self.answers + self.refusals_without_id
    }

    /// Whether the queue has [`MAX_REFUSALS_WITHOUT_ID`] errors under the id null.
    pub(crate) fn has_max_refusals(&self) -> bool {
        self.refusals_without_id >= MAX_REFUSALS_WITHOUT_ID
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }
}
