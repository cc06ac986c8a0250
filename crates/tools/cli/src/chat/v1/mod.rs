//! An agent of version 1.

mod client;

use std::io;
use std::path::Path;
use std::pin::pin;
use std::time::Duration;

use agentwire_acp_client::{AgentHandle, BoxError, CallError, Closed, Sessions};
use agentwire_acp_schema::v1::{
    AuthenticateRequest, CancelNotification, ConfigOptionUpdate, ContentBlock, CurrentModeUpdate,
    DeleteSessionRequest, Implementation, InitializeRequest, InitializeResponse, ListSessionsRequest,
    LoadSessionRequest, LoadSessionResponse, McpServer, NewSessionRequest, NewSessionResponse, PromptRequest,
    ProtocolVersion, ResumeSessionRequest, ResumeSessionResponse, SessionId, SessionInfo,
    SetSessionConfigOptionRequest, SetSessionModeRequest, StopReason,
};
use agentwire_acp_toolkit::Toolkit;

use super::adapter::{AgentAdapter, StopKind, StoppedTurn, client_info};
use super::agent_login::LoginMethod;
use super::settings::{self, ModeSetting};
use crate::chat::input::prompt::{Piece, PromptSupport};
use crate::chat::session::per_session::SessionChange;
use crate::chat::session::setup::{check_id, ignore_output_error};
use crate::chat::view::display::Display;
use crate::terminal::View;

pub(in crate::chat) use self::client::Client;

/// How often the output of commands that run is shown.
const WATCH_INTERVAL: Duration = Duration::from_millis(100);

/// An agent of version 1, and our client for it.
pub(super) struct Adapter {
    pub(super) agent: AgentHandle,
    pub(super) toolkit: Toolkit<Client>,
}

impl Adapter {
    fn client(&self) -> &Client {
        self.toolkit.user_interface()
    }
}

impl AgentAdapter for Adapter {
    type Initialized = InitializeResponse;
    type SessionInfo = SessionInfo;
    type Sessions = Sessions;

    async fn initialize(&self, limit: Duration) -> Result<(), BoxError> {
        if self.agent.greeting().is_none() {
            let request = InitializeRequest::new(ProtocolVersion::V1)
                .client_capabilities(Client::capabilities(&self.toolkit))
                .client_info(client_info());
            self.agent.initialize(request).timeout(limit).await?;
        }
        Ok(())
    }

    fn initialized(&self) -> Option<&InitializeResponse> {
        self.agent.greeting()
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
        let methods = self.agent.greeting().map(|greeting| &*greeting.auth_methods).unwrap_or_default();
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
        let call = self.client().opens_workspace(self.agent.new_session(request.clone()), request);
        let opened = call.timeout(limit).await.map_err(|error| self.explain(error))?;
        check_id(&opened.session_id)?;
        self.client().take_opened()?;
        Ok(opened.session_id)
    }

    /// Loads the session, with all of its conversation, where the agent can do that, and resumes it otherwise. Resumes it where
    /// the conversation is not shown.
    async fn reopen_session(
        &self,
        id: SessionId,
        cwd: &Path,
        servers: Vec<McpServer>,
        limit: Duration,
    ) -> Result<SessionId, BoxError> {
        let (agent, client, capabilities) = (&self.agent, self.client(), self.agent.capabilities());
        let mut opened = NewSessionResponse::new(&id);
        let can_load = capabilities.is_some_and(|agent| agent.load_session);
        let can_resume = capabilities.is_some_and(|agent| agent.session_capabilities.resume.is_some());
        if can_load && (self.display().options().shows_replay || !can_resume) {
            let request = LoadSessionRequest::new(&id, cwd).mcp_servers(servers);
            client.open(&id, &request);
            let call = client.setup().keep(agent.load_session(request), |loaded| {
                (opened.modes, opened.config_options) = (loaded.modes, loaded.config_options);
                (opened, LoadSessionResponse::new())
            });
            call.timeout(limit).await.map_err(|error| self.explain(error))?;
        } else if can_resume {
            let request = ResumeSessionRequest::new(&id, cwd).mcp_servers(servers);
            client.open(&id, &request);
            let call = client.setup().keep(agent.resume_session(request), |resumed| {
                (opened.modes, opened.config_options) = (resumed.modes, resumed.config_options);
                (opened, ResumeSessionResponse::new())
            });
            call.timeout(limit).await.map_err(|error| self.explain(error))?;
        } else {
            return Err("the agent can neither load nor resume sessions".into());
        }
        client.take_opened()?;
        Ok(id)
    }

    fn display(&self) -> &Display {
        self.client().display()
    }

    fn session_changes(&self, change: SessionChange) {
        self.client().session_changes(change);
    }

    async fn set_mode(&self, session: &SessionId, mode: &str) -> Result<(), BoxError> {
        let setting =
            self.client().conversation(|conversation| settings::mode_setting(conversation, mode))?;
        match setting {
            ModeSetting::Option(option) => self.set_option(session, &option, mode).await,
            ModeSetting::Mode(mode) => {
                self.agent.set_session_mode(SetSessionModeRequest::new(session, &*mode)).await?;
                Ok(self.client().apply(CurrentModeUpdate::new(mode))?)
            }
        }
    }

    async fn set_option(&self, session: &SessionId, option: &str, value: &str) -> Result<(), BoxError> {
        let value =
            self.client().conversation(|conversation| settings::option_value(conversation, option, value))?;
        let request = SetSessionConfigOptionRequest::new(session, option, value);
        let answer = self.agent.set_session_config_option(request).await?;
        Ok(self.client().apply(ConfigOptionUpdate::new(answer.config_options))?)
    }

    fn list_modes(&self, view: &View) -> Result<(), BoxError> {
        let lines = self.client().conversation(|conversation| settings::mode_lines(conversation));
        Ok(view.list(&lines, "The agent offers no modes.")?)
    }

    fn list_options(&self, view: &View) -> Result<(), BoxError> {
        let lines = self.client().conversation(|conversation| settings::option_lines(conversation));
        Ok(view.list(&lines, "The agent offers no options.")?)
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

    fn turn_ended(&self, stopped: Option<&StoppedTurn>) -> io::Result<()> {
        let was_cancelled = stopped.is_none_or(|stopped| stopped.kind == StopKind::Cancelled);
        self.client().turn_ended(was_cancelled)
    }

    async fn close(&self, session: &SessionId) {
        self.toolkit.close(session).await;
    }
}
