//! A client under test together with the server or agent that the suite plays for it.

use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;

use crate::conversation::Conversation;
use crate::link::Link;
use crate::link::played_http::{Conversations, play_agent, play_server};
use crate::link::stand_in::StandIns;
use crate::requirements::protocol::Protocol;
use crate::setting::Setting;
use crate::subject::driver::Driver;
use crate::subject::{CommandLine, Transport};
use crate::verdict::{Outcome, Stop};

/// How long a client may take to start its server or agent.
const START_TIME: Duration = Duration::from_secs(30);

/// A client under test. It starts the stand-in, or connects to the suite's server, with its first step.
pub(crate) struct Played {
    pub(crate) driver: Driver,
    place: Place,
    setting: Setting,
}

/// The address of the suite for the client.
enum Place {
    Stdio(StandIns),
    Http(Conversations),
}

impl Played {
    pub(crate) async fn new(
        setting: &Setting,
        command: &Arc<CommandLine>,
        stand_in: &CommandLine,
    ) -> Outcome<Self> {
        if setting.transport != Transport::Stdio {
            let conversations = match setting.revision.protocol() {
                Protocol::Acp => play_agent(setting).await?,
                Protocol::Mcp => play_server(setting).await?,
            };
            let driver = Driver::new(command, setting, conversations.url());
            return Ok(Self { driver, place: Place::Http(conversations), setting: setting.clone() });
        }
        Self::with(StandIns::listen().await?, setting, command, stand_in)
    }

    /// The same with stand-ins of the check's choice.
    pub(crate) fn with(
        stand_ins: StandIns,
        setting: &Setting,
        command: &Arc<CommandLine>,
        stand_in: &CommandLine,
    ) -> Outcome<Self> {
        let target = stand_ins.command(stand_in);
        let driver = Driver::new(command, setting, &target.to_string());
        Ok(Self { driver, place: Place::Stdio(stand_ins), setting: setting.clone() })
    }

    /// Makes the server write text on its standard error before it reads anything, which only a process can. To be called
    /// before the first step.
    pub(crate) fn write_on_stderr(&mut self, bytes: usize) -> Outcome {
        let Place::Stdio(_) = &self.place else {
            return Err(Stop::not_applicable("only a process has a standard error"));
        };
        self.driver.extend_target(&format!("+{bytes}"));
        Ok(())
    }

    /// Waits for the client to begin a conversation with its server or agent. A client may do so several times.
    pub(crate) async fn accept(&mut self) -> Outcome<Conversation> {
        self.accept_within(START_TIME).await
    }

    /// The same with a time limit of the check's choice.
    pub(crate) async fn accept_within(&mut self, within: Duration) -> Outcome<Conversation> {
        let Setting { trace, faults, wait, .. } = &self.setting;
        let (link, received) = match &mut self.place {
            Place::Stdio(stand_ins) => {
                let (socket, received) = stand_ins.accept(within, trace, faults).await?;
                (Link::Socket(socket), received)
            }
            Place::Http(conversations) => conversations.accept(within).await?,
        };
        Ok(Conversation::new(link, received, *wait))
    }

    /// The arguments and variables that the client has added to its last server or agent; see
    /// [`StandIns::surroundings`].
    pub(crate) fn surroundings(&self) -> Value {
        match &self.place {
            Place::Stdio(stand_ins) => stand_ins.surroundings(),
            Place::Http(_) => Value::Null,
        }
    }
}
