//! An agent of the draft of version 2, which does not use the client's files and terminals.

use std::io;
use std::path::Path;
use std::time::Duration;

use agentwire_acp_client::v2::{self, AgentHandle, Context, Sessions};
use agentwire_acp_client::{BoxError, CallError, Closed, Error};
use agentwire_acp_schema::v1::{
    Implementation, McpServer as OlderMcpServer, SessionConfigOptionValue as OlderOptionValue,
};
use agentwire_acp_schema::v2::{
    AvailableCommandsUpdate, CancelSessionNotification, ClientAuthCapabilities, ClientCapabilities,
    CompleteElicitationNotification, ConfigOptionUpdate, ContentBlock, CreateElicitationRequest,
    CreateElicitationResponse, DeleteSessionRequest, IdleStopReason, InitializeResponse, ListSessionsRequest,
    LoginAuthRequest, McpServer, McpServerHttp, McpServerStdio, NewSessionRequest, NewSessionResponse,
    PromptRequest, ReplayFrom, RequestPermissionRequest, RequestPermissionResponse, ResumeSessionRequest,
    ResumeSessionResponse, SessionConfigOptionValue, SessionId, SessionInfo, SessionUpdate,
    SetSessionConfigOptionRequest, TerminalAuthCapabilities, UpdateSessionNotification,
};
use agentwire_acp_toolkit::{Toolkit, Update};
use agentwire_jsonrpc::{RawJson, RequestMethod as _, Skipped};

use super::adapter::{AgentAdapter, StopKind, StoppedTurn};
use super::agent_login::LoginMethod;
use super::client::{Client, SchemaUpdate};
use super::input::prompt::{Piece, PromptSupport};
use super::session::setup::{Opened, check_id, ignore_output_error};
use super::view::display::{Display, no_terminals};
use crate::terminal::View;

/// The capabilities of a toolkit, with logins in our terminal if a person can be asked.
pub(super) fn capabilities(toolkit: &Toolkit<Client>) -> ClientCapabilities {
    let mut capabilities = toolkit.capabilities_v2();
    let terminal = ClientAuthCapabilities::new().terminal(TerminalAuthCapabilities::new());
    capabilities.auth = toolkit.user_interface().has_person().then_some(terminal);
    capabilities
}

impl SchemaUpdate for SessionUpdate {
    const HAS_WHOLE_MESSAGES: bool = true;

    fn is_setting(&self) -> bool {
        matches!(self, Self::ConfigOptionUpdate(_) | Self::AvailableCommandsUpdate(_))
    }

    fn is_tool_call(&self) -> bool {
        matches!(self, Self::ToolCallContentChunk(_) | Self::ToolCallUpdate(_))
    }
}

/// A toolkit whose updates and permission requests are printed for programs in the types of version 2.
#[derive(Clone)]
pub(super) struct Printing(pub(super) Toolkit<Client>);

impl v2::Client for Printing {
    fn session_update(&self, notification: UpdateSessionNotification) {
        self.0.user_interface().session_update(&notification.session_id, notification.update);
    }

    async fn request_permission(
        &self,
        request: RequestPermissionRequest,
        context: Context,
    ) -> Result<RequestPermissionResponse, Error> {
        let client = self.0.user_interface();
        ignore_output_error(client.show_opened());
        // With JSON no person is asked, so the copy does not live long.
        let printed = client.view().is_json().then(|| request.clone());
        let response = v2::Client::request_permission(&self.0, request, context).await?;
        if let Some(request) = printed {
            client.view().permission(request, response.outcome.clone()).map_err(Error::internal_error)?;
        }
        Ok(response)
    }

    async fn create_elicitation(
        &self,
        request: CreateElicitationRequest,
        context: Context,
    ) -> Result<CreateElicitationResponse, Error> {
        match self.0.user_interface().has_person() {
            true => v2::Client::create_elicitation(&self.0, request, context).await,
            false => Err(Error::method_not_found(CreateElicitationRequest::NAME)),
        }
    }

