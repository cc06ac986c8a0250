//! Terminals: those of the client in version 1, those of the agent's machine in version 2. Each is released at the latest when its turn ends.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use agentwire_acp_agent::CallError;
use agentwire_acp_schema::v1::{
    CreateTerminalRequest, CreateTerminalResponse, KillTerminalRequest, ReleaseTerminalRequest,
    ReleaseTerminalResponse, SessionId, TerminalId, TerminalOutputRequest, TerminalOutputResponse,
    WaitForTerminalExitRequest, WaitForTerminalExitResponse,
};
use agentwire_sync::Monitor;
use futures::channel::oneshot;
use futures::future::join;

use super::{Turn, TurnError};
use crate::background::Background;
use crate::workspace::Workspace;

impl Turn {
    /// Starts a command in a terminal, in [`cwd`](Self::cwd) unless the request has a directory.
    ///
    /// In version 1 the client runs it. Version 2 has no such method, so there the command runs on the agent's machine, and
    /// the client is shown its output: at most five times a second while it runs, and as a whole when it has ended, which is
    /// what is stored.
    ///
    /// [`ToolCallContent::Terminal`](agentwire_acp_schema::v1::ToolCallContent) shows it to the user until it is released.
    /// Dropping the handle kills and releases it; so does the end of the turn.
    ///
    /// # Errors
    ///
    /// [`TurnError::Cancelled`], [`TurnError::Over`]; [`TurnError::Call`] when the client does not support it or refuses,
    /// or the command cannot be started.
    pub async fn terminal(&self, mut request: CreateTerminalRequest) -> Result<Terminal, TurnError> {
        request.cwd.get_or_insert_with(|| self.cwd().to_owned());
        let created = self.unless_cancelled(async { self.0.terminals.create(request).await }).await?;
        let terminal_id = created?.terminal_id;
        Ok(Terminal { turn: self.clone(), terminal_id, is_released: false })
    }
}

/// A terminal in which a command runs.
pub struct Terminal {
    turn: Turn,
    terminal_id: TerminalId,
    is_released: bool,
}

impl Terminal {
    /// Returns the id of the terminal, such as to show it in a tool call.
    pub fn id(&self) -> &TerminalId {
        &self.terminal_id
    }

    /// Returns the output of the command so far.
    ///
    /// # Errors
    ///
    /// As [`Turn::terminal`].
    pub async fn output(&self) -> Result<TerminalOutputResponse, TurnError> {
        let request = TerminalOutputRequest::new(self.turn.session_id(), &self.terminal_id);
        Ok(self.turn.unless_cancelled(self.turn.0.workspace.terminal_output(request)).await??)
    }

    /// Waits until the command ends.
    ///
    /// # Errors
    ///
    /// As [`Turn::terminal`].
    pub async fn wait(&self) -> Result<WaitForTerminalExitResponse, TurnError> {
        let request = WaitForTerminalExitRequest::new(self.turn.session_id(), &self.terminal_id);
        let exit = self.turn.0.workspace.wait_for_terminal_exit(request);
        let exit = self.turn.unless_cancelled(exit).await??;
        self.turn.0.terminals.set_exited(&self.terminal_id);
        Ok(exit)
    }

    /// Kills the command. Its output can still be read.
    ///
    /// # Errors
    ///
    /// As [`Turn::terminal`].
    pub async fn kill(&self) -> Result<(), TurnError> {
        let request = KillTerminalRequest::new(self.turn.session_id(), &self.terminal_id);
        self.turn.unless_cancelled(self.turn.0.workspace.kill_terminal(request)).await??;
        self.turn.0.terminals.set_exited(&self.terminal_id);
        Ok(())
    }

    /// Releases the terminal, and waits for the client's answer. A command that still runs is killed.
    ///
    /// # Errors
    ///
    /// [`TurnError::Call`] when the client refuses.
    pub async fn release(mut self) -> Result<(), TurnError> {
        self.is_released = true;
        match self.turn.0.terminals.release(&self.terminal_id) {
            Some(released) => released.await.unwrap_or(Ok(ReleaseTerminalResponse::new()))?,
            None => return Ok(()),
        };
        Ok(())
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        if !self.is_released {
            self.turn.0.terminals.release(&self.terminal_id);
        }
    }
}

impl fmt::Debug for Terminal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Terminal").field("id", &self.terminal_id).finish_non_exhaustive()
    }
}

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
    is_over: bool,
}

type CreateResult = Result<CreateTerminalResponse, CallError>;
type ReleaseResult = Result<ReleaseTerminalResponse, CallError>;

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

    /// Creates a terminal. The call runs in the background, so a terminal whose caller is gone by then is released.
    async fn create(self: &Arc<Self>, request: CreateTerminalRequest) -> CreateResult {
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
        let is_over = self.state.with(|state| {
            state.open.insert(id.clone(), false);
            state.is_over
        });
        if is_over {
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

    fn set_exited(&self, id: &TerminalId) {
        self.state.with(|state| {
            if let Some(has_ended) = state.open.get_mut(id) {
                *has_ended = true;
            }
        });
    }

    /// Releases a terminal in the background. Returns none where it was released before.
    fn release(self: &Arc<Self>, id: &TerminalId) -> Option<oneshot::Receiver<ReleaseResult>> {
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
            state.is_over = true;
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
