//! One interface to an agent for both versions of the protocol.

use std::io;
use std::path::Path;
use std::time::Duration;

use agentwire_acp_client::{BoxError, CallError, Closed};
use agentwire_acp_schema::v1::{
    CurrentModeUpdate, Implementation, McpServer, SessionConfigOptionValue, SessionId, error_code,
};
use agentwire_acp_toolkit::{Toolkit, Update};
use futures_util::Stream;
use serde::Serialize;

use super::agent_login::{LoginMethod, LoginNeeded};
use super::client::Client;
use super::settings::{self, ModeSetting, RequestedSetting};
use crate::chat::input::prompt::{Piece, PromptSupport};
use crate::chat::view::display::Display;
use crate::terminal::View;

/// An agent with our client for it. The two versions of the protocol implement it.
pub(super) trait AgentAdapter {
    /// The answer to `initialize`.
    type Initialized: Serialize + Clone + Send + Sync + 'static;
    /// An item of `session/list`.
    type SessionInfo: ListedSession;
    /// The items of `session/list`, from all pages.
    type Sessions: Stream<Item = Result<Self::SessionInfo, CallError>> + Unpin;

    /// The client's part, with its files and terminals.
    fn toolkit(&self) -> &Toolkit<Client>;

    fn client(&self) -> &Client {
        self.toolkit().user_interface()
    }

    /// The display of the session.
    fn display(&self) -> &Display {
        self.client().display()
    }

    /// Sends `initialize`, unless that has negotiated the version already.
    async fn initialize(&self, limit: Duration) -> Result<(), BoxError>;

    /// The answer to `initialize`. `None` before it has arrived.
    fn initialized(&self) -> Option<&Self::Initialized>;

    /// The agent's name and version.
    fn info(&self) -> Option<&Implementation>;

    /// The kinds of content that the agent takes.
    fn prompt_support(&self) -> PromptSupport;

    /// The ways to log in that the agent offers.
    fn login_methods(&self) -> Vec<LoginMethod>;

    /// Logs in by a method that the agent executes by itself: `authenticate`, in version 2 `auth/login`.
    async fn log_in(&self, method: &str) -> Result<(), CallError>;

    /// Completes when the connection is closed.
    async fn closed(&self) -> Closed;

    /// Whether the connection is closed.
    fn is_closed(&self) -> bool;

    /// Whether the agent can list its sessions.
    fn can_list(&self) -> bool;

    /// Whether the agent can open an existing session.
    fn can_reopen(&self) -> bool;

    /// `session/list`, for one directory if it is given.
    fn sessions(&self, cwd: Option<&Path>) -> Self::Sessions;

    /// `session/delete`.
    async fn delete(&self, session: &str, limit: Duration) -> Result<(), CallError>;

    /// `session/new`.
    async fn new_session(
        &self,
        cwd: &Path,
        servers: Vec<McpServer>,
        limit: Duration,
    ) -> Result<SessionId, BoxError>;

    /// Opens an existing session, with a replay of its conversation if the agent supports that.
    async fn reopen_session(
        &self,
        session: SessionId,
        cwd: &Path,
        servers: Vec<McpServer>,
        limit: Duration,
    ) -> Result<SessionId, BoxError>;

    /// Waits for the answer that opens a session, and shows it.
    async fn answered<R>(&self, call: impl IntoFuture<Output = Result<R, CallError>>) -> Result<R, BoxError> {
        let answer = call.await.map_err(|error| self.explain(error))?;
        self.client().show_opened()?;
        Ok(answer)
    }

    /// Changes a setting.
    async fn set(&self, session: &SessionId, setting: &RequestedSetting) -> Result<(), BoxError> {
        match setting {
            RequestedSetting::Mode(mode) => self.set_mode(session, mode).await,
            RequestedSetting::Option { id, value } => self.set_option(session, id, value).await,
        }
    }

    /// Changes the mode, which may be given by its name.
    async fn set_mode(&self, session: &SessionId, mode: &str) -> Result<(), BoxError> {
        match self.display().conversation(|conversation| settings::mode_setting(conversation, mode))? {
            ModeSetting::Option(option) => self.set_option(session, &option, mode).await,
            ModeSetting::Mode(mode) => {
                self.send_mode(session, &mode).await?;
                Ok(self.client().apply(CurrentModeUpdate::new(mode))?)
            }
        }
    }

