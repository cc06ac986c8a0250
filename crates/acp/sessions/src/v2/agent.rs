//! The methods of version 2.

use std::path::PathBuf;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use agentwire_acp_agent::Error;
use agentwire_acp_agent::v2::{Agent, Context, RemoteClient as ClientHandle, Turn as TurnHandle};
use agentwire_acp_schema::v1::StopReason;
use agentwire_acp_schema::v2::{
    AbsolutePath, AgentCapabilities, AvailableCommand, CancelSessionNotification, CloseSessionRequest,
    CloseSessionResponse, DeleteSessionRequest, DeleteSessionResponse, IdleStopReason, InitializeRequest,
    InitializeResponse, ListSessionsRequest, ListSessionsResponse, LoginAuthRequest, LoginAuthResponse,
    LogoutAuthRequest, LogoutAuthResponse, McpCapabilities, McpHttpCapabilities, McpServer,
    McpStdioCapabilities, Meta, NewSessionRequest, NewSessionResponse, PromptAudioCapabilities,
    PromptCapabilities, PromptEmbeddedContextCapabilities, PromptImageCapabilities, PromptRequest,
    ResumeSessionRequest, ResumeSessionResponse, SessionAdditionalDirectoriesCapabilities,
    SessionCapabilities, SessionConfigOption, SessionDeleteCapabilities, SessionId, SessionInfo,
    SessionNotFoundErrorData, SetSessionConfigOptionRequest, SetSessionConfigOptionResponse, error_code,
};
use agentwire_jsonrpc::Skipped;
use futures_util::future::{Either, select};

use super::{content, settings};
use crate::client::RemoteClient;
use crate::log::{Change, ChosenBy};
use crate::runtime::Runtime;
use crate::session::{Session, TurnGuard};
use crate::setup::Setup;
use crate::store::SessionHeader;
use crate::turn::{PromptContext, run_turn};
use crate::warning::Warning;

/// Serves a client of version 2.
pub(crate) struct V2Agent(pub(crate) Arc<Runtime>);

impl V2Agent {
    /// Returns the client of a request that needs authentication.
    ///
    /// # Errors
    ///
    /// While the user is not authenticated.
    fn client(&self, client: &ClientHandle) -> Result<RemoteClient, Error> {
        let client = RemoteClient::from(client);
        self.0.auth.check(&client)?;
        Ok(client)
    }

    fn setup(
        &self,
        cwd: AbsolutePath,
        directories: Vec<AbsolutePath>,
        servers: Vec<McpServer>,
    ) -> Result<Setup, Error> {
        let directories = directories.into_iter().map(PathBuf::from).collect();
        Setup::new(&self.0.settings, cwd.into(), directories, &settings::mcp_servers(servers))
    }

    /// Begins a turn when the earlier turns of the session have ended.
    ///
    /// # Errors
    ///
    /// When the session is not open, or the prompt is cancelled while it waits.
    async fn begin_turn(&self, id: &SessionId, turn: &TurnHandle) -> Result<TurnGuard, Error> {
        loop {
            let session = self.0.sessions.session(id)?;
            let Some(ended) = session.turn_ended() else { return session.begin_turn() };
            if let Either::Right(_) = select(ended.wait(), pin!(turn.cancelled())).await {
                return Err(Error::request_cancelled());
            }
        }
    }
}

/// Returns the settings in every answer that opens a session.
fn session_settings(
    session: &Session,
    client: &RemoteClient,
) -> Result<(Vec<SessionConfigOption>, Vec<AvailableCommand>), Error> {
    let (options, commands) =
        session.log.state(|state| (state.options_for(client).unwrap_or_default(), state.commands.clone()));
    Ok((settings::options(options).map_err(Error::internal_error)?, settings::commands(commands)))
}

impl Agent for V2Agent {
    async fn initialize(&self, request: InitializeRequest, _: Context) -> Result<InitializeResponse, Error> {
        let settings = &self.0.settings;
        let mut prompt = PromptCapabilities::new();
        prompt.image = settings.prompt.image.then(PromptImageCapabilities::new);
        prompt.audio = settings.prompt.audio.then(PromptAudioCapabilities::new);
        prompt.embedded_context =
            settings.prompt.embedded_context.then(PromptEmbeddedContextCapabilities::new);
        let mut mcp = McpCapabilities::new().stdio(McpStdioCapabilities::new());
        mcp.http = cfg!(feature = "http").then(McpHttpCapabilities::new);
        let session = SessionCapabilities::new()
            .prompt(prompt)
            .mcp(mcp)
            .delete(SessionDeleteCapabilities::new())
            .additional_directories(SessionAdditionalDirectoriesCapabilities::new());
        Ok(InitializeResponse::new(request.protocol_version, settings.info.clone())
            .capabilities(AgentCapabilities::new().session(session))
            .auth_methods(settings::auth_methods(self.0.auth.methods())))
    }

    async fn login(&self, request: LoginAuthRequest, _: Context) -> Result<LoginAuthResponse, Error> {
        self.0.auth.authenticate(request.method_id).await?;
        Ok(LoginAuthResponse::new())
    }

    /// Version 2 requires this of an agent with a method to log in.
    async fn logout(&self, _: LogoutAuthRequest, _: Context) -> Result<LogoutAuthResponse, Error> {
        match self.0.auth.has_logout() {
            true => self.0.auth.logout().await?,
            false => self.0.auth.forget(),
        }
        Ok(LogoutAuthResponse::new())
    }

