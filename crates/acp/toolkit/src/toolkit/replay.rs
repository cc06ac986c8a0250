//! Sessions whose replay is left out of their conversations.

use std::collections::HashMap;
use std::sync::Arc;

use agentwire_acp_schema::v1::{SessionId, SessionUpdate};
use agentwire_sync::Mutex;

/// The sessions that are being loaded again, with the number of their loads. Clones share them.
#[derive(Clone, Debug, Default)]
pub(super) struct Replays(Arc<Mutex<HashMap<SessionId, usize>>>);

/// A load. Dropping it ends the replay.
#[derive(Debug)]
pub(crate) struct Replay {
    replays: Replays,
    session: SessionId,
}

impl Replays {
    pub(super) fn begin(&self, session: &SessionId) -> Replay {
        *self.0.lock().entry(session.clone()).or_default() += 1;
        Replay { replays: self.clone(), session: session.clone() }
    }

    /// Returns whether an update is left out: it is part of a replay and would add an entry or a plan. Updates of other state
    /// replace the current value, so they are applied.
    pub(super) fn leaves_out(&self, session: &SessionId, update: &SessionUpdate) -> bool {
        let is_state = matches!(
            update,
            SessionUpdate::AvailableCommandsUpdate(_)
                | SessionUpdate::CurrentModeUpdate(_)
                | SessionUpdate::ConfigOptionUpdate(_)
                | SessionUpdate::SessionInfoUpdate(_)
                | SessionUpdate::UsageUpdate(_)
        );
        !is_state && self.0.lock().contains_key(session)
    }
}

impl Drop for Replay {
    fn drop(&mut self) {
        let mut loads = self.replays.0.lock();
        if let Some(count) = loads.get_mut(&self.session) {
            *count -= 1;
            if *count == 0 {
                loads.remove(&self.session);
            }
        }
    }
}