    /// Sets an option, whose value may be given by its name.
    async fn set_option(&self, session: &SessionId, option: &str, value: &str) -> Result<(), BoxError> {
        let value = self
            .display()
            .conversation(|conversation| settings::option_value(conversation, option, value))?;
        let update = self.send_option(session, option, value).await?;
        Ok(self.client().apply(update)?)
    }

    /// `session/set_mode`, of an agent that offers modes.
    async fn send_mode(&self, session: &SessionId, mode: &str) -> Result<(), CallError>;

    /// `session/set_config_option`. Returns all options.
    async fn send_option(
        &self,
        session: &SessionId,
        option: &str,
        value: SessionConfigOptionValue,
    ) -> Result<Update, BoxError>;

    /// Shows the modes.
    fn list_modes(&self, view: &View) -> Result<(), BoxError> {
        let lines = self.display().conversation(|conversation| settings::mode_lines(conversation));
        Ok(view.list(&lines, "The agent offers no modes.")?)
    }

    /// Shows the options.
    fn list_options(&self, view: &View) -> Result<(), BoxError> {
        let lines = self.display().conversation(|conversation| settings::option_lines(conversation));
        Ok(view.list(&lines, "The agent offers no options.")?)
    }

    /// `session/prompt`, until the turn ends.
    async fn prompt(&self, session: &SessionId, prompt: Vec<Piece>) -> Result<StoppedTurn, CallError>;

    /// `session/cancel`.
    async fn cancel(&self, session: &SessionId) -> Result<(), CallError>;

    /// Called when a turn has ended. `stopped` is `None` if the turn failed.
    fn turn_ended(&self, stopped: Option<&StoppedTurn>) -> io::Result<()> {
        let was_cancelled = stopped.is_none_or(|stopped| stopped.kind == StopKind::Cancelled);
        self.client().turn_ended(was_cancelled)
    }

    /// Adds advice to an error, such as how to log in.
    fn explain(&self, error: CallError) -> BoxError {
        match error.refusal().map(|refusal| refusal.code) {
            Some(error_code::AUTH_REQUIRED) => LoginNeeded::explain(error, self.login_methods()),
            _ => error.into(),
        }
    }
}

/// An item of `session/list`.
pub(super) trait ListedSession: Serialize + Send + Sync + 'static {
    fn row(&self) -> SessionRow<'_>;
}

/// The parts of a session that a list shows.
pub(super) struct SessionRow<'a> {
    pub(super) id: &'a SessionId,
    pub(super) cwd: &'a Path,
    pub(super) title: Option<&'a str>,
    pub(super) updated_at: Option<&'a str>,
}

/// The items of both versions. Their types have the same members.
macro_rules! listed_session {
    ($version:ident) => {
        impl ListedSession for agentwire_acp_schema::$version::SessionInfo {
            fn row(&self) -> SessionRow<'_> {
                SessionRow {
                    id: &self.session_id,
                    cwd: &self.cwd,
                    title: self.title.as_deref(),
                    updated_at: self.updated_at.as_deref(),
                }
            }
        }
    };
}

listed_session!(v1);
listed_session!(v2);

/// How a turn ended.
pub(super) struct StoppedTurn {
    /// The stop reason as the agent wrote it. It may be as long as a message.
    pub(super) reason: Option<String>,
    pub(super) kind: StopKind,
}

/// The stop reasons that a chat distinguishes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StopKind {
    /// It succeeded, or the agent of version 2 sends no reason.
    EndTurn,
    Cancelled,
    Refusal,
    Error,
    /// A limit, or a reason that is not known.
    Other,
}

/// The error for a turn that ended before its work was done. The reason is shown already.
#[derive(Debug, thiserror::Error)]
#[error("{text}")]
pub(super) struct TurnStopped {
    pub(super) text: String,
    /// Whether the agent cancelled it by itself.
    pub(super) is_cancelled: bool,
}

/// Our name and version for `initialize`.
pub(super) fn client_info() -> Implementation {
    Implementation::new("agentwire", env!("CARGO_PKG_VERSION"))
}
