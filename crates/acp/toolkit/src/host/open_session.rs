//! Opens a session of a host: a new one, or a stored one by loading or resuming.

use std::fmt;
use std::future::{Future, IntoFuture};
use std::path::{Path, PathBuf};
use std::pin::Pin;

use agentwire_acp_client::{AgentHandle, CallError};
use agentwire_acp_schema::v1::{
    LoadSessionRequest, McpServer, NewSessionRequest, ResumeSessionRequest, SessionId,
};

use super::agent::HostAgent;
use super::error::HostError;
use super::session::HostSession;
use crate::{Unattended, UserInterface};

impl<U: UserInterface + 'static> HostAgent<U> {
    /// Opens a session in a directory: a new one, or a stored one by [`OpenSession::load`] or [`OpenSession::resume`]. Nothing
    /// is sent until it is awaited. A relative path is resolved from the program's working directory.
    pub fn session(&self, cwd: impl AsRef<Path>) -> OpenSession<U> {
        OpenSession::new(self.clone(), cwd.as_ref())
    }
}

/// The builder of a session, from [`HostAgent::session`]. Awaiting it opens the session.
///
/// ```no_run
/// # use agentwire_acp_client::BoxError;
/// # use agentwire_acp_schema::v1::McpServerStdio;
/// # use agentwire_acp_toolkit::HostAgent;
/// # async fn run(agent: HostAgent) -> Result<(), BoxError> {
/// let files = McpServerStdio::new("files", "/usr/bin/files-server");
/// let new = agent.session("/repo").mcp_servers([files]).await?;
/// let old = agent.session("/repo").load("session-1").await?;
/// # let _ = (new, old);
/// # Ok(())
/// # }
/// ```
#[must_use = "a session is not opened until it is awaited"]
pub struct OpenSession<U = Unattended> {
    agent: HostAgent<U>,
    cwd: PathBuf,
    additional_directories: Vec<PathBuf>,
    mcp_servers: Vec<McpServer>,
    method: OpenMethod,
}

/// The call that opens the session.
#[derive(Clone, Debug)]
enum OpenMethod {
    New,
    Load(SessionId),
    Resume(SessionId),
}

impl<U: UserInterface + 'static> OpenSession<U> {
    pub(super) fn new(agent: HostAgent<U>, cwd: &Path) -> Self {
        let mcp_servers = agent.settings.mcp_servers.clone();
        let (additional_directories, method) = (Vec::new(), OpenMethod::New);
        Self { agent, cwd: cwd.to_owned(), additional_directories, mcp_servers, method }
    }

    /// Opens a stored session by `session/load`, which replays its updates into the conversation.
    pub fn load(mut self, session: impl Into<SessionId>) -> Self {
        self.method = OpenMethod::Load(session.into());
        self
    }

    /// Opens a stored session by `session/resume`, which replays nothing.
    pub fn resume(mut self, session: impl Into<SessionId>) -> Self {
        self.method = OpenMethod::Resume(session.into());
        self
    }

    /// Adds MCP servers to those of the host. The agent connects to them.
    pub fn mcp_servers(mut self, servers: impl IntoIterator<Item = impl Into<McpServer>>) -> Self {
        self.mcp_servers.extend(servers.into_iter().map(Into::into));
        self
    }

    /// Adds directories in which the agent may read and write files, beside the working directory.
    pub fn additional_directories(
        mut self,
        directories: impl IntoIterator<Item = impl Into<PathBuf>>,
    ) -> Self {
        self.additional_directories.extend(directories.into_iter().map(Into::into));
        self
    }

    async fn open(self) -> Result<HostSession<U>, HostError> {
        let cwd = std::path::absolute(&self.cwd).map_err(HostError::Directory)?;
        let setup = NewSessionRequest::new(cwd)
            .additional_directories(self.additional_directories)
            .mcp_servers(self.mcp_servers);
        let host = self.agent;
        let agent = host.link.connected().await?;
        let call = || open(&host, &agent, &setup, &self.method);
        let id = host.settings.authenticated(&agent, call).await?;
        Ok(HostSession::new(host, id))
    }
}

async fn open<U: UserInterface + 'static>(
    host: &HostAgent<U>,
    agent: &AgentHandle,
    setup: &NewSessionRequest,
    method: &OpenMethod,
) -> Result<SessionId, CallError> {
    let HostAgent { toolkit, settings, link } = host;
    // The session is recorded when the answer arrives: the agent may end before this future is polled again.
    let (link, noted) = (link.clone(), setup.clone());
    match method {
        OpenMethod::New => {
            let call = toolkit.new_session(agent, setup.clone());
            let call = call.on_result(move |opened| link.opened(opened.session_id.clone(), noted));
            Ok(call.timeout(settings.timeout).await?.session_id)
        }
        OpenMethod::Load(id) => {
            link.show_replay(id);
            let (call, opened) = (toolkit.load_session(agent, load(id, setup)), id.clone());
            let call = call.on_result(move |_| link.opened(opened, noted));
            call.timeout(settings.timeout).await.map(|_| id.clone())
        }
        OpenMethod::Resume(id) => {
            let (call, opened) = (toolkit.resume_session(agent, resume(id, setup)), id.clone());
            let call = call.on_result(move |_| link.opened(opened, noted));
            call.timeout(settings.timeout).await.map(|_| id.clone())
        }
    }
}

/// Makes the request that loads a session with its directories and MCP servers.
pub(super) fn load(id: &SessionId, setup: &NewSessionRequest) -> LoadSessionRequest {
    LoadSessionRequest::new(id, &setup.cwd)
        .additional_directories(setup.additional_directories.clone())
        .mcp_servers(setup.mcp_servers.clone())
}

/// Makes the request that resumes a session with its directories and MCP servers.
pub(super) fn resume(id: &SessionId, setup: &NewSessionRequest) -> ResumeSessionRequest {
    ResumeSessionRequest::new(id, &setup.cwd)
        .additional_directories(setup.additional_directories.clone())
        .mcp_servers(setup.mcp_servers.clone())
}

impl<U: UserInterface + 'static> IntoFuture for OpenSession<U> {
    type Output = Result<HostSession<U>, HostError>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.open())
    }
}

impl<U> fmt::Debug for OpenSession<U> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { cwd, method, .. } = self;
        f.debug_struct("OpenSession").field("cwd", cwd).field("method", method).finish_non_exhaustive()
    }
}
