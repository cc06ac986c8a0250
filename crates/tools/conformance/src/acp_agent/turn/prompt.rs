//! Checks of agents: prompts, cancellation, usage and plans.

use serde_json::{Value, json};

use crate::acp_agent::Agent;
use crate::acp_agent::connection::initialization::accepts;
use crate::acp_agent::connection::jsonrpc::SILENCE;
use crate::acp_agent::turn::update_in;
use crate::acp_messages::is_count;
use crate::check::{ANY, Check, audit, check};
use crate::trace::{Sender, Trace};
use crate::verdict::{Outcome, Stop, ensure};

pub(in crate::acp_agent) const CHECKS: &[Check<Agent>] = &[
    check!(a_prompt_ends_with_a_stop_reason, ANY),
    check!(text_is_accepted, ANY),
    check!(advertised_content_is_accepted, ANY),
    check!(messages_have_ids_of_their_own, ANY),
    audit!(usage_is_sound, ANY),
    check!(permission_is_followed_by_progress, ANY),
    check!(commands_are_described, ANY),
    check!(plans_and_progress_are_reported, ANY),
    check!(each_plan_is_whole, ANY),
];

pub(in crate::acp_agent) const STOP_REASONS: [&str; 5] =
    ["end_turn", "max_tokens", "max_turn_requests", "refusal", "cancelled"];

async fn a_prompt_ends_with_a_stop_reason(agent: Agent) -> Outcome {
    let (_, _, turn) = agent.played("say").await?;
    let is_known = turn.stop.as_deref().is_some_and(|stop| STOP_REASONS.contains(&stop));
    ensure!(is_known, format!("one of the stop reasons {}", STOP_REASONS.join(", ")), "`{}`", turn.response);
    Ok(())
}

async fn text_is_accepted(agent: Agent) -> Outcome {
    let text = agent.setting.text("say")?.to_owned();
    let (mut conversation, _, session) = agent.session().await?;
    let turn = agent.turn(&mut conversation, &session, &text).await.map_err(Stop::while_preparing)?;
    let is_refused = ["-32600", "-32602"].contains(&turn.response["error"]["code"].to_string().as_str());
    ensure!(!is_refused, "a prompt with a block of the type text is accepted", "`{}`", turn.response);
    match turn.response.get("result") {
        Some(_) => Ok(()),
        // Such as a missing login, or a model that cannot be reached.
        None => Err(Stop::inconclusive(format!("the prompt failed: `{}`", turn.response))),
    }
}

async fn advertised_content_is_accepted(agent: Agent) -> Outcome {
    let text = agent.setting.text("say")?.to_owned();
    let (mut conversation, initialized, session) = agent.session().await?;
    agent.play(&mut conversation, &session, "say").await?;
    let resource = json!({"uri": "file:///tmp/file.txt", "mimeType": "text/plain", "text": "text"});
    let blocks = [
        ("image", json!({"type": "image", "mimeType": "image/png", "data": PNG})),
        ("audio", json!({"type": "audio", "mimeType": "audio/wav", "data": WAV})),
        ("embeddedContext", json!({"type": "resource", "resource": resource})),
    ];
    let mut count = 0;
    for (name, block) in blocks {
        let places = [
            format!("/agentCapabilities/promptCapabilities/{name}"),
            format!("/capabilities/session/prompt/{name}"),
        ];
        if agent.needs(&initialized, &places[0], &places[1]).is_ok() {
            count += 1;
            accepts(&agent, &mut conversation, &session, &text, block).await?;
        }
    }
    if count == 0 {
        Err(Stop::not_applicable("the agent advertises no content beyond text and links"))
    } else {
        Ok(())
    }
}

/// A red dot.
pub(in crate::acp_agent) const PNG: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGP4z8DwHwAFAAH/iZk9HQAAAABJRU5ErkJggg==";
/// A sound of no length.
const WAV: &str = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA=";

async fn messages_have_ids_of_their_own(agent: Agent) -> Outcome {
    let (mut conversation, session, first) = agent.played("say").await?;
    let second = agent.play(&mut conversation, &session, "say").await?;
    let ids = |turn: &crate::acp_agent::turn::Turn| {
        let chunks = turn.updates().filter(|update| update["sessionUpdate"] == "agent_message_chunk");
        let mut ids: Vec<String> =
            chunks.filter_map(|chunk| chunk["messageId"].as_str().map(str::to_owned)).collect();
        ids.dedup();
        ids
    };
    let (first, second) = (ids(&first), ids(&second));
    if first.is_empty() || second.is_empty() {
        return Err(Stop::not_applicable("the agent gives its messages no ids"));
    }
    let shared = first.iter().find(|id| second.contains(id));
    ensure!(shared.is_none(), "another id for the message of another prompt", "{shared:?} again");
    if agent.setting.text("chunks").is_ok() {
        let turn = agent.play(&mut conversation, &session, "chunks").await?;
        let ids = ids(&turn);
        ensure!(ids.len() == 1, "one id for all chunks of one message", "{ids:?}");
    }
    Ok(())
}

