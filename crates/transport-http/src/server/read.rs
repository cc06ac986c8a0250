use bytes::Bytes;

/// What has been read of a body.
pub(crate) enum Read {
    /// Nothing, or all of it in one piece.
    Whole(Bytes),
    Pieces(Vec<u8>),
}

impl Read {
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Whole(bytes) => bytes.len(),
            Self::Pieces(bytes) => bytes.len(),
        }
    }

    /// How many bytes of memory it takes after `more` bytes have come, where `expected` is the most that can come.
    pub(crate) fn capacity_with(&self, more: usize, expected: usize) -> usize {
        let needed = self.len() + more;
        match self {
            Self::Whole(whole) if whole.is_empty() => needed,
            Self::Pieces(pieces) if pieces.capacity() >= needed => pieces.capacity(),
            _ => (2 * needed).min(expected).max(needed),
        }
    }

    pub(crate) fn push(&mut self, data: Bytes, expected: usize) {
        let capacity = self.capacity_with(data.len(), expected);
        match self {
            Self::Whole(whole) if whole.is_empty() => *whole = data,
            Self::Whole(whole) => {
                let mut pieces = Vec::with_capacity(capacity);
                pieces.extend_from_slice(whole);
                pieces.extend_from_slice(&data);
                *self = Self::Pieces(pieces);
            }
            Self::Pieces(pieces) => {
                pieces.reserve_exact(capacity - pieces.len());
                pieces.extend_from_slice(&data);
            }
        }
    }

    pub(crate) fn take(&mut self) -> Bytes {
        match std::mem::replace(self, Self::Whole(Bytes::new())) {
            Self::Whole(bytes) => bytes,
            Self::Pieces(bytes) => bytes.into(),
        }
    }
}
