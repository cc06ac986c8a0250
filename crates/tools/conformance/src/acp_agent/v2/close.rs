//! Checks of agents: the end of a session in version 2.

use std::collections::HashSet;

use serde_json::{Value, json};

use crate::acp_agent::Agent;
use crate::acp_agent::connection::jsonrpc::SILENCE;
use crate::acp_agent::turn::update_in;
use crate::check::{Check, ORDERED, check};
use crate::conversation::Conversation;
use crate::verdict::{Outcome, Stop, ensure};

pub(in crate::acp_agent) const CHECKS: &[Check<Agent>] = &[
    check!(a_close_ends_the_work_first, ORDERED),
    check!(nothing_follows_a_close, ORDERED),
    check!(a_close_ends_each_prompt, ORDERED),
];

/// A session whose slow work is closed: the updates between the work's begin and the response to `session/close`.
async fn closed_at_work(agent: &Agent) -> Outcome<(Conversation, Vec<Value>)> {
    agent.setting.text("slow")?;
    let (mut conversation, _, session) = agent.session().await?;
    let prompt = agent.begin_slow(&mut conversation, &session).await?;
    conversation.response(&prompt).await.map_err(Stop::while_preparing)?;
    let close = conversation.start("session/close", json!({"sessionId": session})).await?;
    let mut before = Vec::new();
    loop {
        let message = conversation.wanted("a response to session/close", |_| true).await;
        let message = message.map_err(Stop::while_preparing)?;
        if message.get("id") != Some(&close) || message.get("method").is_some() {
            before.push(message);
        } else if message.get("result").is_some() {
            return Ok((conversation, before));
        } else {
            return Err(Stop::inconclusive(format!("session/close: `{message}`")));
        }
    }
}

async fn a_close_ends_the_work_first(agent: Agent) -> Outcome {
    let (_, before) = closed_at_work(&agent).await?;
    let mut updates = before.iter().filter_map(update_in);
    let is_cancelled = updates.any(|update| update["state"] == "idle" && update["stopReason"] == "cancelled");
    ensure!(is_cancelled, "the idle state with `cancelled` before the response to session/close", "none");
    Ok(())
}

async fn nothing_follows_a_close(agent: Agent) -> Outcome {
    let (mut conversation, _) = closed_at_work(&agent).await?;
    let what = "no message for a session after the response to session/close";
    conversation.silence(SILENCE, what, |message| message.pointer("/params/sessionId").is_none()).await
}

/// The ids of the user messages that the agent has reported.
fn user_messages(conversation: &Conversation) -> HashSet<&str> {
    let updates = conversation.queued().filter_map(update_in);
    let is_user = |update: &&Value| {
        update["sessionUpdate"].as_str().is_some_and(|kind| kind.starts_with("user_message"))
    };
    updates.filter(is_user).filter_map(|update| update["messageId"].as_str()).collect()
}

/// The second prompt may be held until the first has ended, refused at once, or inserted beside it.
async fn a_close_ends_each_prompt(agent: Agent) -> Outcome {
    let text = agent.setting.text("say")?.to_owned();
    agent.setting.text("slow")?;
    let (mut conversation, _, session) = agent.session().await?;
    let first = agent.begin_slow(&mut conversation, &session).await?;
    let first = conversation.response(&first).await.map_err(Stop::while_preparing)?;
    let second = agent.begin(&mut conversation, &session, &text).await?;
    conversation.ok("session/close", json!({"sessionId": session})).await.map_err(Stop::while_preparing)?;
    let response = conversation.response(&second).await?;
    if response.get("result").is_some() {
        return Ok(());
    }
    let own = first["result"]["messageId"].as_str().unwrap_or_default();
    let is_inserted = user_messages(&conversation).iter().any(|id| *id != own);
    ensure!(!is_inserted, "a result of a prompt whose message was inserted", "`{response}`");
    if response["error"]["code"] == -32800 {
        return Ok(());
    }
    Err(Stop::inconclusive(format!("the agent may have refused the prompt for another reason: `{response}`")))
}
