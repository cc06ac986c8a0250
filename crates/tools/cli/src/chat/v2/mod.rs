//! An agent of the draft of version 2.

mod client;
mod elicitation;

use std::io;
use std::path::Path;
use std::time::Duration;

use agentwire_acp_client::v2::{AgentHandle, Sessions};
use agentwire_acp_client::{BoxError, CallError, Closed};
use agentwire_acp_schema::v1::{
    Implementation, McpServer as OlderMcpServer, SessionConfigOptionValue as OlderOptionValue,
};
use agentwire_acp_schema::v2::{
    CancelSessionNotification, ContentBlock, DeleteSessionRequest, IdleStopReason, InitializeResponse,
    ListSessionsRequest, LoginAuthRequest, McpServer, McpServerHttp, McpServerStdio, NewSessionRequest,
    NewSessionResponse, PromptRequest, ReplayFrom, ResumeSessionRequest, ResumeSessionResponse,
    SessionConfigOptionValue, SessionId, SessionInfo, SetSessionConfigOptionRequest,
};

use super::adapter::{AgentAdapter, StopKind, StoppedTurn};
use super::agent_login::LoginMethod;
use super::settings;
use crate::chat::input::prompt::{Piece, PromptSupport};
use crate::chat::session::per_session::SessionChange;
use crate::chat::session::setup::check_id;
use crate::chat::view::display::{Display, no_terminals};
use crate::terminal::View;

pub(in crate::chat) use self::client::Client;

/// An agent of version 2, and our client for it.
pub(super) struct Adapter {
    pub(super) agent: AgentHandle,
    pub(super) client: Client,
}

impl AgentAdapter for Adapter {
    type Initialized = InitializeResponse;
    type SessionInfo = SessionInfo;
    type Sessions = Sessions;

    /// Does nothing: `initialize` has negotiated the version.
    async fn initialize(&self, _: Duration) -> Result<(), BoxError> {
        Ok(())
    }

    fn initialized(&self) -> Option<&InitializeResponse> {
        self.agent.greeting()
    }

    fn info(&self) -> Option<&Implementation> {
        self.agent.info()
    }

    fn prompt_support(&self) -> PromptSupport {
        let session = self.agent.capabilities().and_then(|agent| agent.session.as_ref());
        let prompt = session.and_then(|session| session.prompt.as_ref());
        prompt.map_or(PromptSupport::default(), |prompt| PromptSupport {
            image: prompt.image.is_some(),
            embedded: prompt.embedded_context.is_some(),
        })
    }

    fn login_methods(&self) -> Vec<LoginMethod> {
        let methods = self.agent.greeting().map(|greeting| &*greeting.auth_methods).unwrap_or_default();
        methods.iter().filter_map(LoginMethod::v2).collect()
    }

    async fn log_in(&self, method: &str) -> Result<(), CallError> {
        self.agent.login(LoginAuthRequest::new(method)).await.map(drop)
    }

    async fn closed(&self) -> Closed {
        self.agent.closed().await
    }

    fn is_closed(&self) -> bool {
        self.agent.is_closed()
    }

    fn can_list(&self) -> bool {
        true
    }

    fn can_reopen(&self) -> bool {
        true
    }

    fn sessions(&self, cwd: Option<&Path>) -> Sessions {
        let mut request = ListSessionsRequest::new();
        request.cwd = cwd.map(|cwd| cwd.to_owned().into());
        self.agent.sessions(request)
    }

    async fn delete(&self, session: &str, limit: Duration) -> Result<(), CallError> {
        self.agent.delete_session(DeleteSessionRequest::new(session)).timeout(limit).await.map(drop)
    }

    async fn new_session(
        &self,
        cwd: &Path,
        servers: Vec<OlderMcpServer>,
        limit: Duration,
    ) -> Result<SessionId, BoxError> {
        let servers = servers.into_iter().map(server).collect::<Result<Vec<_>, _>>()?;
        let call = self.agent.new_session(NewSessionRequest::new(cwd.to_owned()).mcp_servers(servers));
        let call = self.client.setup().keep(call, |opened| {
            let left = NewSessionResponse::new(&opened.session_id);
            (opened, left)
        });
        let id = call.timeout(limit).await.map_err(|error| self.explain(error))?.session_id;
        check_id(&id)?;
        self.client.take_opened()?;
        Ok(id)
    }

