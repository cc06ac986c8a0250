//! Checks of agents: cancelled work of version 2.

use std::time::Duration;

use serde_json::{Value, json};

use crate::acp_agent::Agent;
use crate::acp_agent::answers;
use crate::acp_agent::connection::jsonrpc::SILENCE;
use crate::acp_agent::turn::is_update;
use crate::check::{ANY, Check, check};
use crate::conversation::Conversation;
use crate::verdict::{Outcome, Stop, ensure};

pub(in crate::acp_agent) const CHECKS: &[Check<Agent>] = &[
    check!(cancelled_work_ends_as_cancelled, ANY),
    check!(cancelled_work_waits_for_no_answer, ANY),
    check!(late_answers_are_ignored, ANY),
    check!(cancelled_questions_are_withdrawn, ANY),
];

fn is_work(message: &Value) -> bool {
    let kinds = [
        "agent_message",
        "agent_message_chunk",
        "agent_thought",
        "agent_thought_chunk",
        "tool_call_update",
        "plan_update",
    ];
    kinds.iter().any(|kind| is_update(message, kind))
}

fn is_idle(message: &Value) -> bool {
    is_update(message, "state_update") && message["params"]["update"]["state"] == "idle"
}

/// Cancels work that has not ended, and drops what came before.
async fn cancel(agent: &Agent, conversation: &mut Conversation, session: &str) -> Outcome {
    let before = conversation.listen(Duration::ZERO).await?;
    let is_over = |message: &Value| is_idle(message) && message["params"]["update"]["stopReason"].is_string();
    if before.iter().any(|arrived| is_over(&arrived.message)) {
        return Err(Stop::inconclusive("the work ended before the suite cancelled it"));
    }
    agent.cancel(conversation, session).await.map_err(Stop::while_preparing)
}

async fn cancelled_work_ends_as_cancelled(agent: Agent) -> Outcome {
    agent.setting.text("slow")?;
    let (mut conversation, _, session) = agent.session().await?;
    let prompt = agent.begin_slow(&mut conversation, &session).await?;
    conversation.response(&prompt).await.map_err(Stop::while_preparing)?;
    cancel(&agent, &mut conversation, &session).await?;
    let what = "the idle state with the stop reason `cancelled` after session/cancel";
    let mut message = conversation.wanted(what, |_| true).await?;
    while !is_idle(&message) {
        message = conversation.wanted(what, |_| true).await?;
    }
    ensure!(message["params"]["update"]["stopReason"] == "cancelled", what, "`{message}`");
    let what = "no update of cancelled work after its end";
    conversation.silence(SILENCE, what, |message| !is_work(message)).await
}

/// Cancels work while it waits for a permission: the conversation and the request for permission.
async fn cancelled_question(agent: &Agent) -> Outcome<(Conversation, Value)> {
    let text = agent.setting.text("permission")?.to_owned();
    let (mut conversation, _, session) = agent.session().await?;
    let mut usual = answers::answers();
    conversation.answer_with(move |request| match request["method"].as_str() {
        Some("session/request_permission") => None,
        _ => usual(request),
    });
    agent.begin(&mut conversation, &session, &text).await?;
    let asked = conversation.call("session/request_permission").await.map_err(Stop::while_preparing)?;
    cancel(agent, &mut conversation, &session).await?;
    Ok((conversation, asked))
}

async fn cancelled_work_waits_for_no_answer(agent: Agent) -> Outcome {
    let (mut conversation, asked) = cancelled_question(&agent).await?;
    let what = "the idle state after session/cancel, without an answer to the permission request";
    match conversation.wanted(what, is_idle).await {
        Err(Stop::Failed(_)) => {}
        ended => return ended.map(drop),
    }
    // An agent that has waited for the answer ends its work now.
    conversation.reply(&asked, json!({"outcome": {"outcome": "cancelled"}})).await?;
    conversation.wanted(what, is_idle).await.map_err(Stop::while_preparing)?;
    Err(Stop::failed(what, "the idle state came after the answer"))
}

async fn late_answers_are_ignored(agent: Agent) -> Outcome {
    let (mut conversation, asked) = cancelled_question(&agent).await?;
    let ended = conversation.wanted("the end of the cancelled work", is_idle).await;
    ended.map_err(Stop::while_preparing)?;
    conversation.listen(SILENCE).await?;
    conversation.reply(&asked, answers::permitted(&asked["params"])).await?;
    let what = "no work after an answer that came too late";
    conversation.silence(SILENCE, what, |message| !is_work(message)).await
}

async fn cancelled_questions_are_withdrawn(agent: Agent) -> Outcome {
    let (mut conversation, asked) = cancelled_question(&agent).await?;
    let is_withdrawn = |message: &Value| {
        message["method"] == "$/cancel_request" && message["params"]["requestId"] == asked["id"]
    };
    conversation.wanted("$/cancel_request for the permission request", is_withdrawn).await.map(drop)
}
