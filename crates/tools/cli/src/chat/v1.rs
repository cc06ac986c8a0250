//! An agent of version 1.

use std::path::Path;
use std::pin::pin;
use std::time::Duration;

use agentwire_acp_client::{AgentHandle, BoxError, CallError, Closed, Sessions};
use agentwire_acp_schema::v1::{
    AuthenticateRequest, CancelNotification, ClientCapabilities, ConfigOptionUpdate, ContentBlock,
    DeleteSessionRequest, Implementation, InitializeRequest, InitializeResponse, ListSessionsRequest,
    LoadSessionRequest, LoadSessionResponse, McpServer, NewSessionRequest, NewSessionResponse, PromptRequest,
    ProtocolVersion, ResumeSessionRequest, ResumeSessionResponse, SessionConfigOptionValue, SessionId,
    SessionInfo, SessionUpdate, SetSessionConfigOptionRequest, SetSessionModeRequest, StopReason,
};
use agentwire_acp_toolkit::{Toolkit, Update};
use serde_json::json;

use super::adapter::{AgentAdapter, StopKind, StoppedTurn, client_info};
use super::agent_login::LoginMethod;
use super::client::{Client, SchemaUpdate};
use super::input::prompt::{Piece, PromptSupport};
use super::session::setup::{Opened, check_id, ignore_output_error};

/// The interval at which the output of running commands is shown.
const WATCH_INTERVAL: Duration = Duration::from_millis(100);

/// The capabilities of a toolkit, with logins in our terminal if a person can be asked. The members of `_meta` request the
/// output of the commands that the agent runs by itself, which agents send in the `_meta` of updates.
pub(super) fn capabilities(toolkit: &Toolkit<Client>) -> ClientCapabilities {
    let mut capabilities = toolkit.capabilities();
    capabilities.auth.terminal = toolkit.user_interface().has_person();
    let meta = capabilities.meta.get_or_insert_default();
    meta.insert("terminal_output", json!(true));
    meta.insert("terminal_output_delta", json!(true));
    capabilities
}

impl SchemaUpdate for SessionUpdate {
    const HAS_WHOLE_MESSAGES: bool = false;

    fn is_setting(&self) -> bool {
        matches!(
            self,
            Self::ConfigOptionUpdate(_) | Self::CurrentModeUpdate(_) | Self::AvailableCommandsUpdate(_)
        )
    }

    fn is_tool_call(&self) -> bool {
        matches!(self, Self::ToolCall(_) | Self::ToolCallUpdate(_))
    }
}

