//! What the protocol demands to be remembered of each session while a connection lasts.

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
use futures::channel::oneshot;
use futures::future::AbortHandle;
use slab::Slab;

use super::work::{Phase, Work};

/// How many sessions that have been closed are remembered, so that nothing more is said of them.
const CLOSED_LIMIT: usize = 1024;

#[derive(Debug, Default)]
pub(crate) struct Sessions {
    table: Mutex<Table>,
}

#[derive(Debug, Default)]
struct Table {
    sessions: HashMap<SessionId, Session>,
    /// The prompts that are to be accepted or at work.
    work: Slab<Arc<Work>>,
    /// Sessions in the order in which they were closed.
    closed: VecDeque<SessionId>,
    /// Sessions that are being closed, once for each request to do so.
    closing: Vec<SessionId>,
}

/// A session that is being closed, until this is dropped.
#[derive(Debug)]
pub(crate) struct Closing<'a> {
    sessions: &'a Sessions,
    session: SessionId,
}

impl Drop for Closing<'_> {
    fn drop(&mut self) {
        let mut table = self.sessions.table();
        if let Some(place) = table.closing.iter().position(|session| *session == self.session) {
            table.closing.swap_remove(place);
        }
    }
}

#[derive(Debug, Default)]
struct Session {
    is_closed: bool,
    /// How many accepted prompts are at work.
    foreground: usize,
    /// What was told last; none if nothing was.
    state: Option<StateUpdate>,
    /// How often the state was told.
    told: u64,
    /// The options that were told last; none if none were.
    options: Option<Vec<SessionConfigOption>>,
    /// What can be cancelled now.
    calls: BTreeSet<ToolCallId>,
    terminals: BTreeSet<TerminalId>,
    /// Those who wait for all its prompts to end.
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

    fn tell(&mut self, state: StateUpdate) {
        self.state = Some(state);
        self.told += 1;
    }
}

