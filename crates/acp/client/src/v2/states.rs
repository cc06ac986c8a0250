//! The states of the sessions of a connection, from their updates.

use std::collections::{HashMap, HashSet};

use agentwire_acp_schema::v2::{Patch, SessionId, SessionUpdate, StateUpdate, TerminalId, ToolCallId};
use agentwire_sync::{Mutex, MutexGuard};

/// How many sessions are kept, and how many tool calls and terminals of each. Beyond that the agent decides.
const LIMIT: usize = 1024;

/// The limit of the bytes of all ids together.
const IDS_LIMIT: usize = 1 << 20;

/// The current state of each session of a connection.
#[derive(Debug, Default)]
pub(crate) struct SessionStates(Mutex<Table>);

#[derive(Debug, Default)]
struct Table {
    by_id: HashMap<SessionId, SessionState>,
    /// The sum of the bytes of all ids.
    bytes: usize,
}

#[derive(Debug, Default)]
struct SessionState {
    /// Whether the agent works in the foreground, or waits for the user.
    busy: bool,
    /// Tool calls and terminals that can be cancelled now.
    calls: HashSet<ToolCallId>,
    terminals: HashSet<TerminalId>,
    /// Whether the limit was exceeded, so that not all of them are kept.
    overflown: bool,
}

impl SessionStates {
    pub(crate) fn note(&self, session: &SessionId, update: &SessionUpdate) {
        match update {
            SessionUpdate::StateUpdate(update) => {
                let busy = !matches!(**update, StateUpdate::Idle(_));
                self.change(session, |state, _| state.busy = busy);
            }
            SessionUpdate::ToolCallUpdate(update) => {
                let ended = matches!(&update.status, Patch::Set(status) if status.is_final());
                let can = match &update.capabilities {
                    _ if ended => false,
                    Patch::Keep => return,
                    Patch::Clear => false,
                    Patch::Set(capabilities) => capabilities.cancel.is_some(),
                };
                self.change(session, |state, bytes| {
                    state.overflown |= !put(&mut state.calls, &update.tool_call_id, can, bytes)
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
                self.change(session, |state, bytes| {
                    state.overflown |= !put(&mut state.terminals, &update.terminal_id, can, bytes);
                });
            }
            _ => {}
        }
    }

    pub(crate) fn is_busy(&self, session: &SessionId) -> bool {
        self.lock().by_id.get(session).is_some_and(|state| state.busy)
    }

    pub(crate) fn can_cancel_call(&self, session: &SessionId, call: &ToolCallId) -> bool {
        self.can(session, |state| state.calls.contains(call))
    }

    pub(crate) fn can_cancel_terminal(&self, session: &SessionId, terminal: &TerminalId) -> bool {
        self.can(session, |state| state.terminals.contains(terminal))
    }

    /// Removes a session that is closed or deleted.
    pub(crate) fn forget(&self, session: &SessionId) {
        let mut states = self.lock();
        let forgotten = states.by_id.remove_entry(session);
        states.bytes -= forgotten.as_ref().map_or(0, |(id, state)| id.len() + state.bytes());
        drop(states);
        drop(forgotten);
    }

    /// Returns true if not all calls or terminals are kept, so that the agent decides.
    fn can(&self, session: &SessionId, has: impl FnOnce(&SessionState) -> bool) -> bool {
        let states = self.lock();
        match states.by_id.get(session) {
            Some(state) => state.overflown || has(state),
            None => !states.has_room(session),
        }
    }

    fn change(&self, session: &SessionId, change: impl FnOnce(&mut SessionState, &mut usize)) {
        let states = &mut *self.lock();
        if let Some(state) = states.by_id.get_mut(session) {
            change(state, &mut states.bytes);
        } else if states.has_room(session) {
            states.bytes += session.len();
            change(states.by_id.entry(session.clone()).or_default(), &mut states.bytes);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Table> {
        self.0.lock()
    }
}

impl Table {
    /// Returns whether another session can be kept.
    fn has_room(&self, session: &SessionId) -> bool {
        self.by_id.len() < LIMIT && self.bytes + session.len() <= IDS_LIMIT
    }
}

impl SessionState {
    /// Returns the bytes of all ids.
    fn bytes(&self) -> usize {
        self.calls.iter().map(|id| id.len()).chain(self.terminals.iter().map(|id| id.len())).sum()
    }
}

/// Adds or removes an id, and updates the bytes of all ids. Returns false if there is no room for the id.
fn put<T>(ids: &mut HashSet<T>, id: &T, is_in: bool, bytes: &mut usize) -> bool
where
    T: Clone + Eq + std::hash::Hash + std::ops::Deref<Target = str>,
{
    if !is_in {
        *bytes -= ids.take(id).map_or(0, |id| id.len());
        return true;
    }
    if ids.contains(id) {
        return true;
    }
    let room = ids.len() < LIMIT && *bytes + id.len() <= IDS_LIMIT;
    if room {
        *bytes += id.len();
        ids.insert(id.clone());
    }
    room
}

#[cfg(test)]
mod tests {
    use agentwire_acp_schema::v2::{ToolCallCancelCapabilities, ToolCallCapabilities, ToolCallUpdate};

    use super::*;

    #[test]
    fn ids_are_kept_as_far_as_there_is_room_and_then_the_agent_decides() {
        let states = SessionStates::default();
        let update = |id: &str| {
            let capabilities = ToolCallCapabilities::new().cancel(ToolCallCancelCapabilities::new());
            SessionUpdate::from(ToolCallUpdate::new(id).capabilities(capabilities))
        };
        let session = SessionId::from("s");
        for number in 0..8 {
            states.note(&session, &update(&format!("{number}{}", "x".repeat(IDS_LIMIT / 4))));
            assert!(states.lock().bytes <= IDS_LIMIT);
        }
        assert!(states.can_cancel_call(&session, &ToolCallId::from("never told of")));
        for number in 0..2 * LIMIT {
            states.note(&SessionId::from(format!("{number}{}", "x".repeat(IDS_LIMIT / 4))), &update("a"));
        }
        let kept = states.lock().by_id.len();
        assert!(kept < 8, "{kept}");
        assert!(states.can_cancel_call(&SessionId::from("x".repeat(IDS_LIMIT)), &ToolCallId::from("b")));
        states.forget(&session);
        let states = states.lock();
        let bytes: usize = states.by_id.iter().map(|(id, state)| id.len() + state.bytes()).sum();
        assert_eq!(states.bytes, bytes);
    }
}