/// An agent of version 1, and our client for it.
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

    async fn initialize(&self, limit: Duration) -> Result<(), BoxError> {
        if self.agent.initialize_response().is_none() {
            let request = InitializeRequest::new(ProtocolVersion::V1)
                .client_capabilities(capabilities(&self.toolkit))
                .client_info(client_info());
            self.agent.initialize(request).timeout(limit).await?;
        }
        Ok(())
    }

    fn initialized(&self) -> Option<&InitializeResponse> {
        self.agent.initialize_response()
    }

    fn info(&self) -> Option<&Implementation> {
        self.agent.info()
    }

    fn prompt_support(&self) -> PromptSupport {
        let prompt = self.agent.capabilities().map(|agent| &agent.prompt_capabilities);
        prompt.map_or(PromptSupport::default(), |prompt| PromptSupport {
            image: prompt.image,
            embedded: prompt.embedded_context,
        })
    }

    fn login_methods(&self) -> Vec<LoginMethod> {
        let methods =
            self.agent.initialize_response().map(|answer| &*answer.auth_methods).unwrap_or_default();
        methods.iter().filter_map(LoginMethod::v1).collect()
    }

    async fn log_in(&self, method: &str) -> Result<(), CallError> {
        self.agent.authenticate(AuthenticateRequest::new(method)).await.map(drop)
    }

    async fn closed(&self) -> Closed {
        self.agent.closed().await
    }

    fn is_closed(&self) -> bool {
        self.agent.is_closed()
    }

    fn can_list(&self) -> bool {
        self.agent.capabilities().is_some_and(|agent| agent.session_capabilities.list.is_some())
    }

    fn can_reopen(&self) -> bool {
        self.agent
            .capabilities()
            .is_some_and(|agent| agent.load_session || agent.session_capabilities.resume.is_some())
    }

    fn sessions(&self, cwd: Option<&Path>) -> Sessions {
        let mut request = ListSessionsRequest::new();
        request.cwd = cwd.map(Path::to_owned);
        self.agent.sessions(request)
    }

    async fn delete(&self, session: &str, limit: Duration) -> Result<(), CallError> {
        self.agent.delete_session(DeleteSessionRequest::new(session)).timeout(limit).await.map(drop)
    }

    async fn new_session(
        &self,
        cwd: &Path,
        servers: Vec<McpServer>,
        limit: Duration,
    ) -> Result<SessionId, BoxError> {
        let request = NewSessionRequest::new(cwd).mcp_servers(servers);
        let workspaces = self.client().workspaces().clone();
        // Opens the workspace as the answer arrives, because the agent may work in the session at once.
        let call = self.agent.new_session(request.clone()).on_result(move |opened| {
            if check_id(&opened.session_id).is_ok() {
                workspaces.open(&opened.session_id, &request);
            }
        });
        let call = self.client().setup().keep(call, |answer| {
            let left = NewSessionResponse::new(&answer.session_id);
            (opened(answer), left)
        });
        let id = self.answered(call.timeout(limit)).await?.session_id;
        check_id(&id)?;
        Ok(id)
    }

    /// Loads the session, which replays its conversation. Resumes it if the agent cannot load it, or if the conversation is not
    /// shown and the agent can resume it.
    async fn reopen_session(
        &self,
        id: SessionId,
        cwd: &Path,
        servers: Vec<McpServer>,
        limit: Duration,
    ) -> Result<SessionId, BoxError> {
        let (agent, client, capabilities) = (&self.agent, self.client(), self.agent.capabilities());
        let mut answer = NewSessionResponse::new(&id);
        let can_load = capabilities.is_some_and(|agent| agent.load_session);
        let can_resume = capabilities.is_some_and(|agent| agent.session_capabilities.resume.is_some());
        if can_load && (self.display().options().shows_replay || !can_resume) {
            let request = LoadSessionRequest::new(&id, cwd).mcp_servers(servers);
            client.open_workspace(&id, &request);
            client.setup().open(&id);
            let call = client.setup().keep(agent.load_session(request), |loaded| {
                (answer.modes, answer.config_options) = (loaded.modes, loaded.config_options);
                (opened(answer), LoadSessionResponse::new())
            });
            self.answered(call.timeout(limit)).await?;
        } else if can_resume {
            let request = ResumeSessionRequest::new(&id, cwd).mcp_servers(servers);
            client.open_workspace(&id, &request);
            client.setup().open(&id);
            let call = client.setup().keep(agent.resume_session(request), |resumed| {
                (answer.modes, answer.config_options) = (resumed.modes, resumed.config_options);
                (opened(answer), ResumeSessionResponse::new())
            });
            self.answered(call.timeout(limit)).await?;
        } else {
            return Err("the agent can neither load nor resume sessions".into());
        }
        Ok(id)
    }

    async fn send_mode(&self, session: &SessionId, mode: &str) -> Result<(), CallError> {
        self.agent.set_session_mode(SetSessionModeRequest::new(session, mode)).await.map(drop)
    }

    async fn send_option(
        &self,
        session: &SessionId,
        option: &str,
        value: SessionConfigOptionValue,
    ) -> Result<Update, BoxError> {
        let request = SetSessionConfigOptionRequest::new(session, option, value);
        let answer = self.agent.set_session_config_option(request).await?;
        Ok(ConfigOptionUpdate::new(answer.config_options).into())
    }

    async fn prompt(&self, session: &SessionId, prompt: Vec<Piece>) -> Result<StoppedTurn, CallError> {
        let blocks: Vec<ContentBlock> = prompt.into_iter().map(Into::into).collect();
        self.display().turn_begins(blocks.clone());
        let mut turn = pin!(async { self.agent.prompt(PromptRequest::new(session, blocks)).await });
        let mut watch = tokio::time::interval(WATCH_INTERVAL);
        let reason = loop {
            tokio::select! {
                answer = &mut turn => break answer?.stop_reason,
                _ = watch.tick() => ignore_output_error(self.client().show_running()),
            }
        };
        let kind = match reason {
            StopReason::EndTurn => StopKind::EndTurn,
            StopReason::Cancelled => StopKind::Cancelled,
            StopReason::Refusal => StopKind::Refusal,
            _ => StopKind::Other,
        };
        Ok(StoppedTurn { reason: Some(reason.as_str().to_owned()), kind })
    }

    async fn cancel(&self, session: &SessionId) -> Result<(), CallError> {
        self.agent.cancel(CancelNotification::new(session)).await
    }
}

/// The answer that opens a session.
fn opened(answer: NewSessionResponse) -> Opened {
    Opened::new(
        answer.session_id.clone(),
        answer,
        |NewSessionResponse { modes, config_options, .. }, display| {
            display.opened(display.conversation(|conversation| conversation.opened(modes, config_options)))
        },
    )
}
