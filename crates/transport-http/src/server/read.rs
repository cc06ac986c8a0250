use bytes::{BufMut, Bytes, BytesMut};

/// What has been read of a body.
pub(crate) enum Read {
    /// Nothing, or all of it in one piece.
    Whole(Bytes),
    Pieces(BytesMut),
}

impl Read {
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Whole(bytes) => bytes.len(),
            Self::Pieces(bytes) => bytes.len(),
        }
    }

    pub(crate) fn push(&mut self, data: Bytes) {
        match self {
            Self::Whole(whole) if whole.is_empty() => *whole = data,
            Self::Whole(whole) => {
                let mut pieces = BytesMut::with_capacity(2 * (whole.len() + data.len()));
                pieces.put_slice(whole);
                pieces.put_slice(&data);
                *self = Self::Pieces(pieces);
            }
            Self::Pieces(pieces) => pieces.put_slice(&data),
        }
    }

    pub(crate) fn take(&mut self) -> Bytes {
        match std::mem::replace(self, Self::Whole(Bytes::new())) {
            Self::Whole(bytes) => bytes,
            Self::Pieces(bytes) => bytes.freeze(),
        }
    }
}