    async fn reopen_session(
        &self,
        id: SessionId,
        cwd: &Path,
        servers: Vec<OlderMcpServer>,
        limit: Duration,
    ) -> Result<SessionId, BoxError> {
        let servers = servers.into_iter().map(server).collect::<Result<Vec<_>, _>>()?;
        self.client.setup().open(&id);
        let request = ResumeSessionRequest::new(&id, cwd.to_owned()).mcp_servers(servers);
        let mut opened = NewSessionResponse::new(&id);
        let request = match self.display().options().shows_replay {
            true => request.replay_from(ReplayFrom::start()),
            false => request,
        };
        let call = self.agent.resume_session(request);
        let call = self.client.setup().keep(call, |resumed| {
            opened.config_options = resumed.config_options;
            opened.available_commands = resumed.available_commands;
            (opened, ResumeSessionResponse::new())
        });
        call.timeout(limit).await.map_err(|error| self.explain(error))?;
        self.client.take_opened()?;
        Ok(id)
    }

    fn display(&self) -> &Display {
        self.client.display()
    }

    fn session_changes(&self, change: SessionChange) {
        self.client.session_changes(change);
    }

    async fn set_mode(&self, session: &SessionId, mode: &str) -> Result<(), BoxError> {
        let option = self.client.conversation(|conversation| settings::mode_option(conversation))?;
        self.set_option(session, &option, mode).await
    }

    async fn set_option(&self, session: &SessionId, option: &str, value: &str) -> Result<(), BoxError> {
        let value =
            self.client.conversation(|conversation| settings::option_value(conversation, option, value))?;
        let value: SessionConfigOptionValue = match value {
            OlderOptionValue::Boolean(is_on) => is_on.into(),
            OlderOptionValue::ValueId(id) => id.into(),
            _ => return Err("version 2 of the protocol has no such values".into()),
        };
        let request = SetSessionConfigOptionRequest::new(session, option, value);
        let answer = self.agent.set_session_config_option(request).await?;
        Ok(self.client.set_options(answer.config_options)?)
    }

    /// Shows the options: in version 2 the mode is one of them.
    fn list_modes(&self, view: &View) -> Result<(), BoxError> {
        self.list_options(view)
    }

    fn list_options(&self, view: &View) -> Result<(), BoxError> {
        let lines = self.client.conversation(|conversation| settings::option_lines(conversation));
        Ok(view.list(&lines, "The agent offers no options.")?)
    }

    async fn prompt(&self, session: &SessionId, prompt: Vec<Piece>) -> Result<StoppedTurn, CallError> {
        let blocks: Vec<ContentBlock> = prompt.into_iter().map(Into::into).collect();
        self.display().turn_begins(Vec::new());
        let stopped = self.agent.prompt(PromptRequest::new(session, blocks)).await?;
        let reason = stopped.stop_reason();
        let kind = match reason {
            Some(IdleStopReason::EndTurn) | None => StopKind::EndTurn,
            Some(IdleStopReason::Cancelled) => StopKind::Cancelled,
            Some(IdleStopReason::Refusal) => StopKind::Refusal,
            Some(IdleStopReason::Error(_)) => StopKind::Error,
            _ => StopKind::Other,
        };
        Ok(StoppedTurn { reason: reason.map(|reason| reason.word().into_owned()), kind })
    }

    async fn cancel(&self, session: &SessionId) -> Result<(), CallError> {
        self.agent.cancel(CancelSessionNotification::new(session)).await
    }

    fn turn_ended(&self, _: Option<&StoppedTurn>) -> io::Result<()> {
        // The agent reports the tool calls that end with the turn.
        self.display().turn_ended(false, &no_terminals)
    }

    async fn close(&self, _: &SessionId) {}
}

/// A server of version 1 in the types of version 2.
fn server(server: OlderMcpServer) -> Result<McpServer, String> {
    match server {
        OlderMcpServer::Stdio(server) => {
            Ok(McpServerStdio::new(server.name, server.command).args(server.args).env(server.env).into())
        }
        OlderMcpServer::Http(server) => {
            Ok(McpServerHttp::new(server.name, server.url).headers(server.headers).into())
        }
        _ => Err("version 2 of the protocol has no such MCP servers".into()),
    }
}
