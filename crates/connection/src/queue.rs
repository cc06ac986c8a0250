use agentwire_jsonrpc::{Frame, RequestId};

use crate::event::CallId;
use crate::line::Line;

/// A frame to send, and the peer's request it belongs to, for transports that have a stream for each.
#[derive(Debug, PartialEq)]
#[non_exhaustive]
pub struct Transmit {
    /// What to send.
    pub frame: Frame,
    /// The peer's request that it is said in the course of, or that it answers.
    pub related: Option<RequestId>,
    /// About how many bytes the frame has.
    pub size: usize,
}

/// What an entry of the queue is, as far as the queue must know.
#[derive(Debug, PartialEq, Eq, Clone, Copy)]
pub(crate) enum Kind {
    /// The request of a call of ours, which may be taken back.
    Call(CallId),
    /// Answers so many requests of the peer's.
    Answer(usize),
    Notification,
}

#[derive(Debug)]
struct Entry {
    transmit: Transmit,
    kind: Kind,
}

/// What waits to be sent: one line for everything, so that nothing overtakes.
#[derive(Debug, Default)]
pub(crate) struct Queue {
    entries: Line<Entry>,
    size: usize,
    answers: usize,
}

impl Queue {
    #[inline]
    pub(crate) fn push(&mut self, frame: impl Into<Frame>, related: Option<RequestId>, kind: Kind) {
        let frame = frame.into();
        let size = frame.size_hint();
        self.size += size;
        if let Kind::Answer(count) = kind {
            self.answers += count;
        }
        self.entries.push(Entry { transmit: Transmit { frame, related, size }, kind });
    }

    #[inline]
    pub(crate) fn pop(&mut self) -> Option<Transmit> {
        let entry = self.entries.pop()?;
        self.forget(&entry);
        Some(entry.transmit)
    }

    /// Whether the very same notification waits already.
    pub(crate) fn has_notification(&self, transmit: &Transmit) -> bool {
        let same = |entry: &Entry| entry.transmit.size == transmit.size && entry.transmit == *transmit;
        self.entries.iter().any(|entry| entry.kind == Kind::Notification && same(entry))
    }

    /// Whether a request has not left yet.
    pub(crate) fn holds(&self, call: CallId) -> bool {
        self.entries.iter().any(|entry| entry.kind == Kind::Call(call))
    }

    /// Takes back a request that has not left yet. False when it has.
    pub(crate) fn take_back(&mut self, call: CallId) -> bool {
        let entry = self.entries.take(|entry| entry.kind == Kind::Call(call));
        if let Some(entry) = &entry {
            self.forget(entry);
        }
        entry.is_some()
    }

    /// Gives back the memory of empty places, if there are more than `many`.
    pub(crate) fn shrink(&mut self, many: usize) {
        self.entries.shrink(many);
    }

    fn forget(&mut self, entry: &Entry) {
        self.size -= entry.transmit.size;
        if let Kind::Answer(count) = entry.kind {
            self.answers -= count;
        }
    }

    /// How many bytes wait, about.
    #[inline]
    pub(crate) fn size(&self) -> usize {
        self.size
    }

    /// How many answers wait.
    #[inline]
    pub(crate) fn answers(&self) -> usize {
        self.answers
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }
}
