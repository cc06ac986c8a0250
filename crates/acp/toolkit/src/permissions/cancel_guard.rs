//! Cancels the permission requests of a session while its turn is being cancelled.

use std::collections::HashMap;
use std::sync::Arc;

use agentwire_acp_schema::v1::SessionId;
use agentwire_sync::{Mutex, MutexGuard};
use tokio::sync::watch;

/// The sessions with an open permission request, or whose turn is being cancelled.
#[derive(Clone, Debug, Default)]
pub(super) struct SessionCancels {
    sessions: Arc<Mutex<HashMap<SessionId, CancelEntry>>>,
}

/// The state of one session. It is removed with its last [`Hold`].
#[derive(Debug)]
struct CancelEntry {
    state: watch::Sender<CancelCounts>,
    holders: usize,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct CancelCounts {
    /// How often the session was cancelled.
    times: u64,
    /// How many [`CancelGuard`]s exist.
    guards: usize,
}

/// A turn that is being cancelled. While this exists, every permission request of its session is answered as cancelled.
/// Drop it when the turn has ended.
#[derive(Debug)]
#[must_use = "after it is dropped, the user is asked about new requests"]
pub struct CancelGuard {
    hold: Hold,
}

#[derive(Debug)]
pub(super) struct Hold {
    cancels: SessionCancels,
    session: SessionId,
    state: watch::Receiver<CancelCounts>,
}

impl SessionCancels {
    pub(super) fn hold(&self, session: &SessionId) -> Hold {
        let mut sessions = self.lock();
        let entry = sessions.entry(session.clone()).or_insert_with(|| CancelEntry {
            state: watch::Sender::new(CancelCounts::default()),
            holders: 0,
        });
        entry.holders += 1;
        Hold { cancels: self.clone(), session: session.clone(), state: entry.state.subscribe() }
    }

    pub(super) fn cancel(&self, session: &SessionId) -> CancelGuard {
        let hold = self.hold(session);
        hold.change(|state| {
            state.times += 1;
            state.guards += 1;
        });
        CancelGuard { hold }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<SessionId, CancelEntry>> {
        self.sessions.lock()
    }
}

impl Hold {
    /// Waits until the session is cancelled, or is being cancelled already.
    pub(super) async fn cancelled(&mut self) {
        let times = self.state.borrow().times;
        let gone = self.state.wait_for(|state| state.guards > 0 || state.times != times).await.is_err();
        if gone {
            // No handle is left that could cancel it.
            std::future::pending().await
        }
    }

    fn change(&self, change: impl FnOnce(&mut CancelCounts)) {
        if let Some(entry) = self.cancels.lock().get(&self.session) {
            entry.state.send_modify(change);
        }
    }
}

impl Drop for Hold {
    fn drop(&mut self) {
        let mut sessions = self.cancels.lock();
        if let Some(entry) = sessions.get_mut(&self.session) {
            entry.holders -= 1;
            if entry.holders == 0 {
                sessions.remove(&self.session);
            }
        }
    }
}

impl Drop for CancelGuard {
    fn drop(&mut self) {
        self.hold.change(|state| state.guards -= 1);
    }
}
