use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body::{Frame, SizeHint};

use crate::server::outlet::{Reader, Text};

/// The body of a response.
///
/// Dropping it tells the other side of a stream that the client has left.
#[derive(Debug)]
pub struct Body(Kind);

#[derive(Debug)]
enum Kind {
    /// All of it is known.
    Whole { text: Text, next: usize },
    /// A stream of events; what is replayed stands before what comes.
    Stream { replayed: Bytes, reader: Reader },
}

/// Why a stream was cut: the client has left it unread for longer than the endpoint waits.
#[derive(Debug, Clone, Copy, thiserror::Error)]
#[error("the client left its stream unread for longer than the limit of {0:?}")]
pub struct Stalled(pub(crate) std::time::Duration);

impl Body {
    pub(crate) fn empty() -> Self {
        Self::whole(Text::default())
    }

    pub(crate) fn whole(text: Text) -> Self {
        Self(Kind::Whole { text, next: 0 })
    }

    pub(crate) fn stream(replayed: Bytes, reader: Reader) -> Self {
        Self(Kind::Stream { replayed, reader })
    }
}

impl http_body::Body for Body {
    type Data = Bytes;
    type Error = Stalled;

    fn poll_frame(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Stalled>>> {
        match &mut self.get_mut().0 {
            Kind::Whole { text, next } => {
                while let Some(piece) = text.0.get_mut(*next) {
                    *next += 1;
                    if !piece.is_empty() {
                        return Poll::Ready(Some(Ok(Frame::data(std::mem::take(piece)))));
                    }
                }
                Poll::Ready(None)
            }
            Kind::Stream { replayed, .. } if !replayed.is_empty() => {
                Poll::Ready(Some(Ok(Frame::data(std::mem::take(replayed)))))
            }
            Kind::Stream { reader, .. } => {
                reader.poll_read(cx).map(|bytes| bytes.map(|bytes| bytes.map(Frame::data)))
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        match &self.0 {
            Kind::Whole { text, next } => text.0.iter().skip(*next).all(Bytes::is_empty),
            Kind::Stream { replayed, reader } => replayed.is_empty() && reader.is_at_end(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match &self.0 {
            Kind::Whole { text, next } => {
                SizeHint::with_exact(text.0.iter().skip(*next).map(|piece| piece.len() as u64).sum())
            }
            Kind::Stream { .. } => SizeHint::default(),
        }
    }
}
