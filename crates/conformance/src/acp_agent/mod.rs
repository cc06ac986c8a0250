//! Checks of ACP agents: the suite is the client.

mod answers;
mod authentication;
mod content;
mod elicitation;
mod files;
mod initialization;
mod jsonrpc;
mod options;
mod prompt;
mod session;
mod session_list;
mod terminals;
mod tool_calls;
mod transport;
mod updates;
mod v2;

use std::sync::Arc;

use serde_json::{Value, json};
use tokio::sync::mpsc;

use crate::check::{Check, Running};
use crate::conversation::Conversation;
use crate::link::process::Process;
use crate::link::{Link, QUEUE};
use crate::revision::Revision;
use crate::setting::Setting;
use crate::subject::CommandLine;
use crate::verdict::{Outcome, Stop};

/// All checks.
pub(crate) const CHECKS: &[&[Check<Agent>]] = &[
    transport::CHECKS,
    jsonrpc::CHECKS,
    initialization::CHECKS,
    authentication::CHECKS,
    session::CHECKS,
    session_list::CHECKS,
    prompt::CHECKS,
    tool_calls::CHECKS,
    files::CHECKS,
    terminals::CHECKS,
    options::CHECKS,
    content::CHECKS,
    elicitation::CHECKS,
    updates::CHECKS,
    v2::CHECKS,
];

/// An agent under test, as one check reaches it.
#[derive(Clone)]
pub(crate) struct Agent {
    pub(crate) setting: Setting,
    command: Arc<CommandLine>,
}

impl Agent {
    pub(crate) fn new(setting: Setting, command: Arc<CommandLine>) -> Self {
        Self { setting, command }
    }

    pub(crate) fn revision(&self) -> Revision {
        self.setting.revision
    }

    /// A running agent to which nothing was sent. Requests of the agent are answered as by a client that can do everything.
    pub(crate) fn start(&self) -> Outcome<Conversation> {
        let Setting { trace, faults, wait, .. } = &self.setting;
        let (sender, received) = mpsc::channel(QUEUE);
        let process = Process::start(&self.command, trace, faults, sender.clone())?;
        let link = Link::Stdio { process, trace: trace.clone(), faults: faults.clone(), injected: sender };
        let mut conversation = Conversation::new(link, received, *wait);
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
        let info = json!({"name": "conformance", "version": "1.0.0"});
        if self.revision() == Revision::Acp2 {
            return json!({"protocolVersion": 2, "capabilities": capabilities, "info": info});
        }
        json!({"protocolVersion": 1, "clientCapabilities": capabilities, "clientInfo": info})
    }

    pub(crate) fn version(&self) -> u16 {
        if self.revision() == Revision::Acp2 { 2 } else { 1 }
    }

    /// An initialized agent with a session: the conversation, the result of `initialize`, and the session's id.
    pub(crate) async fn session(&self) -> Outcome<(Conversation, Value, String)> {
        let (mut conversation, initialized) = self.open().await?;
        let session = self.new_session(&mut conversation).await?;
        Ok((conversation, initialized, session))
    }

    /// Begins a session and returns its id.
    pub(crate) async fn new_session(&self, conversation: &mut Conversation) -> Outcome<String> {
        let response = conversation.request("session/new", self.session_params()).await;
        let response = response.map_err(Stop::while_preparing)?;
        match response.pointer("/result/sessionId").and_then(Value::as_str) {
            Some(session) => Ok(session.to_owned()),
            None if response.pointer("/error/code") == Some(&json!(-32000)) => {
                Err(Stop::not_applicable("the agent begins no session without a login"))
            }
            None => Err(Stop::inconclusive(format!("session/new: `{response}`"))),
        }
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

/// The capabilities of a client that can do everything.
pub(crate) fn capabilities(revision: Revision) -> Value {
    if revision == Revision::Acp2 {
        return json!({"auth": {"terminal": {}}, "elicitation": {"form": {}, "url": {}}});
    }
    json!({
        "fs": {"readTextFile": true, "writeTextFile": true},
        "terminal": true,
        "auth": {"terminal": true},
        "elicitation": {"form": {}, "url": {}},
        "session": {"configOptions": {"boolean": {}}, "notices": {}, "compaction": {}},
    })
}

/// A plain conversation, for audits and their mutants.
pub(crate) fn plain_conversation(agent: Agent) -> Running {
    Box::pin(async move {
        let (mut conversation, _, session) = agent.session().await?;
        if let Ok(text) = agent.setting.text("say") {
            conversation.ok("session/prompt", agent.prompt(&session, text)).await?;
        }
        conversation.request("_conformance/unknown", json!({})).await?;
        Ok(())
    })
}
