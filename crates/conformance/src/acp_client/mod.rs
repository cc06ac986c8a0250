//! Checks of ACP clients: the suite is the agent, and makes the client do what a check needs.

mod authentication;
mod content;
mod elicitation;
mod files;
mod initialization;
mod jsonrpc;
mod options;
mod prompt;
mod script;
mod session;
mod session_list;
mod terminals;
mod tool_calls;
mod transport;
mod updates;
mod v2;

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;

use self::script::Script;
use crate::check::{Check, Running};
use crate::played::Played;
use crate::revision::Revision;
use crate::setting::Setting;
use crate::subject::CommandLine;
use crate::verdict::Outcome;

/// All checks.
pub(crate) const CHECKS: &[&[Check<AcpClient>]] = &[
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

/// A client under test, as one check reaches it.
#[derive(Clone)]
pub(crate) struct AcpClient {
    pub(crate) setting: Setting,
    command: Arc<CommandLine>,
    stand_in: Arc<CommandLine>,
}

impl AcpClient {
    pub(crate) fn new(setting: Setting, command: Arc<CommandLine>, stand_in: Arc<CommandLine>) -> Self {
        Self { setting, command, stand_in }
    }

    pub(crate) fn revision(&self) -> Revision {
        self.setting.revision
    }

    /// Prepares an agent for the client, which starts it with the first step.
    pub(crate) async fn play(&self) -> Outcome<Played> {
        Played::new(&self.setting, &self.command, &self.stand_in).await
    }

    /// A script of an agent in this version that can do everything.
    pub(crate) fn script(&self) -> Script {
        Script::new(self.revision())
    }
}

/// A plain conversation, for audits and their mutants.
pub(crate) fn plain_conversation(client: AcpClient) -> Running {
    Box::pin(async move {
        let mut played = client.play().await?;
        let step = played.driver.start("prompt", json!({"text": "hello"})).await?;
        let mut agent = played.accept().await?;
        agent.answer_with(client.script().answers());
        agent.listen(Duration::from_millis(500)).await?;
        played.driver.outcome(step, client.setting.wait).await?;
        Ok(())
    })
}
