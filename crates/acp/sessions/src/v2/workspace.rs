//! The files and terminals of the agent's machine. Version 2 has no methods for those of the client; instead the agent shows
//! what its terminals do.

use std::path::PathBuf;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use agentwire_acp_agent::CallError;
use agentwire_acp_schema::v1::{
    CreateTerminalRequest, CreateTerminalResponse, KillTerminalRequest, KillTerminalResponse, Meta,
    ReadTextFileRequest, ReadTextFileResponse, ReleaseTerminalRequest, ReleaseTerminalResponse, SessionId,
    SessionUpdate, TerminalId, TerminalOutputRequest, TerminalOutputResponse, WaitForTerminalExitRequest,
    WaitForTerminalExitResponse, WriteTextFileRequest, WriteTextFileResponse,
};
use agentwire_acp_schema::v2::{
    self, AbsolutePath, Patch, TerminalExitStatus, TerminalOutput, TerminalOutputChunk, TerminalUpdate,
};
use agentwire_acp_toolkit::Workspace;
use agentwire_jsonrpc::RequestMethod;
use agentwire_peer::{Clock, TokioClock};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use futures_util::future::{Either, select};

use crate::log::{Change, LogError, Update, UpdateLog};

/// How often the output of a command that runs is shown at most.
const SHOW_PAUSE: Duration = Duration::from_millis(200);

/// How often it is shown over the terminal's limit, where all of it is sent each time.
const LONG_SHOW_PAUSE: Duration = Duration::from_secs(2);

/// The files and terminals of one session.
#[derive(Debug)]
pub(crate) struct LocalWorkspace {
    workspace: Workspace,
    log: Arc<UpdateLog>,
    /// A suffix that makes the ids of terminals unique in the session, replayed updates included.
    suffix: String,
}

impl LocalWorkspace {
    /// Works within `roots`, the first of which is the working directory.
    pub(crate) fn new(roots: &[PathBuf], unique: &str, log: Arc<UpdateLog>) -> Self {
        let workspace = Workspace::new(&roots[0], &roots[1..]);
        Self { workspace, log, suffix: format!("-{unique}") }
    }

    pub(crate) async fn read_text_file(
        &self,
        request: ReadTextFileRequest,
    ) -> Result<ReadTextFileResponse, CallError> {
        self.workspace.files().read(&request).await.map_err(refused::<ReadTextFileRequest>)
    }

    pub(crate) async fn write_text_file(
        &self,
        request: WriteTextFileRequest,
    ) -> Result<WriteTextFileResponse, CallError> {
        self.workspace.files().write(&request).await.map_err(refused::<WriteTextFileRequest>)
    }

    /// Starts a command and sends the update that begins its terminal.
    pub(crate) async fn create_terminal(
        &self,
        turn: u64,
        request: CreateTerminalRequest,
    ) -> Result<CreateTerminalResponse, CallError> {
        let created = self.workspace.terminals().create(&request).await;
        let inner = created.map_err(refused::<CreateTerminalRequest>)?.terminal_id;
        let id = TerminalId::from(format!("{inner}{}", self.suffix));
        let words: Vec<_> = std::iter::once(request.command).chain(request.args).collect();
        let mut update = TerminalUpdate::new(&id).command(words.join(" "));
        update.cwd = request.cwd.map_or(Patch::Keep, |cwd| Patch::Set(AbsolutePath::from(cwd)));
        // The terminal is released when its turn has ended.
        let _over = self.write(turn, &update.into(), Update::broadcast).await;
        Ok(CreateTerminalResponse::new(id))
    }

    pub(crate) async fn terminal_output(
        &self,
        mut request: TerminalOutputRequest,
    ) -> Result<TerminalOutputResponse, CallError> {
        request.terminal_id = self.inner(&request.terminal_id);
        self.workspace.terminals().output(&request).await.map_err(refused::<TerminalOutputRequest>)
    }

    pub(crate) async fn wait_for_terminal_exit(
        &self,
        mut request: WaitForTerminalExitRequest,
    ) -> Result<WaitForTerminalExitResponse, CallError> {
        request.terminal_id = self.inner(&request.terminal_id);
        let exit = self.workspace.terminals().wait_for_exit(&request).await;
        exit.map_err(refused::<WaitForTerminalExitRequest>)
    }

    pub(crate) async fn kill_terminal(
        &self,
        mut request: KillTerminalRequest,
    ) -> Result<KillTerminalResponse, CallError> {
        request.terminal_id = self.inner(&request.terminal_id);
        self.workspace.terminals().kill(&request).await.map_err(refused::<KillTerminalRequest>)
    }

    pub(crate) async fn release_terminal(
        &self,
        mut request: ReleaseTerminalRequest,
    ) -> Result<ReleaseTerminalResponse, CallError> {
        request.terminal_id = self.inner(&request.terminal_id);
        self.workspace.terminals().release(&request).await.map_err(refused::<ReleaseTerminalRequest>)
    }

    /// Shows the output of a terminal while its command runs, and how it ended. What is shown while it runs is not stored; the
    /// whole output is, with the end.
    pub(crate) async fn show(&self, turn: u64, session: &SessionId, id: &TerminalId) {
        let inner = self.inner(id);
        let mut exit = pin!(self.wait_for_terminal_exit(WaitForTerminalExitRequest::new(session, id)));
        let (mut shown, mut pause) = (String::new(), SHOW_PAUSE);
        while let Either::Right(((), _)) = select(exit.as_mut(), TokioClock::default().sleep(pause)).await {
            let Some(now) = self.workspace.terminals().shown(&inner) else { return };
            let update = match now.output.strip_prefix(&*shown) {
                Some("") => continue,
                Some(more) => TerminalOutputChunk::new(id, STANDARD.encode(more)).into(),
                None => TerminalUpdate::new(id).output(encoded(&now.output)).into(),
            };
            if self.write(turn, &update, Update::announcement).await.is_err() {
                return;
            }
            (shown, pause) = (now.output, if now.truncated { LONG_SHOW_PAUSE } else { SHOW_PAUSE });
        }
        let Some(end) = self.workspace.terminals().shown(&inner) else { return };
        let mut status = TerminalExitStatus::new();
        if let Some(exit) = end.exit_status {
            (status.exit_code, status.signal) = (exit.exit_code.map(i64::from), exit.signal);
        }
        let update = TerminalUpdate::new(id).exit_status(status);
        let with_output = update.clone().output(encoded(&end.output)).into();
        if let Err(LogError::TooLong { .. }) = self.write(turn, &with_output, Update::broadcast).await {
            let _over = self.write(turn, &update.into(), Update::broadcast).await;
        }
    }

    /// Writes an update that only version 2 has. The journal and the log keep it as it is.
    async fn write(
        &self,
        turn: u64,
        update: &v2::SessionUpdate,
        kind: impl FnOnce(SessionUpdate) -> Update,
    ) -> Result<(), LogError> {
        let object = Meta::encode(update).map_err(|why| LogError::NotJson(why.to_string().into()))?;
        self.log.write(turn, Change::Update(kind(SessionUpdate::Unknown(object)))).await
    }

    /// Returns the id that the toolkit has given to a terminal.
    fn inner(&self, id: &TerminalId) -> TerminalId {
        id.strip_suffix(&*self.suffix).map_or_else(|| id.clone(), TerminalId::from)
    }
}

fn encoded(output: &str) -> TerminalOutput {
    TerminalOutput::new(STANDARD.encode(output))
}

fn refused<M: RequestMethod>(error: agentwire_acp_agent::Error) -> CallError {
    CallError::not_allowed(M::NAME, error.message)
}
