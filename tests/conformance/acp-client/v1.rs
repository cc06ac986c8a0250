//! The steps in version 1.

use std::sync::{Arc, Mutex, PoisonError};

use agentwire_acp_client::{AgentHandle, Config, start};
use agentwire_acp_proxy::proxied;
use agentwire_acp_schema::v1::{
    AuthMethod, AuthenticateRequest, CancelNotification, CloseSessionRequest, ConfigOptionUpdate,
    CurrentModeUpdate, DeleteSessionRequest, Implementation, InitializeRequest, ListSessionsRequest,
    LogoutRequest, NewSessionRequest, PromptRequest, ProtocolVersion, SessionId,
    SetSessionConfigOptionRequest, SetSessionModeRequest,
};
use agentwire_acp_toolkit::Toolkit;
use agentwire_transport::Transport;
use agentwire_transport_stdio::{Child, Command};
use serde_json::{Value, json};
use tokio::task::AbortHandle;

use crate::failure::{Failure, blocks, decode, encode, session_params};
use crate::mcp_server::OwnServer;
use crate::user::User;
use crate::{Connection, login, remote, state};

/// An agent of version 1.
pub(crate) struct Agent {
    target: String,
    toolkit: Toolkit<User>,
    live: Mutex<(AgentHandle, AbortHandle)>,
    initializing: tokio::sync::Mutex<()>,
    session: Arc<tokio::sync::Mutex<Option<SessionId>>>,
}

impl Agent {
    /// Starts the agent.
    pub(crate) fn start(target: &str) -> anyhow::Result<Self> {
        let toolkit = Toolkit::new(User::default());
        let live = connect(target, &toolkit)?;
        Ok(Self {
            target: target.to_owned(),
            toolkit,
            live: Mutex::new(live),
            initializing: tokio::sync::Mutex::default(),
            session: Arc::default(),
        })
    }

    fn handle(&self) -> AgentHandle {
        self.live.lock().unwrap_or_else(PoisonError::into_inner).0.clone()
    }

    /// Ends the connection, and begins another one where `again` is set.
    fn end(&self, again: bool) -> Result<(), Failure> {
        let mut live = self.live.lock().unwrap_or_else(PoisonError::into_inner);
        live.1.abort();
        if again {
            *live = connect(&self.target, &self.toolkit).map_err(Failure::new)?;
        }
        Ok(())
    }

    /// The agent after `initialize`. One of another version is left.
    async fn initialized(&self) -> Result<AgentHandle, Failure> {
        let _one_at_a_time = self.initializing.lock().await;
        let agent = self.handle();
        if agent.initialize_response().is_none() {
            let mut capabilities = self.toolkit.capabilities();
            capabilities.auth.terminal = true;
            let request = InitializeRequest::new(ProtocolVersion::V1)
                .client_capabilities(capabilities)
                .client_info(Implementation::new("everything-acp-client", "1.0.0"));
            if let Err(error) = agent.initialize(request).await {
                if error.refusal().is_none() {
                    self.end(false)?;
                }
                return Err(error.into());
            }
        }
        Ok(agent)
    }

    async fn open(&self, agent: &AgentHandle, step: &str, params: &Value) -> Result<Value, Failure> {
        let mut open = self.session.lock().await;
        let mut request = session_params(params, step != "resume_session")?;
        if step == "new_session" {
            let opened = self.toolkit.new_session(agent, decode::<NewSessionRequest>(&request)?).await?;
            *open = Some(opened.session_id.clone());
            return encode(&opened);
        }
        if request.get("sessionId").is_none() {
            request["sessionId"] = json!("session-1");
        }
        *open = Some(decode(&request["sessionId"])?);
        match step {
            "load_session" => encode(&self.toolkit.load_session(agent, decode(&request)?).await?),
            _ => encode(&self.toolkit.resume_session(agent, decode(&request)?).await?),
        }
    }

    /// The session of a step: the one that it names, the open one, or a new one.
    async fn session(&self, agent: &AgentHandle, params: &Value) -> Result<SessionId, Failure> {
        if let Some(session) = params.get("session") {
            return decode(session);
        }
        let mut open = self.session.lock().await;
        if let Some(session) = &*open {
            return Ok(session.clone());
        }
        let request = decode(&session_params(&json!({}), true)?)?;
        let session = self.toolkit.new_session(agent, request).await?.session_id;
        *open = Some(session.clone());
        Ok(session)
    }

