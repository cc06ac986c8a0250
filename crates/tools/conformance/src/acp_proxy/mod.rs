//! Checks of ACP proxies: the suite is the conductor, and so both the client and the successor, over one connection.

pub(crate) mod checks;
mod envelopes;
mod forwarding;
mod initialization;

use std::sync::Arc;

use serde_json::Value;

use crate::acp_messages::{
    START_TIME, capabilities, greeting, initialize, is_below, is_response, version, wraps,
};
use crate::check::Running;
use crate::conversation::Conversation;
use crate::requirements::revision::Revision;
use crate::setting::Setting;
use crate::subject::CommandLine;
use crate::verdict::{Outcome, Stop};

/// A proxy under test, as one check reaches it.
#[derive(Clone)]
pub(crate) struct Proxy {
    pub(crate) setting: Setting,
    command: Arc<CommandLine>,
}

/// A proxy that has received `proxy/initialize`, and sends `initialize` to its successor.
struct Initialization {
    conversation: Conversation,
    /// The id of `proxy/initialize`.
    id: Value,
    /// The proxy's `initialize` in `proxy/successor`.
    forwarded: Value,
}

impl Proxy {
    pub(crate) fn new(setting: Setting, command: Arc<CommandLine>) -> Self {
        Self { setting, command }
    }

    pub(crate) fn revision(&self) -> Revision {
        self.setting.revision
    }

    /// Starts the proxy and sends `proxy/initialize`. The check does not apply to a program that does not know it.
    async fn begin(&self) -> Outcome<Initialization> {
        let mut conversation = Conversation::with_program(&self.command, &self.setting, START_TIME).await?;
        let params = initialize(self.revision(), capabilities(self.revision()));
        let id = conversation.start("proxy/initialize", params).await?;
        let what = "`initialize` in `proxy/successor`";
        let accept = |message: &Value| is_response(message, &id) || wraps(message, "initialize");
        let first = conversation.wanted(what, accept).await.map_err(Stop::while_preparing)?;
        if first.get("method").is_some() {
            return Ok(Initialization { conversation, id, forwarded: first });
        }
        match first.get("error") {
            Some(error) if error["code"] == -32601 => {
                Err(Stop::not_applicable("the program does not know `proxy/initialize`"))
            }
            Some(error) => Err(Stop::inconclusive(format!("`proxy/initialize` was answered with `{error}`"))),
            None => Err(Stop::failed(
                "the successor is asked for `initialize` before `proxy/initialize` is answered",
                format!("`{first}`"),
            )),
        }
    }

    /// A running proxy whose successor has answered `initialize`.
    async fn open(&self) -> Outcome<Conversation> {
        let opened = async {
            let Initialization { mut conversation, id, forwarded } = self.begin().await?;
            conversation.reply(&forwarded, greeting(self.revision())).await?;
            conversation.response(&id).await?;
            Ok(conversation)
        };
        opened.await.map_err(Stop::while_preparing)
    }
}

/// Ends with nothing if the program is a proxy that speaks the version.
pub(crate) fn speaks(proxy: Proxy) -> Running {
    Box::pin(async move {
        let begun = match proxy.begin().await {
            // What a proxy does wrong here is for the checks to say.
            Err(Stop::Failed(_)) => return Ok(()),
            begun => begun?,
        };
        let asked = &begun.forwarded["params"]["params"]["protocolVersion"];
        let is_lower = is_below(asked, version(proxy.revision()));
        if !is_lower {
            return Ok(());
        }
        let revision = proxy.revision();
        Err(Stop::not_applicable(format!("the proxy asks for the version {asked} in place of {revision}")))
    })
}

/// A conversation in which a proxy is initialized.
pub(crate) fn plain_conversation(proxy: Proxy) -> Running {
    Box::pin(async move { proxy.open().await.map(drop) })
}
