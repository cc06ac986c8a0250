//! The terminals of one turn: the client's in version 1, those of the agent's machine in version 2. Each is released when its
//! turn ends, at the latest.

use std::collections::HashMap;
use std::sync::Arc;

use agentwire_acp_agent::CallError;
use agentwire_acp_schema::v1::{
    CreateTerminalRequest, CreateTerminalResponse, KillTerminalRequest, ReleaseTerminalRequest,
    ReleaseTerminalResponse, SessionId, TerminalId,
};
use agentwire_sync::Monitor;
use futures_channel::oneshot;
use futures_util::future::join;

use crate::connection::background::Background;
use crate::workspace::Workspace;

/// The terminals of one turn.
pub(super) struct Terminals {
    session_id: SessionId,
    turn: u64,
    workspace: Workspace,
    background: Background,
    state: Monitor<TerminalStates>,
}

#[derive(Default)]
struct TerminalStates {
    /// The terminals that are open, and whether the command of each has ended.
    open: HashMap<TerminalId, bool>,
    /// How many calls that create or release a terminal are pending, and how many terminals are being shown.
    pending: usize,
    turn_ended: bool,
}

pub(super) type CreateResult = Result<CreateTerminalResponse, CallError>;
pub(super) type ReleaseResult = Result<ReleaseTerminalResponse, CallError>;

impl Terminals {
    /// `turn` is the number of the turn in its session.
    pub(super) fn new(
        session_id: SessionId,
        turn: u64,
        workspace: Workspace,
        background: Background,
    ) -> Self {
        Self { session_id, turn, workspace, background, state: Monitor::default() }
    }

    /// Creates a terminal. The call runs in the background, so the terminal is released even if the caller was dropped.
    pub(super) async fn create(self: &Arc<Self>, request: CreateTerminalRequest) -> CreateResult {
        let (sender, created) = oneshot::channel();
        self.state.with(|state| state.pending += 1);
        let this = self.clone();
        self.background.run(async move {
            let outcome = this.workspace.create_terminal(this.turn, request).await;
            if let Ok(created) = &outcome {
                this.add(&created.terminal_id);
                this.show(&created.terminal_id);
            }
            if let Err(Ok(unwanted)) = sender.send(outcome) {
                this.release(&unwanted.terminal_id);
            }
            this.done();
        });
        created.await.unwrap_or(Err(CallError::Closed(agentwire_acp_agent::Closed::default())))
    }

    fn add(self: &Arc<Self>, id: &TerminalId) {
        let turn_ended = self.state.with(|state| {
            state.open.insert(id.clone(), false);
            state.turn_ended
        });
        if turn_ended {
            self.release(id);
        }
    }

    /// Shows a terminal of the agent's machine to the client, until its command has ended.
    fn show(self: &Arc<Self>, id: &TerminalId) {
        #[cfg(feature = "v2")]
        if let Workspace::Local(local) = &self.workspace {
            self.state.with(|state| state.pending += 1);
            let (this, local, id) = (self.clone(), local.clone(), id.clone());
            self.background.run(async move {
                local.show(this.turn, &this.session_id, &id).await;
                this.done();
            });
        }
        #[cfg(not(feature = "v2"))]
        let _ = id;
    }

    /// Records that the command of a terminal has ended, so that it is not killed.
    pub(super) fn set_exited(&self, id: &TerminalId) {
        self.state.with(|state| {
            if let Some(has_ended) = state.open.get_mut(id) {
                *has_ended = true;
            }
        });
    }

    /// Releases a terminal in the background. Returns `None` if it was released before.
    pub(super) fn release(self: &Arc<Self>, id: &TerminalId) -> Option<oneshot::Receiver<ReleaseResult>> {
        let has_ended = self.state.with(|state| {
            let has_ended = state.open.remove(id)?;
            state.pending += 1;
            Some(has_ended)
        })?;
        let (sender, released) = oneshot::channel();
        let kill = KillTerminalRequest::new(&self.session_id, id);
        let release = ReleaseTerminalRequest::new(&self.session_id, id);
        let this = self.clone();
        self.background.run(async move {
            let kill = this.workspace.kill_terminal(kill);
            let release = this.workspace.release_terminal(release);
            let outcome = if has_ended { release.await } else { join(kill, release).await.1 };
            this.done();
            let _dropped = sender.send(outcome);
        });
        Some(released)
    }

    /// Releases all terminals, and waits for the client's answers.
    pub(super) async fn finish(self: &Arc<Self>) {
        let open: Vec<_> = self.state.with(|state| {
            state.turn_ended = true;
            state.open.keys().cloned().collect()
        });
        for id in &open {
            self.release(id);
        }
        self.state.wait_until(|state| (state.pending == 0).then_some(())).await;
    }

    fn done(&self) {
        self.state.update(|state| state.pending -= 1);
    }
}
