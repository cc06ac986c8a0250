//! The body of a server response: one text, several pieces, queued events, a live event stream, or a foreign body. Its bytes keep
//! their memory reservation.

use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use futures::FutureExt;
use http_body::{Frame, SizeHint};

use crate::server::admission::quota::{MIN_COST, Reservation};
use crate::server::response::queue::{Queue, STRIDE};
use crate::server::response::replay_piece::{AfterReplay, ReplayPiece};
use crate::server::response::text::Text;
use crate::server::response_stream::{BoxError, StreamReader};
use crate::server::running_exchange::StreamedExchange;

/// The body of a response.
///
/// Dropping it means that the client has left. It fails with [`Stalled`](crate::server::Stalled), and with the errors of the body
/// that it was [made of](Body::new).
#[derive(Debug)]
pub struct Body(Content);

/// All but the most frequent are in boxes, because responses are moved often on their way.
enum Content {
    /// One text.
    Text { text: Bytes, reservation: Option<Reservation> },
    /// A long text, of which a part is not copied.
    Pieces(Box<Pieces>),
    /// All events of a stream.
    Events(Box<(Queue, Option<Reservation>)>),
    /// A stream of events, of which more may come.
    Stream(Box<StreamContent>),
    /// A stream that is resumed.
    Replayed(Box<ReplayContent>),
    /// A body of another type.
    Foreign(Box<dyn Foreign>),
}

struct Pieces {
    text: Text,
    next: usize,
    reservation: Option<Reservation>,
}

/// A stream of events that may go on. The service is dropped before the reader: otherwise it would see the end of the reader as
/// a client that has left.
struct StreamContent {
    exchange: Option<StreamedExchange>,
    reader: StreamReader,
}

impl Body {
    /// Any other body, for a [`Mount`](crate::server::Mount) of your own.
    pub fn new<B>(body: B) -> Self
    where
        B: http_body::Body<Data = Bytes, Error: Into<BoxError>> + Send + Unpin + 'static,
    {
        Self(Content::Foreign(Box::new(body)))
    }

    /// A body without a byte.
    pub fn empty() -> Self {
        Bytes::new().into()
    }

    /// A body of one text. The memory stays reserved until the body has been written.
    pub(crate) fn text(text: Text, reservation: Option<Reservation>) -> Self {
        Self(match text.into_one() {
            Ok(text) => Content::Text { text, reservation },
            Err(text) => Content::Pieces(Box::new(Pieces { text, next: 0, reservation })),
        })
    }

    /// The same for events.
    pub(crate) fn events(events: Queue, reservation: Option<Reservation>) -> Self {
        Self(Content::Events(Box::new((events, reservation))))
    }

    pub(crate) fn stream(mut reader: StreamReader, exchange: Option<StreamedExchange>) -> Self {
        reader.register();
        Self(Content::Stream(Box::new(StreamContent { exchange, reader })))
    }

    /// A stream that is resumed, with the memory of its request.
    pub(crate) fn replayed(first: ReplayPiece, reservation: Option<Reservation>) -> Self {
        let ReplayPiece { text, then } = first;
        if let AfterReplay::End = then {
            return Self::text(text.into(), reservation);
        }
        let mut content = ReplayContent { text, then, reservation };
        content.enter();
        Self(Content::Replayed(Box::new(content)))
    }
}

