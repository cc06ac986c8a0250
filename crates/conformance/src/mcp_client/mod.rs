//! Checks of MCP clients: the suite is the server, and makes the client do what a check needs.

mod caching;
mod cancellation;
mod http_sse;
mod input_required;
mod jsonrpc;
mod lifecycle;
mod logging;
mod pagination;
mod ping;
mod progress;
mod script;
mod stateless_http;
mod stdio;
mod streamable_http;
mod subscriptions;
mod tasks;

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;

use self::script::Script;
use crate::check::{Check, Running};
use crate::played::Played;
use crate::revision::Revision;
use crate::setting::Setting;
use crate::subject::{CommandLine, Transport};
use crate::verdict::{Outcome, Stop};

/// All checks.
pub(crate) const CHECKS: &[&[Check<McpClient>]] = &[
    jsonrpc::CHECKS,
    lifecycle::CHECKS,
    stdio::CHECKS,
    http_sse::CHECKS,
    streamable_http::CHECKS,
    stateless_http::CHECKS,
    cancellation::CHECKS,
    progress::CHECKS,
    ping::CHECKS,
    pagination::CHECKS,
    logging::CHECKS,
    subscriptions::CHECKS,
    input_required::CHECKS,
    caching::CHECKS,
    tasks::CHECKS,
];

/// A client under test, as one check reaches it.
#[derive(Clone)]
pub(crate) struct McpClient {
    pub(crate) setting: Setting,
    command: Arc<CommandLine>,
    stand_in: Arc<CommandLine>,
}

impl McpClient {
    pub(crate) fn new(setting: Setting, command: Arc<CommandLine>, stand_in: Arc<CommandLine>) -> Self {
        Self { setting, command, stand_in }
    }

    pub(crate) fn revision(&self) -> Revision {
        self.setting.revision
    }

    /// Prepares a server for the client, which connects with the first step.
    pub(crate) async fn play(&self) -> Outcome<Played> {
        if self.setting.transport != Transport::Stdio {
            return Err(Stop::not_applicable("clients are judged over stdio here"));
        }
        Played::new(&self.setting, &self.command, &self.stand_in).await
    }

    /// A script of a server in this revision that offers a tool, a resource and a prompt.
    pub(crate) fn script(&self) -> Script {
        Script::new(self.revision())
    }
}

/// A plain conversation, for audits and their mutants.
pub(crate) fn plain_conversation(client: McpClient) -> Running {
    Box::pin(async move {
        let mut played = client.play().await?;
        let step = played.driver.start("list_tools", json!({})).await?;
        let mut server = played.accept().await?;
        server.answer_with(client.script().answers());
        server.listen(Duration::from_millis(500)).await?;
        played.driver.outcome(step, client.setting.wait).await?;
        Ok(())
    })
}