    fn complete_elicitation(&self, notification: CompleteElicitationNotification) {
        v2::Client::complete_elicitation(&self.0, notification);
    }

    fn unreadable_update(&self, params: Option<RawJson>, why: &Error) {
        v2::Client::unreadable_update(&self.0, params, why);
    }

    fn unreadable_message(&self, why: &Error) {
        v2::Client::unreadable_message(&self.0, why);
    }

    fn skipped(&self, method: &str, skipped: Skipped) {
        v2::Client::skipped(&self.0, method, skipped);
    }
}

/// An agent of version 2, and our client for it.
pub(super) struct Adapter {
    pub(super) agent: AgentHandle,
    pub(super) toolkit: Toolkit<Client>,
}

impl AgentAdapter for Adapter {
    type Initialized = InitializeResponse;
    type SessionInfo = SessionInfo;
    type Sessions = Sessions;

    fn toolkit(&self) -> &Toolkit<Client> {
        &self.toolkit
    }

    /// Does nothing: `initialize` has negotiated the version.
    async fn initialize(&self, _: Duration) -> Result<(), BoxError> {
        Ok(())
    }

    fn initialized(&self) -> Option<&InitializeResponse> {
        self.agent.initialize_response()
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
        let methods =
            self.agent.initialize_response().map(|answer| &*answer.auth_methods).unwrap_or_default();
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
        let call = self.client().setup().keep(call, |answer| {
            let left = NewSessionResponse::new(&answer.session_id);
            (opened(answer), left)
        });
        let id = self.answered(call.timeout(limit)).await?.session_id;
        check_id(&id)?;
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
        self.client().setup().open(&id);
        let mut request = ResumeSessionRequest::new(&id, cwd.to_owned()).mcp_servers(servers);
        if self.display().options().shows_replay {
            request = request.replay_from(ReplayFrom::start());
        }
        let mut answer = NewSessionResponse::new(&id);
        let call = self.client().setup().keep(self.agent.resume_session(request), |resumed| {
            answer.config_options = resumed.config_options;
            answer.available_commands = resumed.available_commands;
            (opened(answer), ResumeSessionResponse::new())
        });
        self.answered(call.timeout(limit)).await?;
        Ok(id)
    }

    async fn send_mode(&self, _: &SessionId, _: &str) -> Result<(), CallError> {
        Err(CallError::not_allowed("session/set_mode", "version 2 has options in place of modes"))
    }

    async fn send_option(
        &self,
        session: &SessionId,
        option: &str,
        value: OlderOptionValue,
    ) -> Result<Update, BoxError> {
        let value: SessionConfigOptionValue = match value {
            OlderOptionValue::Boolean(is_on) => is_on.into(),
            OlderOptionValue::ValueId(id) => id.into(),
            _ => return Err("version 2 of the protocol has no such values".into()),
        };
        let request = SetSessionConfigOptionRequest::new(session, option, value);
        let answer = self.agent.set_session_config_option(request).await?;
        Ok(SessionUpdate::from(ConfigOptionUpdate::new(answer.config_options)).into())
    }

    /// Shows the options: in version 2 the mode is one of them.
    fn list_modes(&self, view: &View) -> Result<(), BoxError> {
        self.list_options(view)
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
        self.client().turn_ended(false)
    }
}

/// The answer that opens a session. It may lack lists that earlier updates had.
fn opened(answer: NewSessionResponse) -> Opened {
    Opened::new(answer.session_id.clone(), answer, |answer, display: &Display| {
        if !answer.available_commands.is_empty() {
            let commands = SessionUpdate::from(AvailableCommandsUpdate::new(answer.available_commands));
            display.update(commands.into(), true, &no_terminals)?;
        }
        if !answer.config_options.is_empty() {
            let options = SessionUpdate::from(ConfigOptionUpdate::new(answer.config_options));
            display.opened(display.conversation(|conversation| conversation.apply(options)))?;
        }
        Ok(())
    })
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
