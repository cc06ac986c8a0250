//! The state of each session of a connection.

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::sync::Arc;
use std::task::{Poll, ready};

use agentwire_acp_schema::v2::{
    BackgroundWork, IdleStateUpdate, IdleStopReason, Patch, RunningStateUpdate, SessionConfigOption,
    SessionId, SessionUpdate, StateUpdate, TerminalId, TerminalUpdate, ToolCallId, ToolCallUpdate,
    UpdateSessionNotification,
};
use agentwire_jsonrpc::NotificationMethod;
use agentwire_peer::{CallError, Peer};
use agentwire_sync::{Mutex, MutexGuard};
use futures_channel::oneshot;
use futures_util::future::AbortHandle;
use slab::Slab;

use super::work::{Phase, Work};

/// The maximum number of closed sessions in the table. Their updates are refused.
const CLOSED_LIMIT: usize = 1024;

#[derive(Debug, Default)]
pub(crate) struct Sessions {
    table: Mutex<Table>,
}

#[derive(Debug, Default)]
struct Table {
    sessions: HashMap<SessionId, Session>,
    /// The prompts, accepted or not, and foreground work without a prompt.
    work: Slab<Arc<Work>>,
    /// Sessions in the order in which they were closed.
    closed: VecDeque<SessionId>,
    /// Sessions that are being closed, once for each `session/close` request.
    closing: Vec<SessionId>,
}

/// Marks a session as closing until this guard is dropped.
#[derive(Debug)]
pub(crate) struct ClosingGuard<'a> {
    sessions: &'a Sessions,
    session: SessionId,
}

impl Drop for ClosingGuard<'_> {
    fn drop(&mut self) {
        let mut table = self.sessions.table();
        if let Some(index) = table.closing.iter().position(|session| *session == self.session) {
            table.closing.swap_remove(index);
        }
    }
}

#[derive(Debug, Default)]
struct Session {
    is_closed: bool,
    /// The number of accepted prompts and pieces of foreground work that run.
    foreground: usize,
    /// The last state that was sent, if any.
    state: Option<StateUpdate>,
    /// How many states have been sent.
    states_sent: u64,
    /// The last options that were sent, if any.
    options: Option<Vec<SessionConfigOption>>,
    /// The calls that can be cancelled now.
    calls: BTreeSet<ToolCallId>,
    terminals: BTreeSet<TerminalId>,
    /// Dropped when all prompts of the session have ended.
    ends: Vec<oneshot::Sender<()>>,
}

impl Session {
    fn background(&self) -> Option<Vec<BackgroundWork>> {
        match self.state.as_ref()? {
            StateUpdate::Running(state) => state.background.clone(),
            StateUpdate::Idle(state) => state.background.clone(),
            StateUpdate::RequiresAction(state) => state.background.clone(),
            _ => None,
        }
    }

    fn running(&self) -> StateUpdate {
        let mut state = RunningStateUpdate::new();
        state.background = self.background();
        state.into()
    }

    fn idle(&self, reason: Option<IdleStopReason>) -> StateUpdate {
        let mut state = IdleStateUpdate::new();
        state.background = self.background();
        state.stop_reason = reason;
        state.into()
    }

    fn set_state(&mut self, state: StateUpdate) {
        self.state = Some(state);
        self.states_sent += 1;
    }
}

