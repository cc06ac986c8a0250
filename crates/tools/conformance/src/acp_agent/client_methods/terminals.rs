//! Checks of agents: the client's terminals.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::acp_agent::answers;
use crate::acp_agent::connection::initialization::plays_without;
use crate::acp_agent::messages::is_absolute;
use crate::acp_agent::{Agent, capabilities};
use crate::check::{ANY, Check, audit, check};
use crate::conversation::Conversation;
use crate::trace::{Sender, Trace};
use crate::verdict::{Outcome, Stop, ensure};

pub(in crate::acp_agent) const CHECKS: &[Check<Agent>] = &[
    check!(terminals_need_their_capability, ANY),
    check!(every_terminal_is_released, ANY),
    audit!(directories_of_terminals_are_absolute, ANY),
];

async fn terminals_need_their_capability(agent: Agent) -> Outcome {
    let mut set = capabilities(agent.revision());
    if let Some(set) = set.as_object_mut() {
        set.remove("terminal");
    }
    plays_without(&agent, set, &["terminal"], |message| {
        message["method"].as_str().is_some_and(|method| method.starts_with("terminal/"))
    })
    .await
}

/// Waits until each terminal that was created is released.
async fn released(conversation: &mut Conversation) -> Outcome {
    let until = Instant::now() + conversation.wait();
    loop {
        let of =
            |method: &'static str| conversation.asked.iter().filter(move |asked| asked["method"] == method);
        let created = of("terminal/create").count();
        if created == 0 {
            return Err(Stop::inconclusive("the prompt `terminal` led to no terminal"));
        }
        // `answers` numbers the terminals.
        let kept = (1..=created).map(|number| format!("terminal-{number}"));
        let kept =
            kept.into_iter().find(|id| of("terminal/release").all(|m| m["params"]["terminalId"] != **id));
        let Some(kept) = kept else { return Ok(()) };
        if conversation.is_closed() || Instant::now() > until {
            let what = "a release of each terminal that the agent created and no longer needs";
            return Err(Stop::failed(what, format!("{kept} is not released")));
        }
        conversation.serve(Duration::from_millis(50)).await?;
    }
}

async fn every_terminal_is_released(agent: Agent) -> Outcome {
    let (mut conversation, session, _) = agent.played("terminal").await?;
    released(&mut conversation).await?;
    // From here on the terminals have the same numbers again.
    conversation.asked.clear();
    let mut usual = answers::answers();
    conversation.answer_with(move |request| match request["method"].as_str() {
        Some("terminal/wait_for_exit") => None,
        Some("terminal/output") => Some(Ok(json!({"output": "", "truncated": false}))),
        _ => usual(request),
    });
    let text = agent.setting.text("terminal")?.to_owned();
    let prompt = agent.begin(&mut conversation, &session, &text).await?;
    let works = conversation.wanted("a request about a terminal", |message| {
        message["method"].as_str().is_some_and(|method| method.starts_with("terminal/"))
    });
    let wait = match tokio::time::timeout(Duration::from_secs(2), works).await {
        Ok(wait) => Some(wait.map_err(Stop::while_preparing)?),
        // An agent may ask for the output again and again instead.
        Err(_) => None,
    };
    agent.cancel(&mut conversation, &session).await?;
    // The killed command ends, for an agent that waits for that.
    let mut usual = answers::answers();
    conversation.answer_with(move |request| usual(request));
    if let Some(wait) = wait {
        conversation.reply(&wait, json!({"signal": "SIGKILL"})).await?;
    }
    agent.finish(&mut conversation, &session, &prompt).await.map_err(Stop::while_preparing)?;
    released(&mut conversation).await
}

fn directories_of_terminals_are_absolute(_: &Agent, trace: &Trace) -> Outcome {
    let messages = trace.messages(Sender::Subject).into_iter();
    let calls: Vec<Value> = messages.filter(|message| message["method"] == "terminal/create").collect();
    for call in &calls {
        let cwd = call["params"].get("cwd").filter(|cwd| !cwd.is_null());
        let is_sound = cwd.is_none_or(|cwd| cwd.as_str().is_some_and(is_absolute));
        ensure!(is_sound, "an absolute directory of a terminal", "`{call}`");
    }
    if calls.is_empty() { Err(Stop::not_applicable("the agent asked for no terminal")) } else { Ok(()) }
}
