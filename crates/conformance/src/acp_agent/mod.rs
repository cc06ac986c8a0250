//! Checks of ACP agents: the suite is the client.

mod answers;
mod authentication;
mod cancellation;
pub(crate) mod checks;
mod content;
mod elicitation;
mod files;
mod initialization;
mod jsonrpc;
mod mcp_over_acp;
mod mcp_servers;
mod messages;
mod options;
mod prompt;
mod session;
mod session_list;
mod shapes;
mod terminals;
mod tool_calls;
mod transport;
mod turn;
mod updates;
mod v2;
mod v2_refusals;
mod v2_updates;
mod v2_work;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::{Value, json};

use crate::acp_messages::{self, START_TIME, capabilities};
use crate::check::Running;
use crate::conversation::Conversation;
use crate::revision::Revision;
use crate::setting::Setting;
use crate::subject::CommandLine;
use crate::verdict::{Outcome, Stop};

/// An agent under test, as one check reaches it.
#[derive(Clone)]
pub(crate) struct Agent {
    pub(crate) setting: Setting,
    command: Arc<CommandLine>,
    /// What the agent can start as an MCP server.
    stand_in: Option<Arc<CommandLine>>,
    logins: Logins,
}

/// Whether the agent begins sessions without a login, as far as that is known, so that a slow program is started less often.
pub(crate) type Logins = Arc<Mutex<HashMap<Revision, bool>>>;

impl Agent {
    pub(crate) fn new(
        setting: Setting,
        command: Arc<CommandLine>,
        stand_in: Option<Arc<CommandLine>>,
        logins: Logins,
    ) -> Self {
        Self { setting, command, stand_in, logins }
    }

    pub(crate) fn revision(&self) -> Revision {
        self.setting.revision
    }

    /// A running agent to which nothing was sent. Requests of the agent are answered as by a client that can do everything.
    pub(crate) fn start(&self) -> Outcome<Conversation> {
        self.start_as(|command| command)
    }

    /// The same with a command that is changed.
    pub(crate) fn start_as(&self, change: impl FnOnce(CommandLine) -> CommandLine) -> Outcome<Conversation> {
        let command = change((*self.command).clone());
        let mut conversation = Conversation::with_program(&command, &self.setting, START_TIME)?;
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
            let mut conversation = self.start()?;
            let result = conversation.ok("initialize", self.initialize(capabilities)).await?;
            Ok((conversation, result))
        };
        let (conversation, result) = opened.await.map_err(Stop::while_preparing)?;
        let version = &result["protocolVersion"];
        if *version != json!(self.version()) {
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
        self.logins.lock().unwrap_or_else(PoisonError::into_inner)
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