impl Sessions {
    fn table(&self) -> MutexGuard<'_, Table> {
        self.table.lock()
    }

    /// Polls the sending of an update and records its effect, under one lock. So the record matches the last update sent, and
    /// no update of a session follows its close. A send that is pending records nothing and is polled again.
    pub(crate) fn send(
        &self,
        notification: &UpdateSessionNotification,
        send: impl FnOnce() -> Poll<Result<(), CallError>>,
    ) -> Poll<Result<(), CallError>> {
        let id = &notification.session_id;
        let mut table = self.table();
        let refused = |why| CallError::not_allowed(UpdateSessionNotification::NAME, why);
        table.check_open(id).map_err(refused)?;
        ready!(send())?;
        match &notification.update {
            SessionUpdate::StateUpdate(state) => table.session(id).set_state((**state).clone()),
            SessionUpdate::ToolCallUpdate(call) => table.note_call(id, call),
            SessionUpdate::TerminalUpdate(terminal) => table.note_terminal(id, terminal),
            SessionUpdate::ConfigOptionUpdate(update) => {
                table.session(id).options = Some(update.config_options.clone());
            }
            _ => {}
        }
        Poll::Ready(Ok(()))
    }

    /// Records a tool call that a permission request describes.
    pub(crate) fn note_call(&self, session: &SessionId, call: &ToolCallUpdate) {
        self.table().note_call(session, call);
    }

    /// Records the options of an opened session.
    pub(crate) fn note_options(&self, session: &SessionId, options: &[SessionConfigOption]) {
        if !options.is_empty() {
            self.table().session(session).options = Some(options.to_vec());
        }
    }

    /// Returns the last options that were sent, if any.
    pub(crate) fn options(&self, session: &SessionId) -> Option<Vec<SessionConfigOption>> {
        self.table().sessions.get(session)?.options.clone()
    }

    pub(crate) fn check_open(&self, session: &SessionId) -> Result<(), String> {
        self.table().check_open(session)
    }

    /// Fails if the session is closed or closing, so that no work can begin in it.
    pub(crate) fn check_takes_work(&self, session: &SessionId) -> Result<(), String> {
        let table = self.table();
        if table.closing.contains(session) { Err(closed(session)) } else { table.check_open(session) }
    }

    pub(crate) fn can_cancel_call(&self, session: &SessionId, call: &ToolCallId) -> bool {
        self.table().sessions.get(session).is_some_and(|session| session.calls.contains(call))
    }

    pub(crate) fn can_cancel_terminal(&self, session: &SessionId, terminal: &TerminalId) -> bool {
        self.table().sessions.get(session).is_some_and(|session| session.terminals.contains(terminal))
    }

    /// Registers a prompt or foreground work. `drop` aborts the future of a prompt. Returns `None` at the limit.
    pub(crate) fn begin(
        &self,
        session: &SessionId,
        limit: usize,
        drop: AbortHandle,
    ) -> Option<(usize, Arc<Work>)> {
        let mut table = self.table();
        if table.work.len() >= limit {
            return None;
        }
        let work = Arc::new(Work::new(session.clone(), drop));
        Some((table.work.insert(work.clone()), work))
    }

    /// Accepts a prompt, and sends the state `running` unless other work runs in the session.
    ///
    /// `answer` is called under the lock, so that no other update of the session comes before the state. Returns false
    /// if the prompt has ended.
    pub(crate) fn accept(&self, peer: &Peer, work: &Work, answer: impl FnOnce()) -> bool {
        let mut table = self.table();
        if !work.advance(Phase::Waiting, Phase::Accepted) {
            return false;
        }
        answer();
        let session = table.session(&work.session);
        session.foreground += 1;
        if session.foreground == 1 {
            let state = session.running();
            send_state(peer, &work.session, session, state);
        }
        true
    }

    /// Ends a prompt and returns its phase. Sends the state `idle` with the reason, if the prompt was accepted and no
    /// other work runs in the session.
    pub(crate) fn end(&self, peer: &Peer, key: usize, reason: IdleStopReason) -> Phase {
        let mut table = self.table();
        let work = table.work.remove(key);
        // After a cancel the client gets `cancelled`, whatever the agent returned.
        let reason = if work.is_cancelled() { IdleStopReason::Cancelled } else { reason };
        let phase = work.end();
        let is_last = !table.is_at_work(&work.session);
        if phase == Phase::Accepted {
            let session = table.session(&work.session);
            session.foreground = session.foreground.saturating_sub(1);
            if session.foreground == 0 && !matches!(session.state, Some(StateUpdate::Idle(_))) {
                let state = session.idle(Some(reason));
                send_state(peer, &work.session, session, state);
            }
        }
        let waiting = table.sessions.get_mut(&work.session).filter(|_| is_last);
        let waiting = waiting.map(|session| std::mem::take(&mut session.ends)).unwrap_or_default();
        drop(table);
        // Dropping the senders completes `all_ended`. This happens outside the lock.
        drop(waiting);
        phase
    }

    /// Cancels all prompts of a session.
    pub(crate) fn cancel(&self, session: &SessionId) {
        let table = self.table();
        let all = table.work.iter().map(|(_, work)| work);
        let cancelled: Vec<_> = all.filter(|work| work.session == *session).cloned().collect();
        drop(table);
        cancelled.iter().for_each(|work| work.cancel());
    }

    /// Returns a receiver that completes when all prompts of a session have ended, or `None` if no prompt runs.
    pub(crate) fn all_ended(&self, session: &SessionId) -> Option<oneshot::Receiver<()>> {
        let mut table = self.table();
        if !table.is_at_work(session) {
            return None;
        }
        let (end, ended) = oneshot::channel();
        table.session(session).ends.push(end);
        Some(ended)
    }

    /// Ends the cancelled prompts of a session that still run. The client gets `idle` with `cancelled`, and the
    /// prompts' futures are dropped.
    pub(crate) fn end_cancelled(&self, peer: &Peer, id: &SessionId) {
        let mut table = self.table();
        let all = table.work.iter().map(|(_, work)| work);
        let left: Vec<_> = all.filter(|work| work.session == *id).cloned().collect();
        let accepted = left.iter().filter(|work| work.end() == Phase::Accepted).count();
        let session = table.session(id);
        session.foreground = 0;
        if accepted > 0 && !matches!(session.state, Some(StateUpdate::Idle(_))) {
            let state = session.idle(Some(IdleStopReason::Cancelled));
            send_state(peer, id, session, state);
        }
        drop(table);
        left.iter().for_each(|work| work.drop_future());
    }

    /// Cancels all prompts of a session and refuses new ones.
    pub(crate) fn begin_close(&self, session: &SessionId) -> ClosingGuard<'_> {
        self.table().closing.push(session.clone());
        self.cancel(session);
        ClosingGuard { sessions: self, session: session.clone() }
    }

    /// Refuses all updates of a session until it is opened again.
    pub(crate) fn close(&self, session: &SessionId) {
        let mut table = self.table();
        table.sessions.insert(session.clone(), Session { is_closed: true, ..Session::default() });
        table.closed.retain(|other| other != session);
        table.closed.push_back(session.clone());
        if table.closed.len() > CLOSED_LIMIT
            && let Some(oldest) = table.closed.pop_front()
            && table.sessions.get(&oldest).is_some_and(|session| session.is_closed)
        {
            table.sessions.remove(&oldest);
        }
    }

    /// Removes a session if it is open and no work runs in it.
    pub(crate) fn forget(&self, session: &SessionId) {
        let mut table = self.table();
        if table.sessions.get(session).is_some_and(|session| !session.is_closed && session.foreground == 0) {
            table.sessions.remove(session);
        }
    }

    /// Opens a session, or opens it again. Returns whether it was closed, and the number of states sent.
    pub(crate) fn open(&self, session: &SessionId) -> (bool, u64) {
        let mut table = self.table();
        let session = table.sessions.get_mut(session);
        session.map_or((false, 0), |session| (std::mem::take(&mut session.is_closed), session.states_sent))
    }

    /// Sends the state of a session, unless one has been sent since `states_sent` was read.
    pub(crate) fn send_current_state(&self, peer: &Peer, id: &SessionId, states_sent: u64) {
        let mut table = self.table();
        let session = table.session(id);
        if session.states_sent == states_sent {
            let state = match (&session.state, session.foreground) {
                (Some(state), _) => state.clone(),
                (None, 0) => session.idle(None),
                (None, _) => session.running(),
            };
            send_state(peer, id, session, state);
        }
    }
}