    async fn new_session(
        &self,
        request: NewSessionRequest,
        context: Context,
    ) -> Result<NewSessionResponse, Error> {
        let client = self.client(context.client())?;
        let setup = self.setup(request.cwd, request.additional_directories, request.mcp_servers)?;
        let session = self.0.create(setup, &client).await?;
        let (options, commands) = session_settings(&session, &client)?;
        Ok(NewSessionResponse::new(&session.id).config_options(options).available_commands(commands))
    }

    async fn resume_session(
        &self,
        request: ResumeSessionRequest,
        context: Context,
    ) -> Result<ResumeSessionResponse, Error> {
        let client = self.client(context.client())?;
        let setup = self.setup(request.cwd, request.additional_directories, request.mcp_servers)?;
        let (id, replay) = (request.session_id, request.replay_from.is_some());
        let opened = self.0.reopen(id.clone(), setup, replay, &client, context.cancelled()).await;
        let session = opened.map_err(|error| with_data(error, &id))?;
        let (options, commands) = session_settings(&session, &client)?;
        Ok(ResumeSessionResponse::new().config_options(options).available_commands(commands))
    }

    async fn list_sessions(
        &self,
        request: ListSessionsRequest,
        context: Context,
    ) -> Result<ListSessionsResponse, Error> {
        self.client(context.client())?;
        let (cwd, cursor) = (request.cwd.map(PathBuf::from), request.cursor);
        let (sessions, next) = self.0.list(cwd, cursor.as_deref()).await?;
        let mut response = ListSessionsResponse::new(sessions.into_iter().map(info).collect::<Vec<_>>());
        response.next_cursor = next.map(Into::into);
        Ok(response)
    }

    async fn close_session(
        &self,
        request: CloseSessionRequest,
        _: Context,
    ) -> Result<CloseSessionResponse, Error> {
        match self.0.close(&request.session_id).await {
            // In version 2 closing a session that is not open succeeds.
            Err(error) if error.code != error_code::RESOURCE_NOT_FOUND => Err(error),
            _ => Ok(CloseSessionResponse::new()),
        }
    }

    /// `Runtime::close` has waited for the turn, so only prompts that wait for it are left.
    fn close_grace(&self) -> Duration {
        self.0.settings.grace
    }

    async fn delete_session(
        &self,
        request: DeleteSessionRequest,
        context: Context,
    ) -> Result<DeleteSessionResponse, Error> {
        self.client(context.client())?;
        self.0.delete(&request.session_id).await?;
        Ok(DeleteSessionResponse::new())
    }

    async fn set_session_config_option(
        &self,
        request: SetSessionConfigOptionRequest,
        context: Context,
    ) -> Result<SetSessionConfigOptionResponse, Error> {
        let client = self.client(context.client())?;
        let (id, value) = (request.session_id, settings::option_value(request.value)?);
        let change = Change::Option { id: request.config_id, value, by: ChosenBy::Client };
        let session = self.0.choose(&id, change).await.map_err(|error| with_data(error, &id))?;
        let (options, _) = session_settings(&session, &client)?;
        Ok(SetSessionConfigOptionResponse::new(options))
    }

    async fn prompt(&self, request: PromptRequest, handle: TurnHandle) -> Result<IdleStopReason, Error> {
        self.client(handle.client())?;
        let id = &request.session_id;
        let prompt = content::prompt(&request.prompt).map_err(Error::invalid_params)?;
        let guard = self.begin_turn(id, &handle).await.map_err(|error| with_data(error, id))?;
        let turn = self.0.turn(&guard, prompt, PromptContext::V2(handle.clone()));
        let accept = async |message| handle.accept(message, &request.prompt).await;
        run_turn(turn, guard, &self.0.handler, accept).await.map(stop_reason)
    }

    fn cancel(&self, notification: CancelSessionNotification, _: &ClientHandle) {
        self.0.cancel_turn(&notification.session_id);
    }

    fn skipped(&self, _: &str, skipped: Skipped) {
        self.0.settings.warn(Warning::Prompt { skipped });
    }
}

/// Adds the id of the session to the data of an error for a session that is not open, as version 2 requires.
fn with_data(error: Error, id: &SessionId) -> Error {
    if error.code == error_code::RESOURCE_NOT_FOUND {
        return error.with_data(&SessionNotFoundErrorData::new(id));
    }
    error
}

fn stop_reason(reason: StopReason) -> IdleStopReason {
    match reason {
        StopReason::EndTurn => IdleStopReason::EndTurn,
        StopReason::MaxTokens => IdleStopReason::MaxTokens,
        StopReason::MaxTurnRequests => IdleStopReason::MaxTurnRequests,
        StopReason::Refusal => IdleStopReason::Refusal,
        StopReason::Cancelled => IdleStopReason::Cancelled,
        StopReason::Other(word) => {
            let mut object = Meta::default();
            object.insert("stopReason", serde_json::Value::from(word));
            IdleStopReason::Unknown(object)
        }
        _ => IdleStopReason::EndTurn,
    }
}

fn info(header: SessionHeader) -> SessionInfo {
    let title = header.shown_title().map(str::to_owned);
    let directories = header.additional_directories.into_iter().map(AbsolutePath::from);
    let mut info = SessionInfo::new(header.session_id, header.cwd)
        .additional_directories(directories.collect::<Vec<_>>())
        .updated_at(header.updated.to_string());
    info.title = title;
    info
}
