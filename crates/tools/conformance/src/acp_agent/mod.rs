//! Checks of ACP agents: the suite is the client.

mod answers;
pub(crate) mod checks;
pub(crate) mod client_methods;
pub(crate) mod connection;
mod messages;
pub(crate) mod remote;
pub(crate) mod session;
pub(crate) mod turn;
mod v2;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::{Value, json};
use tokio::sync::{OnceCell, mpsc};

use crate::acp_messages::{self, START_TIME, capabilities};
use crate::check::Running;
use crate::conversation::Conversation;
use crate::link::Link;
use crate::link::acp_http::{AcpConnection, AcpHttp};
use crate::link::http::HttpTarget;
use crate::link::received::QUEUE;
use crate::link::websocket::WebSocket;
use crate::requirements::revision::Revision;
use crate::scripts::script_file::ScriptFile;
use crate::scripts::script_play::play_script;
use crate::setting::Setting;
use crate::subject::location::Location;
use crate::subject::{CommandLine, Transport};
use crate::verdict::{Outcome, Stop};

/// An agent under test, as one check reaches it.
#[derive(Clone)]
pub(crate) struct Agent {
    pub(crate) setting: Setting,
    findings: Arc<Findings>,
    /// A program that the agent can start as an MCP server.
    stand_in: Option<Arc<CommandLine>>,
}

/// Where the agent is found, and what checks have found out about it, so that a slow program is started less often.
pub(crate) struct Findings {
    location: Location,
    /// Whether it begins sessions without a login, as far as that is known.
    logins: Mutex<HashMap<Revision, bool>>,
    /// Whether it speaks HTTP/2.
    http2: OnceCell<bool>,
}

impl Findings {
    pub(crate) fn new(location: Location) -> Self {
        Self { location, logins: Mutex::default(), http2: OnceCell::new() }
    }
}

impl Agent {
    pub(crate) fn new(setting: Setting, findings: Arc<Findings>, stand_in: Option<Arc<CommandLine>>) -> Self {
        Self { setting, findings, stand_in }
    }

    pub(crate) fn revision(&self) -> Revision {
        self.setting.revision
    }

    /// A running agent to which nothing was sent. Requests of the agent are answered as by a client that can do everything.
    pub(crate) async fn start(&self) -> Outcome<Conversation> {
        let Setting { trace, faults, wait, .. } = &self.setting;
        let (sender, received) = mpsc::channel(QUEUE);
        let link = match self.setting.transport {
            Transport::Stdio => return self.start_as(|command| command).await,
            Transport::Http => Link::AcpHttp(AcpHttp::new(self.endpoint().await?, sender)),
            Transport::Ws => {
                let target = self.http1_endpoint().await?;
                Link::WebSocket(WebSocket::open(&target, (trace, faults), sender).await?)
            }
            Transport::Sse => return Err(Stop::not_applicable("ACP has no transport over HTTP+SSE")),
        };
        let mut conversation = Conversation::new(link, received, *wait);
        conversation.answer_with(answers::answers());
        Ok(conversation)
    }

    /// The address of an agent that listens, over HTTP/2 if it speaks that and over HTTP/1.1 otherwise.
    pub(crate) async fn endpoint(&self) -> Outcome<HttpTarget> {
        let target = self.http1_endpoint().await?;
        let speaks_http2 = self.findings.http2.get_or_init(|| self.speaks_http2(&target)).await;
        if *speaks_http2 { target.over_http2().await } else { Ok(target) }
    }

    /// The same over HTTP/1.1.
    pub(crate) async fn http1_endpoint(&self) -> Outcome<HttpTarget> {
        let Setting { trace, faults, wait, .. } = &self.setting;
        let location = &self.findings.location;
        let mut url = location.url(&["http://", "ws://"], &self.setting.processes).await?;
        if let Some(rest) = url.strip_prefix("ws") {
            url = format!("http{rest}");
        }
        HttpTarget::new(&url, location.headers(), trace, faults, *wait)
    }

    /// Whether the agent begins a connection over HTTP/2. Many agents speak HTTP/1.1 alone, and are judged over that.
    async fn speaks_http2(&self, target: &HttpTarget) -> bool {
        let Ok(target) = target.unseen().over_http2().await else { return false };
        let connection = AcpConnection::new(target);
        connection.initialize(&self.initialize_message()).await.is_ok() && connection.id().is_some()
    }

