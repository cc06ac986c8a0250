//! Checks of MCP clients: the suite is the server, and makes the client do what a check needs.

pub(crate) mod caching;
pub(crate) mod cancellation;
pub(crate) mod checks;
pub(crate) mod host;
mod http_sse;
pub(crate) mod input_required;
mod jsonrpc;
mod lifecycle;
mod logging;
pub(crate) mod modern_http;
mod opened;
mod pagination;
mod ping;
mod plain;
mod progress;
mod script;
pub(crate) mod stdio;
mod streamable_http;
mod subscriptions;
mod tasks;

use std::sync::Arc;

use serde_json::json;

use self::script::Script;
use crate::check::Running;
use crate::requirements::revision::Revision;
use crate::setting::Setting;
use crate::subject::CommandLine;
use crate::subject::played::Played;
use crate::verdict::{Outcome, Stop};

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

    /// Whether its command or one of its steps names the revision in which it is judged.
    fn is_told_its_revision(&self) -> bool {
        let is_named = |word: &str| word.contains("{revision}");
        self.command.arguments.iter().any(|word| is_named(word))
            || self.setting.role("list_tools").is_ok_and(|step| is_named(&step.to_string()))
    }

    /// Prepares a server for the client, which connects with the first step.
    pub(crate) async fn play(&self) -> Outcome<Played> {
        Played::new(&self.setting, &self.command, &self.stand_in).await
    }

    /// A script of a server in this revision that offers a tool, a resource and a prompt.
    pub(crate) fn script(&self) -> Script {
        Script::new(self.revision())
    }
}

/// Ends with nothing if the client gets on with a server of the revision.
pub(crate) fn speaks(client: McpClient) -> Running {
    Box::pin(async move {
        let mut opened = client.open("list_tools", json!({}), client.script()).await?;
        let outcome = opened.outcome(opened.step).await?;
        match outcome.get("error") {
            None => Ok(()),
            Some(error) => {
                let revision = client.revision();
                Err(Stop::not_applicable(format!(
                    "the client does not speak {revision}: it fails with `{error}`"
                )))
            }
        }
    })
}
