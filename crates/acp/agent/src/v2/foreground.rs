//! Foreground work that the agent begins without a prompt.

use std::future::Future;
use std::sync::Arc;

use agentwire_acp_schema::v2::{IdleStopReason, SessionId, UpdateSessionNotification};
use agentwire_jsonrpc::NotificationMethod;
use agentwire_peer::CallError;
use agentwire_peer::runtime::PeerExt;
use futures_util::FutureExt;
use futures_util::future::AbortHandle;

use super::RemoteClient;
use super::work::Work;
use super::work_guard::WorkGuard;

impl RemoteClient {
    /// Begins foreground work in a session without a prompt. The client gets the state `running` now, and
    /// `idle` when all foreground work of the session has ended.
    ///
    /// # Errors
    ///
    /// If the session is closed or closing.
    pub fn begin_work(&self, session_id: impl Into<SessionId>) -> Result<ForegroundWork, CallError> {
        let session = session_id.into();
        ForegroundWork::begin(self, &session).ok_or_else(|| {
            CallError::not_allowed(
                UpdateSessionNotification::NAME,
                format!("the session {session:?} is closed"),
            )
        })
    }
}

/// Foreground work in a session without a prompt; see [`RemoteClient::begin_work`].
///
/// Dropping this ends the work: as cancelled if the work was cancelled, and as failed otherwise.
#[derive(Debug)]
pub struct ForegroundWork {
    client: RemoteClient,
    work: Arc<Work>,
    guard: WorkGuard,
}

impl ForegroundWork {
    /// Returns `None` if the session is closed or closing.
    pub(crate) fn begin(client: &RemoteClient, session: &SessionId) -> Option<Self> {
        let state = client.state.clone();
        state.sessions.check_takes_work(session).ok()?;
        let peer = client.peer.unrelated();
        // The agent's code owns this work, so there is no future to drop.
        let (nothing, _) = AbortHandle::new_pair();
        let (key, work) = state.sessions.begin(session, usize::MAX, nothing)?;
        state.sessions.accept(&peer, &work, || {});
        let guard = WorkGuard::new(state.clone(), peer.clone(), key);
        let client = RemoteClient { peer, state, work: Some(work.clone()) };
        Some(Self { client, work, guard })
    }

    /// Returns the client. Requests to the user through this handle are withdrawn when the work is cancelled or ends.
    pub fn client(&self) -> &RemoteClient {
        &self.client
    }

    /// Returns the id of the session.
    pub fn session_id(&self) -> &SessionId {
        &self.work.session
    }

    /// Completes when `session/cancel` or `session/close` cancels the work, or when it ends.
    pub fn cancelled(&self) -> impl Future<Output = ()> + Send + use<> {
        self.work.stop_signal().map(|_| ())
    }

    /// Returns whether the work is cancelled.
    pub fn is_cancelled(&self) -> bool {
        self.work.is_cancelled()
    }

    /// Ends the work. When no other work runs in the session, the client gets the state `idle` with the reason, or with
    /// `cancelled` if the work was cancelled.
    pub fn end(mut self, reason: IdleStopReason) {
        self.guard.finish(reason);
    }
}
