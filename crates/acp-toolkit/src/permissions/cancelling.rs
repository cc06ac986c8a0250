use std::collections::HashMap;
use std::sync::Arc;

use agentwire_acp_schema::v1::SessionId;
use agentwire_sync::{Mutex, MutexGuard};
use tokio::sync::watch;

/// The sessions in which somebody is asked, or whose turn is being cancelled.
#[derive(Clone, Debug, Default)]
pub(super) struct Gates {
    gates: Arc<Mutex<HashMap<SessionId, Gate>>>,
}

/// One session's. It is there as long as anybody holds it.
#[derive(Debug)]
struct Gate {
    state: watch::Sender<State>,
    holders: usize,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct State {
    /// How often the session was cancelled.
    times: u64,
    /// How many [`Cancelling`] there are.
    closed: usize,
}

/// A turn that is being cancelled: as long as this lives, every permission request of its session is answered as
/// cancelled. Drop it when the turn has ended.
#[derive(Debug)]
#[must_use = "requests that come after it is dropped are asked about again"]
pub struct Cancelling {
    hold: Hold,
}

#[derive(Debug)]
pub(super) struct Hold {
    gates: Gates,
    session: SessionId,
    state: watch::Receiver<State>,
}

impl Gates {
    pub(super) fn hold(&self, session: &SessionId) -> Hold {
        let mut gates = self.lock();
        let gate = gates
            .entry(session.clone())
            .or_insert_with(|| Gate { state: watch::Sender::new(State::default()), holders: 0 });
        gate.holders += 1;
        Hold { gates: self.clone(), session: session.clone(), state: gate.state.subscribe() }
    }

    pub(super) fn cancel(&self, session: &SessionId) -> Cancelling {
        let hold = self.hold(session);
        hold.change(|state| {
            state.times += 1;
            state.closed += 1;
        });
        Cancelling { hold }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<SessionId, Gate>> {
        self.gates.lock()
    }
}

impl Hold {
    /// Waits until the session is cancelled, or is being cancelled already.
    pub(super) async fn cancelled(&mut self) {
        let times = self.state.borrow().times;
        let gone = self.state.wait_for(|state| state.closed > 0 || state.times != times).await.is_err();
        if gone {
            // Nobody can cancel it any more; but the gate is there as long as it is held.
            std::future::pending().await
        }
    }

    fn change(&self, change: impl FnOnce(&mut State)) {
        if let Some(gate) = self.gates.lock().get(&self.session) {
            gate.state.send_modify(change);
        }
    }
}

impl Drop for Hold {
    fn drop(&mut self) {
        let mut gates = self.gates.lock();
        if let Some(gate) = gates.get_mut(&self.session) {
            gate.holders -= 1;
            if gate.holders == 0 {
                gates.remove(&self.session);
            }
        }
    }
}

impl Drop for Cancelling {
    fn drop(&mut self) {
        self.hold.change(|state| state.closed -= 1);
    }
}
