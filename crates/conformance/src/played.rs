//! A client under test together with the server or agent that the suite plays for it.

use std::sync::Arc;
use std::time::Duration;

use crate::conversation::Conversation;
use crate::driver::Driver;
use crate::link::Link;
use crate::setting::Setting;
use crate::stand_in::StandIns;
use crate::subject::CommandLine;
use crate::verdict::Outcome;

/// How long a client may take to start its server or agent.
const START_TIME: Duration = Duration::from_secs(30);

/// A client under test over stdio. It starts the stand-in with its first step.
pub(crate) struct Played {
    pub(crate) driver: Driver,
    stand_ins: StandIns,
    setting: Setting,
}

impl Played {
    pub(crate) async fn new(
        setting: &Setting,
        command: &Arc<CommandLine>,
        stand_in: &CommandLine,
    ) -> Outcome<Self> {
        let stand_ins = StandIns::listen().await?;
        let mut target = stand_in.clone();
        target.arguments.extend(stand_ins.arguments().map(str::to_owned));
        let driver = Driver::new(command, setting, &target.to_string());
        Ok(Self { driver, stand_ins, setting: setting.clone() })
    }

    /// Waits for the client to start its server or agent. A client may do so several times.
    pub(crate) async fn accept(&mut self) -> Outcome<Conversation> {
        self.accept_within(START_TIME).await
    }

    /// The same with a time limit of the check's choice.
    pub(crate) async fn accept_within(&mut self, within: Duration) -> Outcome<Conversation> {
        let Setting { trace, faults, wait, .. } = &self.setting;
        let (socket, received) = self.stand_ins.accept(within, trace, faults).await?;
        Ok(Conversation::new(Link::Socket(socket), received, *wait))
    }
}