    /// `initialize` of a client that can do everything, as a message.
    pub(crate) fn initialize_message(&self) -> Value {
        let params = self.initialize(capabilities(self.revision()));
        json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params})
    }

    /// A running agent on stdio with a command that is changed.
    pub(crate) async fn start_as(
        &self,
        change: impl FnOnce(CommandLine) -> CommandLine,
    ) -> Outcome<Conversation> {
        let command = change(self.findings.location.command()?.clone());
        let mut conversation = Conversation::with_program(&command, &self.setting, START_TIME).await?;
        conversation.answer_with(answers::answers());
        Ok(conversation)
    }

    /// An initialized agent, whose client has every capability, and the result of `initialize`.
    pub(crate) async fn open(&self) -> Outcome<(Conversation, Value)> {
        self.open_with(capabilities(self.revision())).await
    }

    /// The same with capabilities of the check's choice.
    pub(crate) async fn open_with(&self, capabilities: Value) -> Outcome<(Conversation, Value)> {
        let opened = async {
            let mut conversation = self.start().await?;
            let result = conversation.ok("initialize", self.initialize(capabilities)).await?;
            Ok((conversation, result))
        };
        let (conversation, result) = opened.await.map_err(Stop::while_preparing)?;
        let version = &result["protocolVersion"];
        if !acp_messages::is_version(version, self.version()) {
            let why = format!("the agent answers version {} with version {version}", self.version());
            return Err(Stop::not_applicable(why));
        }
        Ok((conversation, result))
    }

    /// The params of `initialize`.
    pub(crate) fn initialize(&self, capabilities: Value) -> Value {
        acp_messages::initialize(self.revision(), capabilities)
    }

    pub(crate) fn version(&self) -> u16 {
        acp_messages::version(self.revision())
    }

    /// An initialized agent with a session: the conversation, the result of `initialize`, and the session's id.
    pub(crate) async fn session(&self) -> Outcome<(Conversation, Value, String)> {
        if self.setting.faults.is_none() && self.logins().get(&self.revision()) == Some(&false) {
            return Err(needs_login());
        }
        let (mut conversation, initialized) = self.open().await?;
        let session = self.new_session(&mut conversation).await;
        if !matches!(session, Err(Stop::Failed(_) | Stop::Inconclusive(_))) {
            self.logins().insert(self.revision(), session.is_ok());
        }
        Ok((conversation, initialized, session?))
    }

    /// Begins a session and returns its id.
    pub(crate) async fn new_session(&self, conversation: &mut Conversation) -> Outcome<String> {
        let response = conversation.request("session/new", self.session_params()).await;
        let response = response.map_err(Stop::while_preparing)?;
        match response.pointer("/result/sessionId").and_then(Value::as_str) {
            Some(session) => Ok(session.to_owned()),
            None if response.pointer("/error/code") == Some(&json!(-32000)) => Err(needs_login()),
            None => Err(Stop::inconclusive(format!("session/new: `{response}`"))),
        }
    }

    /// Ends the check if the agent begins no session without a login, so that it may refuse everything about sessions.
    async fn needs_no_login(&self) -> Outcome {
        let is_known = self.logins().get(&self.revision()) == Some(&true);
        if is_known || !self.setting.faults.is_none() { Ok(()) } else { self.session().await.map(drop) }
    }

    fn logins(&self) -> MutexGuard<'_, HashMap<Revision, bool>> {
        self.findings.logins.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The params of `session/new`.
    pub(crate) fn session_params(&self) -> Value {
        json!({"cwd": std::env::temp_dir(), "mcpServers": []})
    }

    /// The params of a prompt with a text.
    pub(crate) fn prompt(&self, session: &str, text: &str) -> Value {
        json!({"sessionId": session, "prompt": [{"type": "text", "text": text}]})
    }
}

fn needs_login() -> Stop {
    Stop::not_applicable("the agent begins no session without a login")
}

/// The prompts of the plain conversation: each kind of thing that an agent sends.
const PLAIN_ROLES: [&str; 13] = [
    "say",
    "plan",
    "tool",
    "permission",
    "read",
    "write",
    "terminal",
    "ask",
    "visit",
    "usage",
    "notice",
    "compaction",
    "change",
];

/// Ends with nothing if the agent speaks the version.
pub(crate) fn speaks(agent: Agent) -> Running {
    Box::pin(async move { agent.open().await.map(drop) })
}

/// Plays a script to an agent that was just started.
pub(crate) fn play(agent: Agent, file: ScriptFile) -> Running {
    Box::pin(async move { play_script(agent.start().await?, &agent.setting, &file, START_TIME).await })
}

/// A plain conversation, for audits and their mutants.
pub(crate) fn plain_conversation(agent: Agent) -> Running {
    Box::pin(async move {
        let (mut conversation, initialized, session) = agent.session().await?;
        for role in PLAIN_ROLES {
            if let Ok(text) = agent.setting.text(role) {
                agent.turn(&mut conversation, &session, text).await?;
            }
        }
        let list =
            agent.needs(&initialized, "/agentCapabilities/sessionCapabilities/list", "/capabilities/session");
        if list.is_ok() {
            conversation.request("session/list", json!({})).await?;
        }
        conversation.request("_conformance/unknown", json!({})).await?;
        Ok(())
    })
}
