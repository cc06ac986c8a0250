use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

use agentwire_acp_schema::v2::{Patch, SessionId, SessionUpdate, StateUpdate, TerminalId, ToolCallId};

/// How many sessions are kept, and of each how many tool calls and terminals. Of what is beyond nothing is known.
const LIMIT: usize = 1024;

/// What is going on in the sessions of a connection.
#[derive(Debug, Default)]
pub(crate) struct States(Mutex<HashMap<SessionId, State>>);

#[derive(Debug, Default)]
struct State {
    /// Whether the agent works in the foreground, or waits for the person in order to.
    busy: bool,
    /// Tool calls and terminals that can be cancelled now.
    calls: HashSet<ToolCallId>,
    terminals: HashSet<TerminalId>,
    /// Whether there were more of them than are kept.
    overflown: bool,
}

impl States {
    pub(crate) fn hear(&self, session: &SessionId, update: &SessionUpdate) {
        match update {
            SessionUpdate::StateUpdate(update) => {
                let busy = !matches!(**update, StateUpdate::Idle(_));
                self.change(session, |state| state.busy = busy);
            }
            SessionUpdate::ToolCallUpdate(update) => {
                let ended = matches!(&update.status, Patch::Set(status) if status.is_final());
                let can = match &update.capabilities {
                    _ if ended => false,
                    Patch::Keep => return,
                    Patch::Clear => false,
                    Patch::Set(capabilities) => capabilities.cancel.is_some(),
                };
                self.change(session, |state| {
                    state.overflown |= !put(&mut state.calls, &update.tool_call_id, can)
                });
            }
            SessionUpdate::TerminalUpdate(update) => {
                let ended = matches!(update.exit_status, Patch::Set(_));
                let can = match &update.capabilities {
                    _ if ended => false,
                    Patch::Keep => return,
                    Patch::Clear => false,
                    Patch::Set(capabilities) => capabilities.cancel.is_some(),
                };
                self.change(session, |state| {
                    state.overflown |= !put(&mut state.terminals, &update.terminal_id, can);
                });
            }
            _ => {}
        }
    }

    pub(crate) fn is_busy(&self, session: &SessionId) -> bool {
        self.lock().get(session).is_some_and(|state| state.busy)
    }

    pub(crate) fn can_cancel_call(&self, session: &SessionId, call: &ToolCallId) -> bool {
        self.can(session, |state| state.calls.contains(call))
    }

    pub(crate) fn can_cancel_terminal(&self, session: &SessionId, terminal: &TerminalId) -> bool {
        self.can(session, |state| state.terminals.contains(terminal))
    }

    /// A session is over.
    pub(crate) fn forget(&self, session: &SessionId) {
        let forgotten = self.lock().remove(session);
        drop(forgotten);
    }

    /// Where there was more than is kept, the agent decides.
    fn can(&self, session: &SessionId, has: impl FnOnce(&State) -> bool) -> bool {
        let states = self.lock();
        match states.get(session) {
            Some(state) => state.overflown || has(state),
            None => states.len() >= LIMIT,
        }
    }

    fn change(&self, session: &SessionId, change: impl FnOnce(&mut State)) {
        let mut states = self.lock();
        if let Some(state) = states.get_mut(session) {
            change(state);
        } else if states.len() < LIMIT {
            change(states.entry(session.clone()).or_default());
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<SessionId, State>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Puts an id in or takes it out. False if there is no room for it.
fn put<T: Clone + Eq + std::hash::Hash>(ids: &mut HashSet<T>, id: &T, is_in: bool) -> bool {
    if !is_in {
        ids.remove(id);
        return true;
    }
    let room = ids.len() < LIMIT || ids.contains(id);
    if room {
        ids.insert(id.clone());
    }
    room
}