impl http_body::Body for Body {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        match &mut self.get_mut().0 {
            Content::Text { text, .. } if text.is_empty() => Poll::Ready(None),
            Content::Text { text, reservation } => {
                Poll::Ready(Some(Ok(Frame::data(held(std::mem::take(text), true, reservation)))))
            }
            Content::Pieces(pieces) => {
                let piece = pieces.take_next();
                let is_last = pieces.rest().all(Bytes::is_empty);
                let reservation = &mut pieces.reservation;
                Poll::Ready(piece.map(|piece| Ok(Frame::data(held(piece, is_last, reservation)))))
            }
            Content::Events(events) => {
                let (events, reservation) = &mut **events;
                let piece = events.pop();
                Poll::Ready(piece.map(|piece| Ok(Frame::data(held(piece, events.is_empty(), reservation)))))
            }
            Content::Stream(stream) => stream.poll_frame(cx),
            Content::Replayed(replayed) => replayed.poll_frame(cx),
            Content::Foreign(body) => body.poll_frame(cx),
        }
    }

    fn is_end_stream(&self) -> bool {
        match &self.0 {
            Content::Text { text, .. } => text.is_empty(),
            Content::Pieces(pieces) => pieces.rest().all(Bytes::is_empty),
            Content::Events(events) => events.0.is_empty(),
            Content::Stream(stream) => stream.reader.is_at_end(),
            Content::Replayed(replayed) => replayed.is_at_end(),
            Content::Foreign(body) => body.is_end_stream(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match &self.0 {
            Content::Text { text, .. } => SizeHint::with_exact(text.len() as u64),
            Content::Pieces(pieces) => {
                SizeHint::with_exact(pieces.rest().map(|piece| piece.len() as u64).sum())
            }
            Content::Events(events) => SizeHint::with_exact(events.0.len() as u64),
            Content::Stream(_) | Content::Replayed(_) => SizeHint::default(),
            Content::Foreign(body) => body.size_hint(),
        }
    }
}

impl Pieces {
    /// The bytes that were not taken.
    fn rest(&self) -> impl Iterator<Item = &Bytes> {
        self.text.0.iter().skip(self.next)
    }

    fn take_next(&mut self) -> Option<Bytes> {
        let rest = self.text.0.get_mut(self.next..)?;
        let at = rest.iter().position(|piece| !piece.is_empty())?;
        self.next += at + 1;
        Some(std::mem::take(&mut rest[at]))
    }
}

impl StreamContent {
    fn poll_frame(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        self.exchange.take_if(|exchange| exchange.poll(cx).is_ready());
        self.reader.poll_read(cx).map(|bytes| Some(bytes?.map(Frame::data)))
    }
}

/// A stream that is resumed: the events that its client has missed, and then the live ones.
struct ReplayContent {
    text: Bytes,
    then: AfterReplay,
    /// The memory of the request, unless a reader has it.
    reservation: Option<Reservation>,
}

impl ReplayContent {
    /// Gives the reader of a live stream the memory of the request, and starts its timers.
    fn enter(&mut self) {
        if let AfterReplay::Live(reader) = &mut self.then {
            if let Some(reservation) = self.reservation.take() {
                reader.reserve(reservation);
            }
            reader.register();
        }
    }

    fn poll_frame(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        loop {
            match &mut self.then {
                AfterReplay::Live(reader) if !self.text.is_empty() => {
                    return Poll::Ready(Some(Ok(Frame::data(reader.replay(&mut self.text)))));
                }
                _ if !self.text.is_empty() => {
                    let piece = self.text.split_to(self.text.len().min(STRIDE));
                    return Poll::Ready(Some(Ok(Frame::data(piece))));
                }
                AfterReplay::Live(reader) => {
                    return reader.poll_read(cx).map(|bytes| Some(bytes?.map(Frame::data)));
                }
                AfterReplay::End => return Poll::Ready(None),
                AfterReplay::More(next) => {
                    let ReplayPiece { text, then } = ready!(next.poll_unpin(cx));
                    (self.text, self.then) = (text, then);
                    self.enter();
                }
            }
        }
    }

    fn is_at_end(&self) -> bool {
        self.text.is_empty()
            && match &self.then {
                AfterReplay::More(_) => false,
                AfterReplay::Live(reader) => reader.is_at_end(),
                AfterReplay::End => true,
            }
    }
}

impl From<Bytes> for Body {
    fn from(bytes: Bytes) -> Self {
        Self(Content::Text { text: bytes, reservation: None })
    }
}

/// A piece of a body. The last one keeps the memory reserved that the whole body takes, because it is written last.
fn held(piece: Bytes, is_last: bool, reservation: &mut Option<Reservation>) -> Bytes {
    match reservation.take_if(|reservation| is_last && reservation.amount() > MIN_COST) {
        Some(reservation) => reservation.held_by(piece),
        None => piece,
    }
}

impl fmt::Debug for Content {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Text { .. } => "Text",
            Self::Pieces(_) => "Pieces",
            Self::Events(_) => "Events",
            Self::Stream(_) => "Stream",
            Self::Replayed(_) => "Replayed",
            Self::Foreign(_) => "Foreign",
        })
    }
}

/// [`http_body::Body`] with a boxed error.
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
