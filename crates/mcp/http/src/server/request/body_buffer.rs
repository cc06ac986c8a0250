//! Collects a request body. A body of one piece is not copied, and the capacity is known before it grows.

use bytes::Bytes;

/// The bytes of a body that have arrived. A body that arrives in one piece is not copied.
#[derive(Debug)]
pub struct BodyBuffer(Buffer);

#[derive(Debug)]
enum Buffer {
    /// Nothing, or one piece.
    Whole(Bytes),
    Pieces(Vec<u8>),
}

impl Default for BodyBuffer {
    fn default() -> Self {
        Self(Buffer::Whole(Bytes::new()))
    }
}

impl BodyBuffer {
    /// How many bytes have arrived.
    pub fn len(&self) -> usize {
        match &self.0 {
            Buffer::Whole(bytes) => bytes.len(),
            Buffer::Pieces(bytes) => bytes.len(),
        }
    }

    /// Whether nothing has arrived.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many bytes of memory it takes after `more` bytes have come, where `expected` is the most that can come.
    pub fn capacity_with(&self, more: usize, expected: usize) -> usize {
        let needed = self.len() + more;
        match &self.0 {
            Buffer::Whole(whole) if whole.is_empty() => needed,
            Buffer::Pieces(pieces) if pieces.capacity() >= needed => pieces.capacity(),
            _ => (2 * needed).min(expected).max(needed),
        }
    }

    /// Adds a piece, where `expected` is the most bytes that can come.
    pub fn push(&mut self, data: Bytes, expected: usize) {
        let capacity = self.capacity_with(data.len(), expected);
        match &mut self.0 {
            Buffer::Whole(whole) if whole.is_empty() => *whole = data,
            Buffer::Whole(whole) => {
                let mut pieces = Vec::with_capacity(capacity);
                pieces.extend_from_slice(whole);
                pieces.extend_from_slice(&data);
                self.0 = Buffer::Pieces(pieces);
            }
            Buffer::Pieces(pieces) => {
                pieces.reserve_exact(capacity - pieces.len());
                pieces.extend_from_slice(&data);
            }
        }
    }

    /// Takes the body out.
    pub fn take(&mut self) -> Bytes {
        match std::mem::take(self).0 {
            Buffer::Whole(bytes) => bytes,
            Buffer::Pieces(bytes) => bytes.into(),
        }
    }
}
