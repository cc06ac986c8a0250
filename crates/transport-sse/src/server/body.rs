use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use agentwire_transport_http::sse;
use bytes::Bytes;
use futures::FutureExt;
use futures::future::BoxFuture;
use http_body::Frame;
use tokio::time::{Instant, Sleep};

use crate::server::Stalled;
use crate::server::session::{Reading, Session};
use crate::server::shared::Shared;

/// Where the clock does not go as far as a setting.
const FAR: Duration = Duration::from_secs(365 * 24 * 60 * 60);

/// The stream of a session. The session lasts as long as it, and the future that serves the session is polled with it.
pub(crate) struct Events {
    shared: Arc<Shared>,
    session: Arc<Session>,
    served: Option<BoxFuture<'static, ()>>,
    /// Until the client should have been heard, and then until the next comment.
    alarm: Pin<Box<Sleep>>,
    /// When the client must have said something.
    heard_by: Option<Instant>,
}

impl Events {
    pub(crate) fn new(shared: Arc<Shared>, session: Arc<Session>, served: BoxFuture<'static, ()>) -> Self {
        let now = Instant::now();
        let heard_by = now.checked_add(shared.limits.opening_timeout);
        let alarm = Box::pin(tokio::time::sleep(shared.limits.keep_alive));
        Self { shared, session, served: Some(served), alarm, heard_by }
    }

    /// What it is time for: a comment, or, with none, the end.
    fn poll_time(&mut self, cx: &mut Context<'_>) -> Poll<Option<Bytes>> {
        ready!(self.alarm.poll_unpin(cx));
        if self.session.is_heard() {
            self.heard_by = None;
        }
        if self.heard_by.is_some_and(|by| by <= Instant::now()) {
            return Poll::Ready(None);
        }
        self.rest();
        let mut comment = Vec::with_capacity(4);
        sse::comment(&mut comment);
        Poll::Ready(Some(comment.into()))
    }

    /// Something is sent, so silence begins anew.
    fn rest(&mut self) {
        let now = Instant::now();
        let comment = now.checked_add(self.shared.limits.keep_alive).unwrap_or(now + FAR);
        let next = self.heard_by.map_or(comment, |by| by.min(comment));
        self.alarm.as_mut().reset(next);
    }
}

impl http_body::Body for Events {
    type Data = Bytes;
    type Error = Stalled;

    fn poll_frame(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Stalled>>> {
        let this = self.get_mut();
        if let Some(served) = &mut this.served {
            this.session.look();
            if served.poll_unpin(cx).is_ready() {
                // It has dropped its link, or given it to a task of its own, which then ends the session.
                this.served = None;
            }
        }
        match this.session.poll_read(cx) {
            Poll::Ready(Reading::Bytes(bytes)) => {
                this.rest();
                Poll::Ready(Some(Ok(Frame::data(bytes))))
            }
            Poll::Ready(Reading::End) => Poll::Ready(None),
            Poll::Ready(Reading::Cut) => Poll::Ready(Some(Err(Stalled { after: this.shared.limits.stall }))),
            Poll::Pending => this.poll_time(cx).map(|bytes| bytes.map(|bytes| Ok(Frame::data(bytes)))),
        }
    }
}

impl Drop for Events {
    fn drop(&mut self) {
        self.shared.forget(&self.session);
        self.session.leave();
    }
}
