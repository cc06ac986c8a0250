//! Reads response bodies with an idle timeout: in pieces, whole up to a size limit, or only the beginning.

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use futures::StreamExt;
use tokio::time::{Instant, Sleep};

use crate::client::{Body, HttpError, Wait};

/// The most bytes of the body of a refusal that are read.
const REFUSAL_LIMIT: usize = 64 << 10;

/// How much of a body that is not JSON-RPC an error shows, in bytes.
const EXCERPT: usize = 256;

/// The body of a response, with a limit on how long it may be silent.
pub(crate) struct TimedBody {
    body: Body,
    idle_timeout: Duration,
    /// Made at the first wait, and only moved by those after it.
    alarm: Option<Pin<Box<Sleep>>>,
    waiting: bool,
}

impl TimedBody {
    pub(crate) fn new(body: Body, idle_timeout: Duration) -> Self {
        Self { body, idle_timeout, alarm: None, waiting: false }
    }

    /// The next piece; none at the end.
    async fn next_piece(&mut self) -> Result<Option<Bytes>, HttpError> {
        poll_fn(|cx| self.poll_piece(cx)).await
    }

    pub(crate) fn poll_piece(&mut self, cx: &mut Context<'_>) -> Poll<Result<Option<Bytes>, HttpError>> {
        if let Poll::Ready(piece) = self.body.poll_next_unpin(cx) {
            self.waiting = false;
            return Poll::Ready(piece.transpose().map_err(HttpError::Broken));
        }
        if !std::mem::replace(&mut self.waiting, true) {
            // `None` if the limit is further away than the clock goes.
            let until = Instant::now().checked_add(self.idle_timeout);
            match (&mut self.alarm, until) {
                (Some(alarm), Some(until)) => alarm.as_mut().reset(until),
                (alarm, until) => *alarm = until.map(|until| Box::pin(tokio::time::sleep_until(until))),
            }
        }
        let elapsed = self.alarm.as_mut().is_some_and(|alarm| alarm.as_mut().poll(cx).is_ready());
        if elapsed {
            Poll::Ready(Err(HttpError::TimedOut { wait: Wait::NextByte, after: self.idle_timeout }))
        } else {
            Poll::Pending
        }
    }

    /// All of the body, if it is no longer than `limit`. One that arrives in one piece is not copied.
    pub(crate) async fn collect(mut self, limit: usize) -> Result<Bytes, HttpError> {
        let mut first = Bytes::new();
        let mut joined = BytesMut::new();
        while let Some(piece) = self.next_piece().await? {
            if first.len() + joined.len() + piece.len() > limit {
                return Err(HttpError::TooLong { limit });
            }
            if first.is_empty() && joined.is_empty() {
                first = piece;
                continue;
            }
            joined.extend_from_slice(&std::mem::take(&mut first));
            joined.extend_from_slice(&piece);
        }
        Ok(if joined.is_empty() { first } else { joined.freeze() })
    }

    /// The beginning of the body, as much of it as comes in time.
    pub(crate) async fn beginning(mut self, time: Duration) -> Vec<u8> {
        let mut start = Vec::new();
        // At the end of the time the received part is returned.
        let _ = tokio::time::timeout(time, self.read_beginning(&mut start)).await;
        start
    }

    async fn read_beginning(&mut self, start: &mut Vec<u8>) {
        while start.len() < REFUSAL_LIMIT {
            match self.next_piece().await {
                Ok(Some(piece)) => {
                    start.extend_from_slice(&piece[..piece.len().min(REFUSAL_LIMIT - start.len())])
                }
                Ok(None) | Err(_) => break,
            }
        }
    }

    /// Reads the body to its end, so that its connection can be used again. Stops after [`LINGER`].
    pub(crate) async fn drain(self) {
        self.beginning(LINGER).await;
    }
}

/// How long an answered response is still read, so that its connection can be used again.
pub(crate) const LINGER: Duration = Duration::from_secs(1);

/// How long the body of a refusal is read.
pub(crate) const REFUSAL_TIME: Duration = Duration::from_secs(5);

/// The beginning of a body as one line of text.
pub(crate) fn excerpt(body: &[u8]) -> String {
    let text = String::from_utf8_lossy(&body[..body.len().min(EXCERPT)]);
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