    async fn authenticate(&self, agent: &AgentHandle, method: &str) -> Result<Value, Failure> {
        let offered = agent.initialize_response().map(|answer| &*answer.auth_methods).unwrap_or_default();
        let terminal = offered.iter().find_map(|offered| match offered {
            AuthMethod::Terminal(terminal) if terminal.id.as_str() == method => Some(terminal.clone()),
            _ => None,
        });
        let Some(terminal) = terminal else {
            return encode(&agent.authenticate(AuthenticateRequest::new(method)).await?);
        };
        login::log_in(&self.target, terminal.args, terminal.env).await?;
        self.end(true)?;
        self.initialized().await?;
        Ok(json!({}))
    }

    async fn set_option(
        &self,
        agent: &AgentHandle,
        session: SessionId,
        params: &Value,
    ) -> Result<Value, Failure> {
        let mut request =
            json!({"sessionId": session, "configId": params["option"], "value": params["value"]});
        if params["value"].is_boolean() {
            request["type"] = json!("boolean");
        }
        let request: SetSessionConfigOptionRequest = decode(&request)?;
        let answer = agent.set_session_config_option(request).await?;
        self.toolkit.apply(&session, ConfigOptionUpdate::new(answer.config_options.clone()));
        encode(&answer)
    }

    async fn in_session(&self, agent: &AgentHandle, step: &str, params: &Value) -> Result<Value, Failure> {
        let session = self.session(agent, params).await?;
        match step {
            "prompt" => {
                let request: PromptRequest =
                    decode(&json!({"sessionId": session, "prompt": blocks(params)}))?;
                encode(&self.toolkit.prompt(agent, request).await?)
            }
            "cancel" => {
                agent.cancel(CancelNotification::new(session)).await?;
                Ok(json!({}))
            }
            "set_mode" => {
                let mode = params["mode"].as_str().unwrap_or_default();
                let answer =
                    agent.set_session_mode(SetSessionModeRequest::new(session.clone(), mode)).await?;
                self.toolkit.apply(&session, CurrentModeUpdate::new(mode));
                encode(&answer)
            }
            "set_config" => self.set_option(agent, session, params).await,
            "close_session" => {
                let answer = agent.close_session(CloseSessionRequest::new(session.clone())).await?;
                self.toolkit.close(&session).await;
                encode(&answer)
            }
            "delete_session" => encode(&agent.delete_session(DeleteSessionRequest::new(session)).await?),
            "state" => {
                let known = self.toolkit.conversation(&session, |conversation| state::of(conversation));
                known.ok_or_else(|| Failure::new("the session is not open"))
            }
            _ => Err(Failure::unknown_step(step)),
        }
    }
}

impl Connection for Agent {
    async fn run(&self, step: &str, params: Value) -> Result<Value, Failure> {
        match step {
            "hold" => {
                self.toolkit.user_interface().set_away(true);
                return Ok(json!({}));
            }
            "close" => {
                self.end(false)?;
                return Ok(json!({}));
            }
            _ => {}
        }
        let agent = self.initialized().await?;
        match step {
            "initialize" => encode(&agent.initialize_response()),
            "authenticate" => self.authenticate(&agent, params["method"].as_str().unwrap_or_default()).await,
            "logout" => encode(&agent.logout(LogoutRequest::new()).await?),
            "new_session" | "load_session" | "resume_session" => self.open(&agent, step, &params).await,
            "list_sessions" => {
                let (mut sessions, mut all) = (agent.sessions(ListSessionsRequest::new()), Vec::new());
                while let Some(session) = sessions.try_next().await? {
                    all.push(session);
                }
                encode(&all)
            }
            _ => self.in_session(&agent, step, &params).await,
        }
    }
}

fn connect(target: &str, toolkit: &Toolkit<User>) -> anyhow::Result<(AgentHandle, AbortHandle)> {
    if remote::is_url(target) {
        return Ok(run(remote::connect(target), toolkit));
    }
    Ok(run(Child::spawn(Command::parse(target)?)?, toolkit))
}

fn run(transport: impl Transport + Send + 'static, toolkit: &Toolkit<User>) -> (AgentHandle, AbortHandle) {
    let transport = proxied(OwnServer::default(), transport);
    let (agent, connection) = start(toolkit.clone(), transport, Config::new());
    let task = tokio::spawn(async move {
        // Its calls report how it ended.
        let _ended = connection.await;
    });
    (agent, task.abort_handle())
}
