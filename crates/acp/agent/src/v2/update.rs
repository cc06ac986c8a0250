//! The future that sends an update of a session.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use agentwire_acp_schema::v2::UpdateSessionNotification;
use agentwire_peer::{CallError, Notify};

use super::sessions::Sessions;

/// A future that sends an update; see [`RemoteClient::session_update`](super::RemoteClient::session_update).
#[derive(Debug)]
#[must_use = "an update is not sent until it is awaited"]
pub struct Update<'a> {
    pub(crate) sessions: &'a Sessions,
    pub(crate) notification: UpdateSessionNotification,
    pub(crate) notify: Notify<'a>,
}

impl Future for Update<'_> {
    type Output = Result<(), CallError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = &mut *self;
        this.sessions.send(&this.notification, || Pin::new(&mut this.notify).poll(cx))
    }
}
