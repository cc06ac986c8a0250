use agentwire_acp_schema::v2::SessionId;
use agentwire_sync::{Mutex, MutexGuard};
use futures::FutureExt;
use futures::channel::oneshot;
use futures::future::{AbortHandle, Shared};

/// Completes when a prompt is cancelled or over.
pub(crate) type Over = Shared<oneshot::Receiver<()>>;

/// How far a prompt has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    /// The message is not part of the conversation yet.
    Waiting,
    /// It is, and the agent works.
    Accepted,
    /// It is over.
    Ended,
}

/// A prompt and the work that it began.
#[derive(Debug)]
pub(crate) struct Work {
    pub(crate) session: SessionId,
    state: Mutex<State>,
    over: Over,
    /// Drops what works on it.
    drop: AbortHandle,
}

#[derive(Debug)]
struct State {
    phase: Phase,
    is_cancelled: bool,
    /// Whether somebody accepts it.
    is_taken: bool,
    /// Dropped or used when it is cancelled or over.
    until: Option<oneshot::Sender<()>>,
}

impl Work {
    pub(crate) fn new(session: SessionId, drop: AbortHandle) -> Self {
        let (until, over) = oneshot::channel();
        let state = State { phase: Phase::Waiting, is_cancelled: false, is_taken: false, until: Some(until) };
        Self { session, state: Mutex::new(state), over: over.shared(), drop }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock()
    }

    /// Whoever accepts it is the only one to do so.
    pub(crate) fn take(&self) -> bool {
        !std::mem::replace(&mut self.state().is_taken, true)
    }

    pub(crate) fn advance(&self, from: Phase, to: Phase) -> bool {
        let mut state = self.state();
        let may = state.phase == from;
        if may {
            state.phase = to;
        }
        may
    }

    /// It is over. Says how far it had come.
    pub(crate) fn end(&self) -> Phase {
        let mut state = self.state();
        let until = state.until.take();
        let phase = std::mem::replace(&mut state.phase, Phase::Ended);
        drop(state);
        drop(until);
        phase
    }

    pub(crate) fn cancel(&self) {
        let mut state = self.state();
        state.is_cancelled = true;
        let until = state.until.take();
        drop(state);
        drop(until);
    }

    /// Whether it is over, though somebody may still hold it.
    pub(crate) fn is_over(&self) -> bool {
        self.state().phase == Phase::Ended
    }

    /// Has whatever works on it dropped, where that is a prompt's.
    pub(crate) fn give_up(&self) {
        self.drop.abort();
    }

    pub(crate) fn is_cancelled(&self) -> bool {
        self.state().is_cancelled
    }

    pub(crate) fn over(&self) -> Over {
        self.over.clone()
    }
}
