//! The terminals that a turn's handler starts.

use std::fmt;

use agentwire_acp_schema::v1::{
    CreateTerminalRequest, KillTerminalRequest, ReleaseTerminalResponse, TerminalExitStatus, TerminalId,
    TerminalOutputRequest, TerminalOutputResponse, WaitForTerminalExitRequest, WaitForTerminalExitResponse,
};

use super::{Turn, TurnError};

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
    /// [`TurnError::Cancelled`], [`TurnError::Ended`]; [`TurnError::Call`] when the client does not support it or refuses,
    /// or the command cannot be started.
    pub async fn terminal(&self, mut request: CreateTerminalRequest) -> Result<Terminal, TurnError> {
        request.cwd.get_or_insert_with(|| self.cwd().to_owned());
        let created = self.unless_cancelled(async { self.0.terminals.create(request).await }).await?;
        let terminal_id = created?.terminal_id;
        Ok(Terminal { turn: self.clone(), terminal_id, is_released: false })
    }
}

/// A terminal in which a command runs.
///
/// ```
/// use agentwire_acp_sessions::schema::CreateTerminalRequest;
/// use agentwire_acp_sessions::{Turn, TurnError};
///
/// /// Runs the tests, and returns their output and whether they passed.
/// async fn run_tests(turn: &Turn) -> Result<(String, bool), TurnError> {
///     let command = CreateTerminalRequest::new(turn.session_id(), "cargo").args(["test", "--quiet"]);
///     let terminal = turn.terminal(command.output_byte_limit(64_000)).await?;
///     let ended = terminal.finish().await?;
///     let code = ended.exit_status.and_then(|status| status.exit_code);
///     Ok((ended.output, code == Some(0)))
/// }
/// ```
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

    /// Waits until the command ends, reads its output, and releases the terminal. The answer has the exit status.
    ///
    /// # Errors
    ///
    /// As [`Turn::terminal`].
    pub async fn finish(self) -> Result<TerminalOutputResponse, TurnError> {
        let exit = self.wait().await?;
        let mut output = self.output().await?;
        // A client may leave it out of this answer.
        output.exit_status.get_or_insert_with(|| TerminalExitStatus::from(exit));
        self.release().await?;
        Ok(output)
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
