//! Queues response bytes: small pieces are joined in one buffer, pieces that need no copy stay as they are.

use std::collections::VecDeque;
use std::ops::Range;

use bytes::Bytes;

/// A piece of at least this many bytes is not copied.
pub(crate) const COPY_LIMIT: usize = 32 << 10;

/// The most bytes that a reader takes at once, so that a slow reader shows progress.
pub(crate) const STRIDE: usize = 64 << 10;

/// Bytes that wait to be sent: small ones joined, large ones as they are.
#[derive(Debug, Default)]
pub(crate) struct Queue {
    /// Complete pieces, before `tail`.
    pieces: VecDeque<Bytes>,
    tail: Vec<u8>,
    len: usize,
    /// How many bytes of `tail` are counted in `len`.
    counted: usize,
}

/// Later additions are joined to the bytes.
impl From<Vec<u8>> for Queue {
    fn from(text: Vec<u8>) -> Self {
        let len = text.len();
        Self { pieces: VecDeque::new(), tail: text, len, counted: len }
    }
}

impl From<Bytes> for Queue {
    fn from(piece: Bytes) -> Self {
        let mut queue = Self::default();
        queue.push(piece);
        queue
    }
}

impl Queue {
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The buffer for small pieces. Call [`grown`](Self::grown) after writing to it.
    pub(crate) fn tail(&mut self) -> &mut Vec<u8> {
        &mut self.tail
    }

    /// Counts what was written to the tail.
    pub(crate) fn grown(&mut self) {
        self.len += self.tail.len() - std::mem::replace(&mut self.counted, self.tail.len());
    }

    /// Adds a piece that is not copied.
    pub(crate) fn push(&mut self, piece: Bytes) {
        self.grown();
        if !self.tail.is_empty() {
            self.pieces.push_back(std::mem::take(&mut self.tail).into());
            self.counted = 0;
        }
        if !piece.is_empty() {
            self.len += piece.len();
            self.pieces.push_back(piece);
        }
    }

    /// Takes the first piece: a large one, or all small ones joined.
    pub(crate) fn pop(&mut self) -> Option<Bytes> {
        let piece = match self.pieces.pop_front() {
            Some(piece) => piece,
            None if self.tail.is_empty() => return None,
            None => {
                self.counted = 0;
                std::mem::take(&mut self.tail).into()
            }
        };
        self.len -= piece.len();
        Some(piece)
    }

    /// The only piece, unless there are several or it is longer than [`STRIDE`].
    pub(crate) fn into_one(mut self) -> Result<Bytes, Self> {
        let is_one = self.pieces.len() + usize::from(!self.tail.is_empty()) == 1;
        if !is_one || self.len > STRIDE {
            return Err(self);
        }
        Ok(self.pop().unwrap_or_default())
    }

    /// Takes at most `limit` bytes of the first piece.
    pub(crate) fn pop_some(&mut self, limit: usize) -> Option<Bytes> {
        let mut piece = self.pop()?;
        if piece.len() > limit {
            let rest = piece.split_off(limit);
            self.len += rest.len();
            self.pieces.push_front(rest);
        }
        Some(piece)
    }

    /// Drops ranges of the bytes, in their order. Each is within one piece.
    pub(crate) fn cut(&mut self, ranges: impl IntoIterator<Item = Range<usize>>) {
        let mut ranges = ranges.into_iter().peekable();
        let mut all = std::mem::take(self);
        let mut at = 0;
        while let Some(mut piece) = all.pop() {
            let end = at + piece.len();
            while let Some(range) = ranges.next_if(|range| range.end <= end) {
                self.push(piece.split_to(range.start - at));
                let _dropped = piece.split_to(range.len());
                at = range.end;
            }
            at = end;
            self.push(piece);
        }
    }

    /// Adds all bytes of another queue.
    pub(crate) fn append(&mut self, mut more: Self) {
        if self.is_empty() {
            *self = more;
            return;
        }
        while let Some(piece) = more.pop() {
            self.push(piece);
        }
    }

    /// Drops all bytes, and frees their memory.
    pub(crate) fn clear(&mut self) {
        *self = Self::default();
    }
}
