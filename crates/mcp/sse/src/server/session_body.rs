//! The event stream of a session as a response body. It polls the session's future and sends a comment after `keep_alive` of
//! silence.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use agentwire_transport_http::sse;
use bytes::Bytes;
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use http_body::Frame;
use tokio::time::{Instant, Sleep};

use crate::server::Stalled;
use crate::server::session::{ReadOutcome, Session};
use crate::server::sessions::Sessions;

/// The longest wait, where the clock cannot represent the end of a longer setting.
const FAR: Duration = Duration::from_secs(365 * 24 * 60 * 60);

/// The event stream of a session, as the body of the response to its GET. It polls the future that serves the session, and the
/// session ends when it is dropped.
pub(crate) struct SessionBody {
    sessions: Arc<Sessions>,
    session: Arc<Session>,
    served: Option<BoxFuture<'static, ()>>,
    /// Fires at the time of the next comment, or at `first_message_by` if that is earlier.
    timer: Pin<Box<Sleep>>,
    /// When the client's first message must have come. None once it has.
    first_message_by: Option<Instant>,
}

impl SessionBody {
    pub(crate) fn new(
        sessions: Arc<Sessions>,
        session: Arc<Session>,
        served: BoxFuture<'static, ()>,
    ) -> Self {
        sessions.begin_stream();
        let now = Instant::now();
        let first_message_by = now.checked_add(sessions.limits.opening_timeout);
        let timer = Box::pin(tokio::time::sleep(sessions.limits.keep_alive));
        Self { sessions, session, served: Some(served), timer, first_message_by }
    }

    /// Ready with a comment when the stream has been silent for `keep_alive`, and with none when the first message is overdue.
    fn poll_time(&mut self, cx: &mut Context<'_>) -> Poll<Option<Bytes>> {
        ready!(self.timer.poll_unpin(cx));
        if self.session.is_used() {
            self.first_message_by = None;
        }
        if self.first_message_by.is_some_and(|by| by <= Instant::now()) {
            return Poll::Ready(None);
        }
        self.restart_timer();
        let mut comment = Vec::with_capacity(4);
        sse::comment(&mut comment);
        Poll::Ready(Some(comment.into()))
    }

    /// Restarts the wait for the next comment.
    fn restart_timer(&mut self) {
        let now = Instant::now();
        let comment = now.checked_add(self.sessions.limits.keep_alive).unwrap_or(now + FAR);
        let next = self.first_message_by.map_or(comment, |by| by.min(comment));
        self.timer.as_mut().reset(next);
    }
}

impl http_body::Body for SessionBody {
    type Data = Bytes;
    type Error = Stalled;

    fn poll_frame(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Stalled>>> {
        let this = self.get_mut();
        if let Some(served) = &mut this.served {
            this.session.forget_reader();
            if served.poll_unpin(cx).is_ready() {
                // It has dropped its connection, or given it to a task of its own, which then ends the session.
                this.served = None;
            }
        }
        match this.session.poll_read(cx) {
            Poll::Ready(ReadOutcome::Bytes(bytes)) => {
                this.restart_timer();
                Poll::Ready(Some(Ok(Frame::data(bytes))))
            }
            Poll::Ready(ReadOutcome::End) => Poll::Ready(None),
            Poll::Ready(ReadOutcome::Cut) => {
                Poll::Ready(Some(Err(Stalled { after: this.sessions.limits.stall })))
            }
            Poll::Pending => this.poll_time(cx).map(|bytes| bytes.map(|bytes| Ok(Frame::data(bytes)))),
        }
    }
}

impl Drop for SessionBody {
    fn drop(&mut self) {
        self.sessions.remove(&self.session);
        self.session.leave();
        // Before the stream counts as ended.
        self.served = None;
        self.sessions.end_stream();
    }
}
