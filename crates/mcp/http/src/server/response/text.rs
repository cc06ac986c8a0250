//! The JSON text of a response in up to three pieces. A body from 32 KiB on is shared, not copied.

use agentwire_jsonrpc::Frame;
use bytes::Bytes;

use crate::server::response::queue::COPY_LIMIT;

/// A JSON text in up to three pieces, so that a large `params` or `result` is not copied.
#[derive(Debug, Default)]
pub(crate) struct Text(pub(crate) [Bytes; 3]);

impl From<Vec<u8>> for Text {
    fn from(text: Vec<u8>) -> Self {
        Bytes::from(text).into()
    }
}

impl From<Bytes> for Text {
    fn from(text: Bytes) -> Self {
        Self([text, Bytes::new(), Bytes::new()])
    }
}

impl Text {
    /// The text of a frame.
    pub(crate) fn of(frame: &Frame) -> Self {
        match frame {
            Frame::Single(message) if message.body().is_some_and(|body| body.len() >= COPY_LIMIT) => {
                let (mut head, mut tail) = (Vec::with_capacity(128), Vec::with_capacity(8));
                message.write_head(&mut head);
                message.write_tail(&mut tail);
                let body = message.body().map(|body| body.clone().into_bytes()).unwrap_or_default();
                Self([head.into(), body, tail.into()])
            }
            frame => {
                let capacity =
                    if let Frame::Single(message) = frame { message.capacity() } else { frame.size_hint() };
                let mut text = Vec::with_capacity(capacity);
                frame.write(&mut text);
                text.into()
            }
        }
    }

    /// The text, if it is in one piece.
    pub(crate) fn into_one(self) -> Result<Bytes, Self> {
        match self {
            Self([text, rest, _]) if rest.is_empty() => Ok(text),
            text => Err(text),
        }
    }

    pub(crate) fn joined(&self) -> Bytes {
        match &self.0 {
            [text, rest, _] if rest.is_empty() => text.clone(),
            pieces => pieces.concat().into(),
        }
    }
}
