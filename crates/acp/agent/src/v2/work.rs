//! The progress and cancellation of a prompt, or of foreground work without a prompt.

use agentwire_acp_schema::v2::SessionId;
use agentwire_sync::{Mutex, MutexGuard};
use futures_channel::oneshot;
use futures_util::FutureExt;
use futures_util::future::{AbortHandle, Shared};

/// Completes when the work is cancelled or ends.
pub(crate) type StopSignal = Shared<oneshot::Receiver<()>>;

/// The progress of a prompt, or of foreground work without a prompt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    /// The message is not part of the session yet.
    Waiting,
    /// The message is part of the session, and the agent works.
    Accepted,
    /// The work has ended.
    Ended,
}

/// A prompt, or foreground work without a prompt.
#[derive(Debug)]
pub(crate) struct Work {
    pub(crate) session: SessionId,
    state: Mutex<WorkState>,
    stop_signal: StopSignal,
    /// Drops the future of the prompt.
    drop: AbortHandle,
}

#[derive(Debug)]
struct WorkState {
    phase: Phase,
    is_cancelled: bool,
    /// Whether a caller has begun to accept the prompt.
    is_taken: bool,
    /// Dropped when the work is cancelled or ends.
    stop_sender: Option<oneshot::Sender<()>>,
}

impl Work {
    pub(crate) fn new(session: SessionId, drop: AbortHandle) -> Self {
        let (stop_sender, stop_signal) = oneshot::channel();
        let state = WorkState {
            phase: Phase::Waiting,
            is_cancelled: false,
            is_taken: false,
            stop_sender: Some(stop_sender),
        };
        Self { session, state: Mutex::new(state), stop_signal: stop_signal.shared(), drop }
    }

    fn state(&self) -> MutexGuard<'_, WorkState> {
        self.state.lock()
    }

    /// Returns true for the first caller only. That caller accepts the prompt.
    pub(crate) fn take(&self) -> bool {
        !std::mem::replace(&mut self.state().is_taken, true)
    }

    /// Changes the phase to `to` if it is `from`. Returns whether the phase was changed.
    pub(crate) fn advance(&self, from: Phase, to: Phase) -> bool {
        let mut state = self.state();
        let may = state.phase == from;
        if may {
            state.phase = to;
        }
        may
    }

    /// Ends the work and returns its previous phase.
    pub(crate) fn end(&self) -> Phase {
        let mut state = self.state();
        let stop_sender = state.stop_sender.take();
        let phase = std::mem::replace(&mut state.phase, Phase::Ended);
        drop(state);
        drop(stop_sender);
        phase
    }

    pub(crate) fn cancel(&self) {
        let mut state = self.state();
        state.is_cancelled = true;
        let stop_sender = state.stop_sender.take();
        drop(state);
        drop(stop_sender);
    }

    /// Returns whether the work has ended, even if a handle to it still exists.
    pub(crate) fn has_ended(&self) -> bool {
        self.state().phase == Phase::Ended
    }

    /// Drops the future of a prompt. Foreground work without a prompt has no future.
    pub(crate) fn drop_future(&self) {
        self.drop.abort();
    }

    pub(crate) fn is_cancelled(&self) -> bool {
        self.state().is_cancelled
    }

    /// Returns the signal that completes when the work is cancelled or ends.
    pub(crate) fn stop_signal(&self) -> StopSignal {
        self.stop_signal.clone()
    }
}
