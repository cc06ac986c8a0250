//! Terminals of the client. Each is released at the latest when its turn ends.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use agentwire_acp_agent::{CallError, Client};
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

impl Turn {
    /// Starts a command in a terminal of the client, in [`cwd`](Self::cwd) unless the request has a directory.
    ///
    /// [`ToolCallContent::Terminal`](agentwire_acp_schema::v1::ToolCallContent) shows it to the user until it is released.
    /// Dropping the handle kills and releases it; so does the end of the turn.
    ///
    /// # Errors
    ///
    /// [`TurnError::Cancelled`], [`TurnError::Over`]; [`TurnError::Call`] when the client does not support it or refuses.
    pub async fn terminal(&self, mut request: CreateTerminalRequest) -> Result<Terminal, TurnError> {
        request.cwd.get_or_insert_with(|| self.cwd().to_owned());
        let created = self.unless_cancelled(async { self.0.terminals.create(request).await }).await?;
        let terminal_id = created?.terminal_id;
        Ok(Terminal { turn: self.clone(), terminal_id, is_released: false })
    }
}

/// A terminal of the client in which a command runs.
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
        Ok(self.turn.unless_cancelled(self.turn.client().terminal_output(request)).await??)
    }

    /// Waits until the command ends.
    ///
    /// # Errors
    ///
    /// As [`Turn::terminal`].
    pub async fn wait(&self) -> Result<WaitForTerminalExitResponse, TurnError> {
        let request = WaitForTerminalExitRequest::new(self.turn.session_id(), &self.terminal_id);
        let exit = self.turn.unless_cancelled(self.turn.client().wait_for_terminal_exit(request)).await??;
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
        self.turn.unless_cancelled(self.turn.client().kill_terminal(request)).await??;
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
    client: Client,
    background: Background,
    state: Monitor<TerminalStates>,
}

#[derive(Default)]
struct TerminalStates {
    /// The terminals that are open, and whether the command of each has ended.
    open: HashMap<TerminalId, bool>,
    /// How many calls that create or release a terminal are pending.
    pending: usize,
    is_over: bool,
}

type CreateResult = Result<CreateTerminalResponse, CallError>;
type ReleaseResult = Result<ReleaseTerminalResponse, CallError>;

impl Terminals {
    pub(super) fn new(session_id: SessionId, client: Client, background: Background) -> Self {
        Self { session_id, client, background, state: Monitor::default() }
    }

    /// Creates a terminal. The call runs in the background, so a terminal whose caller is gone by then is released.
    async fn create(self: &Arc<Self>, request: CreateTerminalRequest) -> CreateResult {
        let (sender, created) = oneshot::channel();
        let call = self.client.create_terminal(request);
        self.state.with(|state| state.pending += 1);
        let this = self.clone();
        self.background.run(async move {
            let outcome = call.await;
            if let Ok(created) = &outcome {
                this.add(&created.terminal_id);
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
        let kill = self.client.kill_terminal(KillTerminalRequest::new(&self.session_id, id));
        let release = self.client.release_terminal(ReleaseTerminalRequest::new(&self.session_id, id));
        let this = self.clone();
        self.background.run(async move {
            let outcome = if has_ended { release.await } else { join(kill, release).await.1 };
            this.done();
            let _nobody_waits = sender.send(outcome);
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
