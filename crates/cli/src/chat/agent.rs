//! The agent, in one interface for both versions of the protocol.

use std::future::Future;
use std::io;
use std::path::Path;
use std::time::Duration;

use agentwire_acp_client::{BoxError, CallError, Closed};
use agentwire_acp_schema::v1::{Implementation, McpServer, SessionId};
use serde::Serialize;

use super::prompt::{Piece, PromptSupport};
use super::view::View;

/// An agent and our client for it: what differs between the versions.
pub(super) trait AgentAdapter {
    /// An item of `session/list`.
    type SessionInfo: Serialize + Send + Sync + 'static;
    /// The pages of `session/list`.
    type Sessions;

    /// Sends `initialize`, unless the version was negotiated by it already.
    async fn initialize(&self, limit: Duration) -> Result<(), BoxError>;

    /// Shows programs the answer to `initialize`.
    fn show_initialized(&self, view: &View) -> io::Result<()>;

    fn info(&self) -> Option<&Implementation>;

    fn prompt_support(&self) -> PromptSupport;

    /// Completes when the connection is closed.
    fn closed(&self) -> impl Future<Output = Closed> + 'static;

    fn is_closed(&self) -> bool;

    /// Whether the agent can list its sessions.
    fn can_list(&self) -> bool;

    /// `session/list`, for one directory if it is given.
    fn sessions(&self, cwd: Option<&Path>) -> Self::Sessions;

    async fn next_session(sessions: &mut Self::Sessions) -> Result<Option<Self::SessionInfo>, CallError>;

    fn row(session: &Self::SessionInfo) -> SessionRow<'_>;

    /// `session/delete`.
    async fn delete(&self, session: &str, limit: Duration) -> Result<(), CallError>;

    /// `session/new`.
    async fn new_session(
        &self,
        cwd: &Path,
        servers: Vec<McpServer>,
        limit: Duration,
    ) -> Result<SessionId, BoxError>;

    /// Opens an existing session, with a replay of its conversation where the agent has one.
    async fn reopen_session(
        &self,
        session: SessionId,
        cwd: &Path,
        servers: Vec<McpServer>,
        limit: Duration,
    ) -> Result<SessionId, BoxError>;

    /// Marks the beginning and the end of opening a session, during which a replay may come.
    fn set_opening(&self, opening: bool);

    /// Shows the mode, options, title and usage that changed during a turn or a replay.
    fn show_settings(&self) -> io::Result<()>;

    async fn set_mode(&self, session: &SessionId, mode: &str) -> Result<(), BoxError>;

    async fn set_option(&self, session: &SessionId, option: &str, value: &str) -> Result<(), BoxError>;

    fn list_modes(&self, view: &View) -> Result<(), BoxError>;

    fn list_options(&self, view: &View) -> Result<(), BoxError>;

    /// `session/prompt`, until the turn ends.
    async fn prompt(&self, session: &SessionId, prompt: Vec<Piece>) -> Result<Stopped, CallError>;

    /// `session/cancel`.
    async fn cancel(&self, session: &SessionId) -> Result<(), CallError>;

    /// The turn has ended, as `stopped` says unless it failed.
    fn turn_ended(&self, stopped: Option<&Stopped>) -> io::Result<()>;

    /// Adds to an error what the person can do about it.
    fn explain(&self, error: CallError) -> BoxError;

    /// Ends what runs in the session.
    async fn close(&self, session: &SessionId);
}

/// A session in a list.
pub(super) struct SessionRow<'a> {
    pub(super) id: &'a SessionId,
    pub(super) cwd: &'a Path,
    pub(super) title: Option<&'a str>,
    pub(super) updated_at: Option<&'a str>,
}

/// How a turn ended.
pub(super) struct Stopped {
    /// The stop reason as the agent wrote it, which may be as long as a message.
    pub(super) reason: Option<String>,
    pub(super) kind: StopKind,
}

/// The stop reasons that a chat handles in their own way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StopKind {
    EndTurn,
    Cancelled,
    Refusal,
    Error,
    Other,
}
