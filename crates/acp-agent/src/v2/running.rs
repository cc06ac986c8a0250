use std::future::Future;
use std::sync::Arc;

use agentwire_acp_schema::v2::{IdleStopReason, SessionId};
use agentwire_jsonrpc::RawJson;
use agentwire_peer::Peer;
use agentwire_peer::runtime::PeerExt;
use futures::FutureExt;
use futures::future::AbortHandle;

use super::Client;
use super::client::Shared;
use super::work::{Phase, Work};
use crate::Error;

/// Work that is under way. Dropped before its end, it has failed.
#[derive(Debug)]
pub(crate) struct Running {
    shared: Arc<Shared>,
    peer: Peer,
    /// None once it has ended.
    place: Option<usize>,
}

impl Running {
    pub(crate) fn new(shared: Arc<Shared>, peer: Peer, place: usize) -> Self {
        Self { shared, peer, place: Some(place) }
    }

    /// A prompt is over. Gives the answer to its request, which is passed over if there was one.
    pub(crate) fn answer(
        mut self,
        outcome: Result<IdleStopReason, Error>,
        is_cancelled: bool,
    ) -> Result<RawJson, Error> {
        let reason = match &outcome {
            Ok(reason) => reason.clone(),
            Err(error) => error.clone().into(),
        };
        match self.finish(reason) {
            Some(Phase::Accepted) => Ok(RawJson::NULL),
            _ if is_cancelled => Err(Error::request_cancelled()),
            _ => outcome.and_then(|_| Err(Error::internal_error("the agent did not accept the prompt"))),
        }
    }

    fn finish(&mut self, reason: IdleStopReason) -> Option<Phase> {
        self.place.take().map(|place| self.shared.sessions.end(&self.peer, place, reason))
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.finish(Error::internal_error("the work ended without an outcome").into());
    }
}

/// Work in the foreground of a session that no prompt has asked for; see [`Client::begin_work`].
///
/// Dropped before its end, it was cancelled if it was, and else has failed; the client is told so.
#[derive(Debug)]
pub struct ForegroundWork {
    client: Client,
    work: Arc<Work>,
    running: Running,
}

impl ForegroundWork {
    /// None if nothing may be said of the session.
    pub(crate) fn begin(client: &Client, session: &SessionId) -> Option<Self> {
        let shared = client.shared.clone();
        shared.sessions.check_takes_work(session).ok()?;
        let peer = client.peer.unrelated();
        // The agent's own code holds this, so there is nothing to drop.
        let (nothing, _) = AbortHandle::new_pair();
        let (place, work) = shared.sessions.begin(session, usize::MAX, nothing)?;
        shared.sessions.accept(&peer, &work, || {});
        let running = Running::new(shared.clone(), peer.clone(), place);
        let client = Client { peer, shared, work: Some(work.clone()) };
        Some(Self { client, work, running })
    }

    /// The client. What is asked of the user through this handle is withdrawn when the work is cancelled or over.
    pub fn client(&self) -> &Client {
        &self.client
    }

    /// The session.
    pub fn session_id(&self) -> &SessionId {
        &self.work.session
    }

    /// Completes when the work is to end: by `session/cancel` or `session/close`. It also completes when the work is over.
    pub fn cancelled(&self) -> impl Future<Output = ()> + Send + use<> {
        self.work.over().map(|_| ())
    }

    /// Whether the work is to end.
    pub fn is_cancelled(&self) -> bool {
        self.work.is_cancelled()
    }

    /// The work has ended. The client is told that the session is idle, and this or that the work was cancelled, when
    /// nothing else is at work there.
    pub fn end(mut self, reason: IdleStopReason) {
        self.running.finish(reason);
    }
}
