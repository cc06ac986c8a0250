//! Checks of ACP conductors: the suite is the client, and the two components that the conductor starts, a proxy and an agent.

mod cancellation;
mod chain;
pub(crate) mod checks;
mod envelopes;
mod initialization;

use std::sync::Arc;

use self::chain::{Chain, Components};
use crate::acp_messages::{START_TIME, capabilities, initialize, is_below, version};
use crate::check::Running;
use crate::conversation::Conversation;
use crate::link::stand_in::StandIns;
use crate::requirements::revision::Revision;
use crate::setting::Setting;
use crate::subject::CommandLine;
use crate::verdict::{Outcome, Stop};

/// A conductor under test, as one check reaches it.
#[derive(Clone)]
pub(crate) struct Conductor {
    pub(crate) setting: Setting,
    command: Arc<CommandLine>,
    stand_in: Arc<CommandLine>,
}

impl Conductor {
    pub(crate) fn new(setting: Setting, command: Arc<CommandLine>, stand_in: Arc<CommandLine>) -> Self {
        Self { setting, command, stand_in }
    }

    pub(crate) fn revision(&self) -> Revision {
        self.setting.revision
    }

    /// Starts the conductor with the suite's proxy and agent as its components, and sends `initialize`.
    async fn start(&self) -> Outcome<Components> {
        let (proxies, agents) = (StandIns::listen().await?, StandIns::listen().await?);
        let proxy = proxies.command(&self.stand_in).to_string();
        let agent = agents.command(&self.stand_in).to_string();
        let command = self.command.filled(&[("proxy", &proxy), ("agent", &agent)]);
        let mut client = Conversation::with_program(&command, &self.setting, START_TIME).await?;
        let params = initialize(self.revision(), capabilities(self.revision()));
        let initialize = client.start("initialize", params).await?;
        Ok(Components { client, initialize, proxies, agents, setting: self.setting.clone() })
    }

    /// A chain whose members are initialized.
    async fn open(&self) -> Outcome<Chain> {
        let opened = async { self.start().await?.initialized(self.revision()).await };
        opened.await.map_err(Stop::while_preparing)
    }
}

/// Ends with nothing if the conductor speaks the version.
pub(crate) fn speaks(conductor: Conductor) -> Running {
    Box::pin(async move {
        let asked = async { conductor.start().await?.proxy().await?.next().await };
        let asked = asked.await.map_err(Stop::while_preparing)?;
        let asked = &asked["params"]["protocolVersion"];
        let is_lower = is_below(asked, version(conductor.revision()));
        if !is_lower {
            return Ok(());
        }
        let revision = conductor.revision();
        Err(Stop::not_applicable(format!(
            "the conductor asks for the version {asked} in place of {revision}"
        )))
    })
}

/// A conversation in which a chain is initialized.
pub(crate) fn plain_conversation(conductor: Conductor) -> Running {
    Box::pin(async move { conductor.open().await.map(drop) })
}
