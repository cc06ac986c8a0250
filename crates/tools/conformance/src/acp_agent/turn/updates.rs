//! Checks of agents: notices and compactions.

use serde_json::json;

use crate::acp_agent::connection::initialization::plays_without;
use crate::acp_agent::turn::update_in;
use crate::acp_agent::{Agent, capabilities};
use crate::check::{ANY, Check, check};
use crate::verdict::Outcome;

pub(in crate::acp_agent) const CHECKS: &[Check<Agent>] =
    &[check!(notices_need_the_capability, ANY), check!(compactions_need_the_capability, ANY)];

async fn without(agent: &Agent, role: &str, begin: &str) -> Outcome {
    let mut set = capabilities(agent.revision());
    set["session"] = json!({});
    plays_without(agent, set, &[role], |message| {
        let update = update_in(message).and_then(|update| update["sessionUpdate"].as_str());
        update.is_some_and(|kind| kind.starts_with(begin))
    })
    .await
}

async fn notices_need_the_capability(agent: Agent) -> Outcome {
    without(&agent, "notice", "notice").await
}

async fn compactions_need_the_capability(agent: Agent) -> Outcome {
    without(&agent, "compaction", "compaction_").await
}
