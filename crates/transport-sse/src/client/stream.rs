use std::future::poll_fn;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use agentwire_transport_http::client::Body;
use agentwire_transport_http::sse::{Decoder, Event};
use futures::{FutureExt, StreamExt};
use tokio::time::{Instant, Sleep};

use crate::client::{Config, SseError, Wait};

/// After so many pieces in a row that were there at once and held no event, others get their turn.
const PIECES_AT_ONCE: u32 = 16;

/// A body of events that is being read.
pub(crate) struct Events {
    body: Body,
    decoder: Decoder,
    idle_timeout: Option<Duration>,
    /// Made at the first wait, and only moved by those after it.
    alarm: Option<Pin<Box<Sleep>>>,
    waiting: bool,
}

impl Events {
    pub(crate) fn new(body: Body, config: &Config) -> Self {
        // The limit is that of the message; the rest of the line is the name of its field.
        let decoder = Decoder::new(config.message_limit.saturating_add("data: ".len()));
        Self { body, decoder, idle_timeout: config.idle_timeout, alarm: None, waiting: false }
    }

    /// The next event; none at the end of the body.
    pub(crate) async fn next_event(&mut self) -> Result<Option<Event>, SseError> {
        poll_fn(|cx| self.poll_event(cx)).await
    }

    pub(crate) fn poll_event(&mut self, cx: &mut Context<'_>) -> Poll<Result<Option<Event>, SseError>> {
        for _ in 0..PIECES_AT_ONCE {
            if let Some(event) = self.decoder.next_event()? {
                return Poll::Ready(Ok(Some(event)));
            }
            match self.body.poll_next_unpin(cx) {
                Poll::Ready(Some(Ok(piece))) => self.decoder.push(piece),
                Poll::Ready(Some(Err(error))) => return Poll::Ready(Err(SseError::Broken(error))),
                Poll::Ready(None) => return Poll::Ready(Ok(None)),
                Poll::Pending => return self.poll_time(cx),
            }
            self.waiting = false;
        }
        // A server that only ever sends comments starves nobody.
        cx.waker().wake_by_ref();
        Poll::Pending
    }

    fn poll_time(&mut self, cx: &mut Context<'_>) -> Poll<Result<Option<Event>, SseError>> {
        let Some(after) = self.idle_timeout else {
            return Poll::Pending;
        };
        if !std::mem::replace(&mut self.waiting, true) {
            // None where the limit is further away than the clock goes.
            let until = Instant::now().checked_add(after);
            match (&mut self.alarm, until) {
                (Some(alarm), Some(until)) => alarm.as_mut().reset(until),
                (alarm, until) => *alarm = until.map(|until| Box::pin(tokio::time::sleep_until(until))),
            }
        }
        match self.alarm.as_mut().map(|alarm| alarm.poll_unpin(cx)) {
            Some(Poll::Ready(())) => Poll::Ready(Err(SseError::TimedOut { wait: Wait::NextByte, after })),
            Some(Poll::Pending) | None => Poll::Pending,
        }
    }
}
