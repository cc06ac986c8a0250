//! Terminals of the client, which are given back whatever happens.

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
    /// Starts a command in a terminal of the client's, in [`cwd`](Self::cwd) unless the request says where.
    ///
    /// Show it with [`ToolCallContent::Terminal`](agentwire_acp_schema::v1::ToolCallContent) before it is given back. It
    /// is killed and given back when the handle is dropped, and at the latest when the turn ends.
    ///
    /// # Errors
    ///
    /// [`TurnError::Cancelled`], [`TurnError::Over`]; [`TurnError::Call`] when the client cannot or will not.
    pub async fn terminal(&self, mut request: CreateTerminalRequest) -> Result<Terminal, TurnError> {
        request.cwd.get_or_insert_with(|| self.cwd().to_owned());
        let created = self.unless_cancelled(async { self.0.terminals.create(request).await }).await?;
        let terminal_id = created?.terminal_id;
        Ok(Terminal { turn: self.clone(), terminal_id, is_released: false })
    }
}

/// A terminal of the client's in which a command runs.
pub struct Terminal {
    turn: Turn,
    terminal_id: TerminalId,
    is_released: bool,
}

impl Terminal {
    /// Names it, such as to show it within a tool call.
    pub fn id(&self) -> &TerminalId {
        &self.terminal_id
    }

    /// What the command has written so far.
    ///
    /// # Errors
    ///
    /// As [`Turn::terminal`].
    pub async fn output(&self) -> Result<TerminalOutputResponse, TurnError> {
        let request = TerminalOutputRequest::new(self.turn.session_id(), &self.terminal_id);
        Ok(self.turn.unless_cancelled(self.turn.client().terminal_output(request)).await??)
    }

    /// Waits for the command to end.
    ///
    /// # Errors
    ///
    /// As [`Turn::terminal`].
    pub async fn wait(&self) -> Result<WaitForTerminalExitResponse, TurnError> {
        let request = WaitForTerminalExitRequest::new(self.turn.session_id(), &self.terminal_id);
        let exit = self.turn.unless_cancelled(self.turn.client().wait_for_terminal_exit(request)).await??;
        self.turn.0.terminals.note_exit(&self.terminal_id);
        Ok(exit)
    }

    /// Ends the command. What it has written can still be asked for.
    ///
    /// # Errors
    ///
    /// As [`Turn::terminal`].
    pub async fn kill(&self) -> Result<(), TurnError> {
        let request = KillTerminalRequest::new(self.turn.session_id(), &self.terminal_id);
        self.turn.unless_cancelled(self.turn.client().kill_terminal(request)).await??;
        self.turn.0.terminals.note_exit(&self.terminal_id);
        Ok(())
    }

    /// Gives the terminal back, and waits until the client has taken it. A command that still runs is killed.
    ///
    /// # Errors
    ///
    /// [`TurnError::Call`] when the client does not take it.
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

/// The terminals of one turn: which are open, and which are on their way in or out.
pub(super) struct Terminals {
    session_id: SessionId,
    client: Client,
    background: Background,
    state: Monitor<State>,
}

#[derive(Default)]
struct State {
    /// Whether the command of each has ended.
    open: HashMap<TerminalId, bool>,
    /// How many calls that make one or give one back are under way.
    under_way: usize,
    is_over: bool,
}

type Created = Result<CreateTerminalResponse, CallError>;
type Released = Result<ReleaseTerminalResponse, CallError>;

impl Terminals {
    pub(super) fn new(session_id: SessionId, client: Client, background: Background) -> Self {
        Self { session_id, client, background, state: Monitor::default() }
    }

    /// Makes one. The call goes on in the background, so that a terminal which is made for somebody who has gone is
    /// given back and not lost.
    async fn create(self: &Arc<Self>, request: CreateTerminalRequest) -> Created {
        let (tell, created) = oneshot::channel();
        let call = self.client.create_terminal(request);
        self.state.with(|state| state.under_way += 1);
        let this = self.clone();
        self.background.run(async move {
            let outcome = call.await;
            if let Ok(created) = &outcome {
                this.note_created(&created.terminal_id);
            }
            if let Err(Ok(unwanted)) = tell.send(outcome) {
                this.release(&unwanted.terminal_id);
            }
            this.done();
        });
        created.await.unwrap_or(Err(CallError::Closed(agentwire_acp_agent::Closed::default())))
    }

    fn note_created(self: &Arc<Self>, id: &TerminalId) {
        let is_over = self.state.with(|state| {
            state.open.insert(id.clone(), false);
            state.is_over
        });
        if is_over {
            self.release(id);
        }
    }

    fn note_exit(&self, id: &TerminalId) {
        self.state.with(|state| {
            if let Some(has_ended) = state.open.get_mut(id) {
                *has_ended = true;
            }
        });
    }

    /// Gives one back, in the background. None where that was begun before.
    fn release(self: &Arc<Self>, id: &TerminalId) -> Option<oneshot::Receiver<Released>> {
        let has_ended = self.state.with(|state| {
            let has_ended = state.open.remove(id)?;
            state.under_way += 1;
            Some(has_ended)
        })?;
        let (tell, released) = oneshot::channel();
        let kill = self.client.kill_terminal(KillTerminalRequest::new(&self.session_id, id));
        let release = self.client.release_terminal(ReleaseTerminalRequest::new(&self.session_id, id));
        let this = self.clone();
        self.background.run(async move {
            let outcome = if has_ended { release.await } else { join(kill, release).await.1 };
            this.done();
            let _gone = tell.send(outcome);
        });
        Some(released)
    }

    /// Gives all of them back, and waits until the client has taken them.
    pub(super) async fn finish(self: &Arc<Self>) {
        let open: Vec<_> = self.state.with(|state| {
            state.is_over = true;
            state.open.keys().cloned().collect()
        });
        for id in &open {
            self.release(id);
        }
        self.state.wait_until(|state| (state.under_way == 0).then_some(())).await;
    }

    fn done(&self) {
        self.state.update(|state| state.under_way -= 1);
    }
}
