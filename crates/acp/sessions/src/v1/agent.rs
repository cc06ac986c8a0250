//! The methods of version 1.

use std::path::PathBuf;
use std::sync::Arc;

use agentwire_acp_agent::{Agent, Context, Error, RemoteClient as V1Client};
use agentwire_acp_schema::v1::{
    AgentAuthCapabilities, AgentCapabilities, AuthenticateRequest, AuthenticateResponse, CancelNotification,
    CloseSessionRequest, CloseSessionResponse, DeleteSessionRequest, DeleteSessionResponse,
    InitializeRequest, InitializeResponse, ListSessionsRequest, ListSessionsResponse, LoadSessionRequest,
    LoadSessionResponse, LogoutCapabilities, LogoutRequest, LogoutResponse, McpCapabilities, McpServer,
    NewSessionRequest, NewSessionResponse, PromptRequest, PromptResponse, ResumeSessionRequest,
    ResumeSessionResponse, SessionAdditionalDirectoriesCapabilities, SessionCapabilities,
    SessionCloseCapabilities, SessionConfigOption, SessionDeleteCapabilities, SessionId, SessionInfo,
    SessionListCapabilities, SessionModeState, SessionResumeCapabilities, SetSessionConfigOptionRequest,
    SetSessionConfigOptionResponse, SetSessionModeRequest, SetSessionModeResponse,
};
use agentwire_jsonrpc::Skipped;

use crate::client::RemoteClient;
use crate::log::{Change, ChosenBy};
use crate::runtime::Runtime;
use crate::session::Session;
use crate::setup::Setup;
use crate::store::SessionHeader;
use crate::turn::{PromptContext, run_turn};
use crate::warning::Warning;

/// Serves a client of version 1.
pub(crate) struct V1Agent(pub(crate) Arc<Runtime>);

impl V1Agent {
    /// Returns the client of a request that needs authentication.
    ///
    /// # Errors
    ///
    /// While the user is not authenticated.
    fn client(&self, context: &Context) -> Result<RemoteClient, Error> {
        let client = RemoteClient::from(context.client());
        self.0.auth.check(&client)?;
        Ok(client)
    }

    /// Opens a stored session. With `replay`, sends all its updates again.
    async fn reopen(
        &self,
        id: SessionId,
        setup: Setup,
        replay: bool,
        context: &Context,
    ) -> Result<SessionSettings, Error> {
        let client = RemoteClient::from(context.client());
        let session = self.0.reopen(id, setup, replay, &client, context.cancelled()).await?;
        self.0.announce_commands(&session);
        Ok(SessionSettings::new(&session, &client))
    }

    fn setup(&self, cwd: PathBuf, directories: Vec<PathBuf>, servers: &[McpServer]) -> Result<Setup, Error> {
        Setup::new(&self.0.settings, cwd, directories, servers)
    }
}

/// The settings in every answer that opens a session.
struct SessionSettings {
    modes: Option<SessionModeState>,
    options: Option<Vec<SessionConfigOption>>,
}

impl SessionSettings {
    fn new(session: &Session, client: &RemoteClient) -> Self {
        session.log.state(|state| Self { modes: state.mode_state(), options: state.options_for(client) })
    }
}

impl Agent for V1Agent {
    async fn initialize(&self, request: InitializeRequest, _: Context) -> Result<InitializeResponse, Error> {
        let sessions = SessionCapabilities::new()
            .list(SessionListCapabilities::new())
            .delete(SessionDeleteCapabilities::new())
            .additional_directories(SessionAdditionalDirectoriesCapabilities::new())
            .resume(SessionResumeCapabilities::new())
            .close(SessionCloseCapabilities::new());
        let auth = AgentAuthCapabilities::new();
        let auth = if self.0.auth.has_logout() { auth.logout(LogoutCapabilities::new()) } else { auth };
        let settings = &self.0.settings;
        let capabilities = AgentCapabilities::new()
            .load_session(true)
            .prompt_capabilities(settings.prompt.clone())
            .mcp_capabilities(McpCapabilities::new().http(cfg!(feature = "http")).sse(cfg!(feature = "sse")))
            .session_capabilities(sessions)
            .auth(auth);
        Ok(InitializeResponse::new(request.protocol_version)
            .agent_capabilities(capabilities)
            .auth_methods(self.0.auth.methods())
            .agent_info(settings.info.clone()))
    }

    async fn authenticate(
        &self,
        request: AuthenticateRequest,
        _: Context,
    ) -> Result<AuthenticateResponse, Error> {
        self.0.auth.authenticate(request.method_id).await?;
        Ok(AuthenticateResponse::new())
    }

