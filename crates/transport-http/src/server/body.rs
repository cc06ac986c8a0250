use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body::{Frame, SizeHint};

use crate::server::Reservation;
use crate::server::answering::LEAST_COST;
use crate::server::exchange::RunningExchange;
use crate::server::outlet::Reader;
use crate::server::queue::Queue;
use crate::server::text::Text;

pub(crate) type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// The body of a response.
///
/// Dropping it tells the other side of a stream that the client has left. It fails with [`Stalled`], and with
/// whatever a body fails with that it was [made of](Body::new).
#[derive(Debug)]
pub struct Body(Box<Kind>);

/// In a box, because responses are moved often on their way.
enum Kind {
    /// All of it is known.
    Whole { text: Text, next: usize, reservation: Option<Reservation> },
    /// So is that of a stream of events.
    Said(Queue, Option<Reservation>),
    /// A stream of events; what is replayed stands before what comes.
    Stream { replayed: Bytes, running: Option<RunningExchange>, reader: Reader },
    /// One that is not of this crate.
    Foreign(Box<dyn Foreign>),
}

/// Why a stream was cut: the client has left it unread for longer than the endpoint waits.
#[derive(Debug, Clone, Copy, thiserror::Error)]
#[error("the client left its stream unread for longer than the limit of {0:?}")]
pub struct Stalled(pub(crate) std::time::Duration);

/// Why a stream was cut: its client leaves more unread than the endpoint keeps for one caller, or for all.
#[derive(Debug, Clone, Copy, thiserror::Error)]
#[error("the client leaves more unread than the limit allows")]
pub(crate) struct TooMuchUnread;

impl Body {
    /// Any other body, for a [`Mount`](crate::server::Mount) of your own.
    pub fn new<B>(body: B) -> Self
    where
        B: http_body::Body<Data = Bytes, Error: Into<BoxError>> + Send + Unpin + 'static,
    {
        Self(Box::new(Kind::Foreign(Box::new(body))))
    }

    /// A body without a byte.
    pub fn empty() -> Self {
        Self::whole(Text::default(), None)
    }

    /// A body for which that memory is reserved until it has been written.
    pub(crate) fn whole(text: Text, reservation: Option<Reservation>) -> Self {
        Self(Box::new(Kind::Whole { text, next: 0, reservation }))
    }

    /// The same for events.
    pub(crate) fn said(events: Queue, reservation: Option<Reservation>) -> Self {
        Self(Box::new(Kind::Said(events, reservation)))
    }

    pub(crate) fn stream(replayed: Bytes, mut reader: Reader, running: Option<RunningExchange>) -> Self {
        reader.register();
        Self(Box::new(Kind::Stream { replayed, running, reader }))
    }
}

impl http_body::Body for Body {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        match &mut *self.get_mut().0 {
            Kind::Whole { text, next, reservation } => {
                let piece = text.0.get_mut(*next..).and_then(|rest| {
                    let at = rest.iter().position(|piece| !piece.is_empty())?;
                    *next += at + 1;
                    Some(std::mem::take(&mut rest[at]))
                });
                let is_last = text.0.iter().skip(*next).all(Bytes::is_empty);
                Poll::Ready(piece.map(|piece| Ok(Frame::data(held(piece, is_last, reservation)))))
            }
            Kind::Said(events, reservation) => {
                let piece = events.pop();
                Poll::Ready(piece.map(|piece| Ok(Frame::data(held(piece, events.is_empty(), reservation)))))
            }
            Kind::Stream { replayed, reader, .. } if !replayed.is_empty() => {
                Poll::Ready(Some(Ok(Frame::data(reader.replay(replayed)))))
            }
            Kind::Stream { reader, running, .. } => {
                running.take_if(|running| running.poll(cx).is_ready());
                reader.poll_read(cx).map(|bytes| Some(bytes?.map(Frame::data)))
            }
            Kind::Foreign(body) => body.poll_frame(cx),
        }
    }

    fn is_end_stream(&self) -> bool {
        match &*self.0 {
            Kind::Whole { text, next, .. } => text.0.iter().skip(*next).all(Bytes::is_empty),
            Kind::Said(events, _) => events.is_empty(),
            Kind::Stream { replayed, reader, .. } => replayed.is_empty() && reader.is_at_end(),
            Kind::Foreign(body) => body.is_end_stream(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match &*self.0 {
            Kind::Whole { text, next, .. } => {
                SizeHint::with_exact(text.0.iter().skip(*next).map(|piece| piece.len() as u64).sum())
            }
            Kind::Said(events, _) => SizeHint::with_exact(events.len() as u64),
            Kind::Stream { .. } => SizeHint::default(),
            Kind::Foreign(body) => body.size_hint(),
        }
    }
}

impl From<Bytes> for Body {
    fn from(bytes: Bytes) -> Self {
        Self::whole(bytes.into(), None)
    }
}

/// A piece of a body. The last one keeps the memory reserved that the whole body takes, because it is written last.
fn held(piece: Bytes, is_last: bool, reservation: &mut Option<Reservation>) -> Bytes {
    match reservation.take_if(|reservation| is_last && reservation.amount() > LEAST_COST) {
        Some(reservation) => reservation.held_by(piece),
        None => piece,
    }
}

impl fmt::Debug for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Whole { .. } => "Whole",
            Self::Said(..) => "Said",
            Self::Stream { .. } => "Stream",
            Self::Foreign(_) => "Foreign",
        })
    }
}

/// [`http_body::Body`] with whatever error.
trait Foreign: Send {
    fn poll_frame(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, BoxError>>>;
    fn is_end_stream(&self) -> bool;
    fn size_hint(&self) -> SizeHint;
}

impl<B> Foreign for B
where
    B: http_body::Body<Data = Bytes, Error: Into<BoxError>> + Send + Unpin,
{
    fn poll_frame(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        Pin::new(self).poll_frame(cx).map(|frame| Some(frame?.map_err(Into::into)))
    }

    fn is_end_stream(&self) -> bool {
        http_body::Body::is_end_stream(self)
    }

    fn size_hint(&self) -> SizeHint {
        http_body::Body::size_hint(self)
    }
}
