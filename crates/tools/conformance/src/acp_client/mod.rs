//! Checks of ACP clients: the suite is the agent, and makes the client do what a check needs.

pub(crate) mod checks;
mod client_methods;
mod connection;
mod plain;
mod remote;
mod run;
mod script;
pub(crate) mod session;
mod turn;
mod v2;

use std::sync::Arc;

use serde_json::json;

use self::script::Script;
use crate::acp_messages::{is_version, version};
use crate::check::Running;
use crate::link::stand_in::StandIns;
use crate::requirements::revision::Revision;
use crate::scripts::script_file::ScriptFile;
use crate::scripts::script_play::play_script;
use crate::setting::Setting;
use crate::subject::CommandLine;
use crate::subject::played::Played;
use crate::verdict::{Outcome, Stop};

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

    /// The same for an agent that writes 1 MiB to its standard error first.
    async fn play_loudly(&self) -> Outcome<Played> {
        let stand_ins = StandIns::listen().await?.with_noise(1 << 20);
        Played::with(stand_ins, &self.setting, &self.command, &self.stand_in)
    }

    /// A script of an agent in this version that can do everything.
    pub(crate) fn script(&self) -> Script {
        Script::new(self.revision())
    }
}

/// Ends with nothing if the client speaks the version.
pub(crate) fn speaks(client: AcpClient) -> Running {
    Box::pin(async move {
        let mut played = client.play().await?;
        let _step = played.driver.start("prompt", json!({"text": "hello"})).await?;
        let mut agent = played.accept().await?;
        let request = agent.call("initialize").await.map_err(Stop::while_preparing)?;
        let (offered, spoken) = (&request["params"]["protocolVersion"], client.revision());
        if is_version(offered, version(spoken)) {
            return Ok(());
        }
        Err(Stop::not_applicable(format!("the client does not speak version {spoken}: it offers {offered}")))
    })
}

/// Plays a script to a client that was made to send a prompt.
pub(crate) fn play(client: AcpClient, file: ScriptFile) -> Running {
    Box::pin(async move {
        let mut played = client.play().await?;
        let _step = played.driver.start("prompt", json!({"text": "hello"})).await?;
        let agent = played.accept().await?;
        play_script(agent, &client.setting, &file, client.setting.wait).await
    })
}