    async fn logout(&self, _: LogoutRequest, _: Context) -> Result<LogoutResponse, Error> {
        self.0.auth.logout().await?;
        Ok(LogoutResponse::new())
    }

    async fn new_session(
        &self,
        request: NewSessionRequest,
        context: Context,
    ) -> Result<NewSessionResponse, Error> {
        let client = self.client(&context)?;
        let setup = self.setup(request.cwd, request.additional_directories, &request.mcp_servers)?;
        let session = self.0.create(setup, &client).await?;
        self.0.announce_commands(&session);
        let settings = SessionSettings::new(&session, &client);
        let mut response = NewSessionResponse::new(&session.id);
        (response.modes, response.config_options) = (settings.modes, settings.options);
        Ok(response)
    }

    async fn load_session(
        &self,
        request: LoadSessionRequest,
        context: Context,
    ) -> Result<LoadSessionResponse, Error> {
        self.client(&context)?;
        let setup = self.setup(request.cwd, request.additional_directories, &request.mcp_servers)?;
        let settings = self.reopen(request.session_id, setup, true, &context).await?;
        let mut response = LoadSessionResponse::new();
        (response.modes, response.config_options) = (settings.modes, settings.options);
        Ok(response)
    }

    async fn resume_session(
        &self,
        request: ResumeSessionRequest,
        context: Context,
    ) -> Result<ResumeSessionResponse, Error> {
        self.client(&context)?;
        let setup = self.setup(request.cwd, request.additional_directories, &request.mcp_servers)?;
        let settings = self.reopen(request.session_id, setup, false, &context).await?;
        let mut response = ResumeSessionResponse::new();
        (response.modes, response.config_options) = (settings.modes, settings.options);
        Ok(response)
    }

    async fn list_sessions(
        &self,
        request: ListSessionsRequest,
        context: Context,
    ) -> Result<ListSessionsResponse, Error> {
        self.client(&context)?;
        let (sessions, next) = self.0.list(request.cwd, request.cursor.as_deref()).await?;
        let mut response = ListSessionsResponse::new(sessions.into_iter().map(info).collect::<Vec<_>>());
        response.next_cursor = next;
        Ok(response)
    }

    async fn close_session(
        &self,
        request: CloseSessionRequest,
        _: Context,
    ) -> Result<CloseSessionResponse, Error> {
        self.0.close(&request.session_id).await?;
        Ok(CloseSessionResponse::new())
    }

    async fn delete_session(
        &self,
        request: DeleteSessionRequest,
        context: Context,
    ) -> Result<DeleteSessionResponse, Error> {
        self.client(&context)?;
        self.0.delete(&request.session_id).await?;
        Ok(DeleteSessionResponse::new())
    }

    async fn set_session_mode(
        &self,
        request: SetSessionModeRequest,
        context: Context,
    ) -> Result<SetSessionModeResponse, Error> {
        self.client(&context)?;
        let change = Change::Mode { mode: request.mode_id, by: ChosenBy::Client };
        self.0.choose(&request.session_id, change).await?;
        Ok(SetSessionModeResponse::new())
    }

    async fn set_session_config_option(
        &self,
        request: SetSessionConfigOptionRequest,
        context: Context,
    ) -> Result<SetSessionConfigOptionResponse, Error> {
        let client = self.client(&context)?;
        let change = Change::Option { id: request.config_id, value: request.value, by: ChosenBy::Client };
        let session = self.0.choose(&request.session_id, change).await?;
        let options = session.log.state(|state| state.options_for(&client));
        Ok(SetSessionConfigOptionResponse::new(options.unwrap_or_default()))
    }

    async fn prompt(&self, request: PromptRequest, context: Context) -> Result<PromptResponse, Error> {
        self.client(&context)?;
        let session = self.0.sessions.session(&request.session_id)?;
        let guard = session.begin_turn()?;
        let turn = self.0.turn(&guard, request.prompt, PromptContext::V1(context));
        let accept = |_| std::future::ready(Ok(()));
        run_turn(turn, guard, &self.0.handler, accept).await.map(PromptResponse::new)
    }

    fn cancel(&self, notification: CancelNotification, _: &V1Client) {
        self.0.cancel_turn(&notification.session_id);
    }

    fn skipped(&self, _: &str, skipped: Skipped) {
        self.0.settings.warn(Warning::Prompt { skipped });
    }
}

fn info(header: SessionHeader) -> SessionInfo {
    let title = header.shown_title().map(str::to_owned);
    let info = SessionInfo::new(header.session_id, header.cwd)
        .additional_directories(header.additional_directories)
        .updated_at(header.updated.to_string());
    match title {
        Some(title) => info.title(title),
        None => info,
    }
}