fn usage_is_sound(_: &Agent, trace: &Trace) -> Outcome {
    let mut found = false;
    for message in trace.messages(Sender::Subject) {
        let Some(update) = update_in(&message).filter(|update| update["sessionUpdate"] == "usage_update")
        else {
            continue;
        };
        found = true;
        for name in ["used", "size"] {
            ensure!(is_count(&update[name]), format!("an integer `{name}` in a usage update"), "`{message}`");
        }
        if let Some(cost) = update.get("cost").filter(|cost| !cost.is_null()) {
            let is_sound = cost["amount"].is_number() && cost["currency"].is_string();
            ensure!(is_sound, "an amount and a currency in a cost", "`{message}`");
        }
    }
    if found { Ok(()) } else { Err(Stop::not_applicable("the agent reported no usage")) }
}

async fn permission_is_followed_by_progress(agent: Agent) -> Outcome {
    let (conversation, _, turn) = agent.played("permission").await?;
    let is_granted = |request: &Value| {
        let options = request["params"]["options"].as_array().into_iter().flatten();
        let mut kinds = options.filter_map(|option| option["kind"].as_str());
        request["method"] == "session/request_permission" && kinds.any(|kind| kind.starts_with("allow"))
    };
    if !conversation.asked.iter().any(is_granted) {
        return Err(Stop::inconclusive("the agent asked for no permission that the suite could grant"));
    }
    let works =
        turn.updates().any(|update| update["toolCallId"].is_string() && update["status"] == "in_progress");
    ensure!(works, "a tool call that is in progress after its permission was granted", "none");
    Ok(())
}

async fn commands_are_described(agent: Agent) -> Outcome {
    let (mut conversation, _, session) = agent.session().await?;
    let mut messages = match agent.setting.text("say") {
        Ok(_) => agent.play(&mut conversation, &session, "say").await?.messages,
        Err(_) => Vec::new(),
    };
    messages.extend(conversation.listen(SILENCE).await?.into_iter().map(|arrived| arrived.message));
    let updates = messages.iter().filter_map(update_in);
    let mut lists =
        updates.filter(|update| update["sessionUpdate"] == "available_commands_update").peekable();
    if lists.peek().is_none() {
        return Err(Stop::not_applicable("the agent sent no commands"));
    }
    for list in lists {
        let commands = list["availableCommands"].as_array();
        let commands =
            commands.ok_or_else(|| Stop::failed("an array `availableCommands`", format!("`{list}`")))?;
        for command in commands {
            let is_named = command["name"].is_string() && command["description"].is_string();
            ensure!(is_named, "a name and a description of each command", "`{command}`");
            let input = &command["input"];
            ensure!(
                input.is_null() || input["hint"].is_string(),
                "a hint in the input of a command",
                "`{command}`"
            );
        }
    }
    Ok(())
}

/// The entries of each plan of a turn, with the plan's id.
fn plans(turn: &crate::acp_agent::turn::Turn) -> Vec<(Value, Vec<Value>)> {
    let plans = turn.updates().filter_map(|update| match update["sessionUpdate"].as_str() {
        Some("plan") => Some(update),
        Some("plan_update") => update.get("plan"),
        _ => None,
    });
    plans.filter_map(|plan| Some((plan["planId"].clone(), plan["entries"].as_array()?.clone()))).collect()
}

async fn plans_and_progress_are_reported(agent: Agent) -> Outcome {
    let (_, _, turn) = agent.played("plan").await?;
    let plans = plans(&turn);
    ensure!(!plans.is_empty(), "a plan for work in several steps", "none");
    let first = plans.first();
    let changes = plans.iter().any(|plan| Some(plan) != first);
    ensure!(changes, "the plan's progress", "{} plans that are the same", plans.len());
    Ok(())
}

async fn each_plan_is_whole(agent: Agent) -> Outcome {
    let (_, _, turn) = agent.played("plan").await?;
    let plans = plans(&turn);
    if plans.len() < 2 {
        return Err(Stop::inconclusive("the prompt `plan` led to fewer than two plans"));
    }
    // An agent may remove an entry, or write it again. An entry that comes back later was only left out.
    let has = |entries: &[Value], content: &Value| entries.iter().any(|entry| entry["content"] == *content);
    for (place, (id, entries)) in plans.iter().enumerate() {
        let of_plan = |others: &[(Value, Vec<Value>)], content: &Value| {
            others.iter().any(|(other, entries)| other == id && has(entries, content))
        };
        let (before, after) = (&plans[..place], &plans[place..]);
        let known = before.iter().flat_map(|(_, entries)| entries).map(|entry| &entry["content"]);
        let missing = known
            .filter(|content| !has(entries, content))
            .find(|content| of_plan(before, content) && of_plan(after, content));
        let what = "all entries of the plan in each update";
        ensure!(
            missing.is_none(),
            what,
            "`{}` without `{}`, which is back later",
            json!(entries),
            json!(missing)
        );
    }
    Ok(())
}