impl Table {
    fn session(&mut self, id: &SessionId) -> &mut Session {
        if !self.sessions.contains_key(id) {
            self.sessions.insert(id.clone(), Session::default());
        }
        self.sessions.get_mut(id).expect("it was put there")
    }

    /// Returns whether a prompt of a session runs. A prompt that has ended does not count, even if the agent still holds
    /// its handle.
    fn is_at_work(&self, session: &SessionId) -> bool {
        self.work.iter().any(|(_, work)| work.session == *session && !work.has_ended())
    }

    fn check_open(&self, id: &SessionId) -> Result<(), String> {
        match self.sessions.get(id) {
            Some(session) if session.is_closed => Err(closed(id)),
            _ => Ok(()),
        }
    }

    fn note_call(&mut self, session: &SessionId, call: &ToolCallUpdate) {
        let is_over = call.status.value().is_some_and(|status| status.is_final());
        let can_cancel = match &call.capabilities {
            Patch::Set(can) => Some(can.cancel.is_some()),
            Patch::Clear => Some(false),
            Patch::Keep => None,
        };
        match can_cancel.filter(|_| !is_over).or(is_over.then_some(false)) {
            Some(true) => drop(self.session(session).calls.insert(call.tool_call_id.clone())),
            Some(false) => {
                if let Some(session) = self.sessions.get_mut(session) {
                    session.calls.remove(&call.tool_call_id);
                }
            }
            None => {}
        }
    }

    fn note_terminal(&mut self, session: &SessionId, terminal: &TerminalUpdate) {
        let is_over = terminal.exit_status.value().is_some();
        let can_cancel = match &terminal.capabilities {
            Patch::Set(can) => Some(can.cancel.is_some()),
            Patch::Clear => Some(false),
            Patch::Keep => None,
        };
        match can_cancel.filter(|_| !is_over).or(is_over.then_some(false)) {
            Some(true) => drop(self.session(session).terminals.insert(terminal.terminal_id.clone())),
            Some(false) => {
                if let Some(session) = self.sessions.get_mut(session) {
                    session.terminals.remove(&terminal.terminal_id);
                }
            }
            None => {}
        }
    }
}

fn closed(id: &SessionId) -> String {
    format!("the session {id:?} is closed")
}

/// Sends a state at once: the caller cannot wait, and there are at most two for each prompt.
fn send_state(peer: &Peer, id: &SessionId, session: &mut Session, state: StateUpdate) {
    session.set_state(state.clone());
    // The connection may be closed.
    let _gone = peer.notify_now(&UpdateSessionNotification::state(id, state));
}
