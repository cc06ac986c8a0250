//! The state of a connection of version 1: the open turns, whose permission requests end with them.

pub(crate) mod initialized;
pub(crate) mod options;
pub(crate) mod prompt;
pub(crate) mod updates;

use std::collections::HashMap;

use agentwire_acp_schema::v1::{ClientCapabilities, InitializeResponse, SessionId, SessionUpdate};
use agentwire_jsonrpc::RequestId;
use agentwire_peer::runtime::PeerExt;
use agentwire_peer::{CallId, Peer, RequestContext};
use agentwire_sync::{Mutex, MutexGuard};

use crate::elicitations::Elicitations;
use crate::session::initialized::Initialized;
use crate::session::options::SessionOptions;
use crate::session::updates::Readers;

/// The maximum number of dropped and unanswered prompts kept for each session.
const MAX_DROPPED: usize = 64;

/// The state of a connection, shared by the handle and the handler of the agent's requests.
#[derive(Debug, Default)]
pub(crate) struct ConnectionState {
    pub(crate) initialized: Initialized<ClientCapabilities, InitializeResponse>,
    pub(crate) readers: Readers<SessionUpdate, ()>,
    pub(crate) options: SessionOptions,
    pub(crate) elicitations: Elicitations,
    permissions: Mutex<Permissions>,
}

/// Permission requests that wait for the user, and the turns that they may belong to.
#[derive(Debug, Default)]
struct Permissions {
    waiting: HashMap<SessionId, Vec<RequestContext>>,
    turns: HashMap<SessionId, Vec<OpenTurn>>,
}

/// A turn whose prompt is unanswered.
#[derive(Debug)]
struct OpenTurn {
    prompt: CallId,
    cancelled: bool,
    /// Whether the prompt was dropped. Its answer still arrives.
    dropped: bool,
}

impl Permissions {
    /// Returns whether all open turns of a session are being cancelled. A request does not name its turn, so it may
    /// belong to any open one.
    fn is_cancelled(&self, session: &SessionId, peer: &Peer) -> bool {
        let turns = self.turns.get(session).map(Vec::as_slice).unwrap_or_default();
        let mut open = turns.iter().filter(|turn| turn.dropped || peer.is_unanswered(turn.prompt)).peekable();
        open.peek().is_some() && open.all(|turn| turn.cancelled)
    }

    fn remove_turns(&mut self, session: &SessionId, is_over: impl Fn(&OpenTurn) -> bool) {
        if let Some(turns) = self.turns.get_mut(session) {
            turns.retain(|turn| !is_over(turn));
            if turns.is_empty() {
                self.turns.remove(session);
            }
        }
    }
}

impl ConnectionState {
    /// Adds a turn when its prompt is sent.
    pub(crate) fn turn_begins(&self, session: &SessionId, prompt: CallId) {
        let mut permissions = self.permissions();
        let turns = permissions.turns.entry(session.clone()).or_default();
        turns.push(OpenTurn { prompt, cancelled: false, dropped: false });
    }

    /// Removes a turn whose prompt was answered or will not be.
    pub(crate) fn turn_ends(&self, session: &SessionId, prompt: CallId) {
        self.permissions().remove_turns(session, |turn| turn.prompt == prompt && !turn.dropped);
    }

    /// Cancels a turn whose prompt was dropped before its answer. The turn stays open until the answer arrives, unless
    /// the prompt was never sent. The newest of such turns are kept.
    pub(crate) fn turn_dropped(&self, session: &SessionId, prompt: CallId, was_sent: bool) {
        if was_sent && let Some(turns) = self.permissions().turns.get_mut(session) {
            turns.iter_mut().filter(|turn| turn.prompt == prompt).for_each(|turn| turn.dropped = true);
            if turns.iter().filter(|turn| turn.dropped).count() > MAX_DROPPED {
                let oldest = turns.iter().position(|turn| turn.dropped);
                oldest.map(|oldest| turns.remove(oldest));
            }
        }
        self.cancel_turns(session);
    }

    /// Removes the turn of a dropped prompt whose answer has arrived.
    pub(crate) fn answered_late(&self, id: &RequestId) {
        let mut permissions = self.permissions();
        permissions.turns.retain(|_, turns| {
            turns.retain(|turn| !turn.dropped || turn.prompt.request_id() != *id);
            !turns.is_empty()
        });
    }

    /// Cancels the permission requests of a session, and those that still come for its turns.
    pub(crate) fn cancel_turns(&self, session: &SessionId) {
        let mut permissions = self.permissions();
        let turns = permissions.turns.get_mut(session);
        turns.into_iter().flatten().for_each(|turn| turn.cancelled = true);
        let waiting = permissions.waiting.remove(session);
        drop(permissions);
        waiting.into_iter().flatten().for_each(|request| request.cancel());
    }

    /// Registers a permission request, so that it is cancelled with its turn.
    pub(crate) fn permission_asked(&self, session: &SessionId, request: &RequestContext) {
        let mut permissions = self.permissions();
        if permissions.is_cancelled(session, request.peer()) {
            drop(permissions);
            request.cancel();
        } else {
            permissions.waiting.entry(session.clone()).or_default().push(request.clone());
        }
    }

    pub(crate) fn permission_answered(&self, session: &SessionId, request: &RequestContext) {
        let mut permissions = self.permissions();
        if let Some(waiting) = permissions.waiting.get_mut(session) {
            waiting.retain(|other| other.request_id() != request.request_id());
            if waiting.is_empty() {
                permissions.waiting.remove(session);
            }
        }
    }

    fn permissions(&self) -> MutexGuard<'_, Permissions> {
        self.permissions.lock()
    }
}
