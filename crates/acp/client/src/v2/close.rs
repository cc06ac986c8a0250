//! The request that closes a session, which also ends the session's turns here.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use agentwire_acp_schema::v2::{CloseSessionResponse, SessionId, error_code};
use agentwire_peer::{Call, CallError};

use super::ConnectionState;
use super::turn_end::EndDetector;

/// The closing of a session; see [`AgentHandle::close_session`](super::AgentHandle::close_session).
#[derive(Debug)]
#[must_use = "a session is not closed until this is awaited"]
pub struct CloseCall {
    pub(crate) call: Call<CloseSessionResponse>,
    pub(crate) shared: Arc<ConnectionState>,
    pub(crate) session_id: SessionId,
}

impl CloseCall {
    /// Sets the time limit of the answer (default: none).
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.call = self.call.timeout(timeout);
        self
    }
}

impl Future for CloseCall {
    type Output = Result<CloseSessionResponse, CallError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let closed = match ready!(Pin::new(&mut self.call).poll(cx)) {
            Err(error) if error.refusal().is_some_and(|why| why.code == error_code::RESOURCE_NOT_FOUND) => {
                Ok(CloseSessionResponse::new())
            }
            closed => closed,
        };
        if closed.is_ok() {
            self.shared.forget(&self.session_id);
            self.shared.readers.update_observers(&self.session_id, EndDetector::close);
        }
        Poll::Ready(closed)
    }
}
