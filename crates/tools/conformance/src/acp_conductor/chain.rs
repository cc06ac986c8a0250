//! A running conductor, and the members of its chain that the suite plays.

use std::time::Duration;

use serde_json::{Value, json};

use crate::acp_messages::{SUCCESSOR, greeting};
use crate::conversation::Conversation;
use crate::link::Link;
use crate::link::stand_in::StandIns;
use crate::requirements::revision::Revision;
use crate::setting::Setting;
use crate::verdict::{Outcome, Stop};

/// How long a conductor may take to start a component.
const COMPONENT_TIME: Duration = Duration::from_secs(30);

/// A conductor that has `initialize` of the client, and the places where its components connect.
pub(super) struct Components {
    pub(super) client: Conversation,
    /// The id of the client's `initialize`.
    pub(super) initialize: Value,
    pub(super) proxies: StandIns,
    pub(super) agents: StandIns,
    pub(super) setting: Setting,
}

/// A client, a proxy and an agent around a conductor.
pub(super) struct Chain {
    /// The conductor runs as long as this.
    pub(super) client: Conversation,
    pub(super) proxy: Conversation,
    pub(super) agent: Conversation,
}

impl Components {
    /// Waits until the conductor has started its proxy.
    pub(super) async fn proxy(&mut self) -> Outcome<Conversation> {
        accept(&self.proxies, &self.setting, "proxy", 2000).await
    }

    /// Waits until the conductor has started its agent.
    pub(super) async fn agent(&mut self) -> Outcome<Conversation> {
        accept(&self.agents, &self.setting, "agent", 3000).await
    }

    /// Initializes every member of the chain, whatever the methods for that are called.
    pub(super) async fn initialized(mut self, revision: Revision) -> Outcome<Chain> {
        let mut proxy = self.proxy().await?;
        let asked = proxy.next().await?;
        let envelope = json!({"method": "initialize", "params": asked["params"]});
        let forwarded = proxy.start(SUCCESSOR, envelope).await?;
        let mut agent = self.agent().await?;
        let request = agent.next().await?;
        agent.reply(&request, greeting(revision)).await?;
        proxy.response(&forwarded).await?;
        proxy.reply(&asked, greeting(revision)).await?;
        self.client.response(&self.initialize).await?;
        Ok(Chain { client: self.client, proxy, agent })
    }
}

/// Waits until the conductor has started a component. The suite numbers its requests to it from a number on.
async fn accept(stand_ins: &StandIns, setting: &Setting, name: &str, number: i64) -> Outcome<Conversation> {
    let Setting { trace, faults, wait, .. } = setting;
    let accepted = stand_ins.accept(COMPONENT_TIME, trace, faults).await;
    let (socket, received) = accepted.map_err(|_| {
        let seconds = COMPONENT_TIME.as_secs();
        Stop::failed(format!("the conductor starts its {name}"), format!("it did not within {seconds} s"))
    })?;
    let mut conversation = Conversation::new(Link::Socket(socket), received, *wait);
    // A fault knows the answers to a request by its id alone.
    conversation.number_from(number);
    Ok(conversation)
}
