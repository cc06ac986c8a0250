//! Reads a response body as server-sent events with an idle timeout. Each poll yields after 16 pieces without an event.

use std::future::poll_fn;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use crate::client::exchange::body::TimedBody;
use crate::client::{Body, HttpError};
use crate::sse::{Decoder, Event};

/// After so many consecutive pieces without an event the other futures of the task get their turn.
const PIECES_AT_ONCE: u32 = 16;

/// The body of a response that is a stream of events, and how long it may be silent.
///
/// It is for other transports over an [`HttpClient`](crate::client::HttpClient); [`Http`](crate::client::Http) reads its
/// streams by itself.
pub struct EventStream {
    body: TimedBody,
    decoder: Decoder,
}

impl EventStream {
    /// Reads a body. No line of it is longer than `limit` bytes; without an `idle_timeout` it may be silent for ever.
    pub fn new(body: Body, idle_timeout: Option<Duration>, limit: usize) -> Self {
        Self::of(TimedBody::new(body, idle_timeout.unwrap_or(Duration::MAX)), limit)
    }

    pub(crate) fn of(body: TimedBody, limit: usize) -> Self {
        Self { body, decoder: Decoder::new(limit) }
    }

    /// The next event; none at the end of the body.
    ///
    /// # Errors
    ///
    /// [`HttpError::Broken`], [`HttpError::TimedOut`] and [`HttpError::Stream`]. The stream is over then.
    pub async fn next_event(&mut self) -> Result<Option<Event>, HttpError> {
        poll_fn(|cx| self.poll_event(cx)).await
    }

    /// The content of the body besides events, once the body has ended.
    pub(crate) fn unread(&self) -> Option<&'static str> {
        self.decoder.unread()
    }

    /// [`next_event`](Self::next_event) as a poll.
    pub fn poll_event(&mut self, cx: &mut Context<'_>) -> Poll<Result<Option<Event>, HttpError>> {
        for _ in 0..PIECES_AT_ONCE {
            if let Some(event) = self.decoder.next_event()? {
                return Poll::Ready(Ok(Some(event)));
            }
            match ready!(self.body.poll_piece(cx))? {
                Some(piece) => self.decoder.push(piece),
                None => return Poll::Ready(Ok(None)),
            }
        }
        // A server that only sends comments must not starve other futures.
        cx.waker().wake_by_ref();
        Poll::Pending
    }
}

impl std::fmt::Debug for EventStream {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("EventStream").finish_non_exhaustive()
    }
}