impl Sessions {
    fn table(&self) -> MutexGuard<'_, Table> {
        self.table.lock()
    }

    /// Has an update sent and takes note of it. Both under one lock, because it may have to wait first: what was noted
    /// last is what the client hears last, and it hears nothing of a session that was closed meanwhile.
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
            SessionUpdate::StateUpdate(state) => table.session(id).tell((**state).clone()),
            SessionUpdate::ToolCallUpdate(call) => table.note_call(id, call),
            SessionUpdate::TerminalUpdate(terminal) => table.note_terminal(id, terminal),
            SessionUpdate::ConfigOptionUpdate(update) => {
                table.session(id).options = Some(update.config_options.clone());
            }
            _ => {}
        }
        Poll::Ready(Ok(()))
    }

    /// Takes note of a call of a tool that is told of in a question.
    pub(crate) fn note_call(&self, session: &SessionId, call: &ToolCallUpdate) {
        self.table().note_call(session, call);
    }

    /// Takes note of the options that a session begins with.
    pub(crate) fn note_options(&self, session: &SessionId, options: &[SessionConfigOption]) {
        if !options.is_empty() {
            self.table().session(session).options = Some(options.to_vec());
        }
    }

    /// The options that were told last of a session, if any were.
    pub(crate) fn options(&self, session: &SessionId) -> Option<Vec<SessionConfigOption>> {
        self.table().sessions.get(session)?.options.clone()
    }

    pub(crate) fn check_open(&self, session: &SessionId) -> Result<(), String> {
        self.table().check_open(session)
    }

    /// An error if nothing more can begin in a session, because it is closed or is being closed.
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

    /// Takes note of a prompt, and of how to have it dropped. None if too many are under way.
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

    /// A prompt has become part of the conversation: its work begins. Says so to the client, unless it knows.
    ///
    /// `answer` is called in between, so that nothing else about the session comes in between. False if the prompt is
    /// over.
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
            post(peer, &work.session, session, state);
        }
        true
    }

    /// A prompt is over. What it ends with is told when it was accepted and no other is at work in the session. Says how
    /// far it had come.
    pub(crate) fn end(&self, peer: &Peer, place: usize, reason: IdleStopReason) -> Phase {
        let mut table = self.table();
        let work = table.work.remove(place);
        // Whatever a cancel has caused in the agent, the end that the client hears of is that.
        let reason = if work.is_cancelled() { IdleStopReason::Cancelled } else { reason };
        let phase = work.end();
        let is_last = !table.is_at_work(&work.session);
        if phase == Phase::Accepted {
            let session = table.session(&work.session);
            session.foreground = session.foreground.saturating_sub(1);
            if session.foreground == 0 && !matches!(session.state, Some(StateUpdate::Idle(_))) {
                let state = session.idle(Some(reason));
                post(peer, &work.session, session, state);
            }
        }
        let waiting = table.sessions.get_mut(&work.session).filter(|_| is_last);
        let waiting = waiting.map(|session| std::mem::take(&mut session.ends)).unwrap_or_default();
        drop(table);
        // It is being dropped that tells those who wait.
        drop(waiting);
        phase
    }

    /// Tells all prompts of a session to end.
    pub(crate) fn cancel(&self, session: &SessionId) {
        let table = self.table();
        let all = table.work.iter().map(|(_, work)| work);
        let cancelled: Vec<_> = all.filter(|work| work.session == *session).cloned().collect();
        drop(table);
        cancelled.iter().for_each(|work| work.cancel());
    }

    /// Completes when no prompt of a session is under way. None if that is so already.
    pub(crate) fn all_ended(&self, session: &SessionId) -> Option<oneshot::Receiver<()>> {
        let mut table = self.table();
        if !table.is_at_work(session) {
            return None;
        }
        let (end, ended) = oneshot::channel();
        table.session(session).ends.push(end);
        Some(ended)
    }

    /// Waits no more for the prompts of a session, which have been told to end: they are over, and the client hears that
    /// they were cancelled. What works on them is dropped.
    pub(crate) fn give_up(&self, peer: &Peer, id: &SessionId) {
        let mut table = self.table();
        let all = table.work.iter().map(|(_, work)| work);
        let left: Vec<_> = all.filter(|work| work.session == *id).cloned().collect();
        let accepted = left.iter().filter(|work| work.end() == Phase::Accepted).count();
        let session = table.session(id);
        session.foreground = 0;
        if accepted > 0 && !matches!(session.state, Some(StateUpdate::Idle(_))) {
            let state = session.idle(Some(IdleStopReason::Cancelled));
            post(peer, id, session, state);
        }
        drop(table);
        left.iter().for_each(|work| work.give_up());
    }

    /// Tells all prompts of a session to end, and takes no more.
    pub(crate) fn begin_close(&self, session: &SessionId) -> Closing<'_> {
        self.table().closing.push(session.clone());
        self.cancel(session);
        Closing { sessions: self, session: session.clone() }
    }

    /// Nothing more is said of a session, until it is opened again.
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

    /// Nothing is remembered of a session any more.
    pub(crate) fn forget(&self, session: &SessionId) {
        let mut table = self.table();
        if table.sessions.get(session).is_some_and(|session| !session.is_closed && session.foreground == 0) {
            table.sessions.remove(session);
        }
    }

    /// A session may be spoken of, perhaps again. Says whether it was closed, and how often its state has been told.
    pub(crate) fn open(&self, session: &SessionId) -> (bool, u64) {
        let mut table = self.table();
        let session = table.sessions.get_mut(session);
        session.map_or((false, 0), |session| (std::mem::take(&mut session.is_closed), session.told))
    }

    /// Tells the client the state of a session, unless it has been told since.
    pub(crate) fn tell_state(&self, peer: &Peer, id: &SessionId, told: u64) {
        let mut table = self.table();
        let session = table.session(id);
        if session.told == told {
            let state = match (&session.state, session.foreground) {
                (Some(state), _) => state.clone(),
                (None, 0) => session.idle(None),
                (None, _) => session.running(),
            };
            post(peer, id, session, state);
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

    /// Whether anything is under way in a session. What was given up is not, also while its author still holds it.
    fn is_at_work(&self, session: &SessionId) -> bool {
        self.work.iter().any(|(_, work)| work.session == *session && !work.is_over())
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

/// Tells the client a state at once: it is said where nothing can wait, and once or twice for each prompt.
fn post(peer: &Peer, id: &SessionId, session: &mut Session, state: StateUpdate) {
    session.tell(state.clone());
    // Whoever has gone need not be told.
    let _gone = peer.notify_now(&UpdateSessionNotification::state(id, state));
}
