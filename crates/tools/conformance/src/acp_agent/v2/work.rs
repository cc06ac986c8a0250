//! Checks of agents: what only version 2 demands of work, its updates and its questions.

use serde_json::{Value, json};

use crate::acp_agent::Agent;
use crate::acp_agent::answers;
use crate::acp_agent::connection::jsonrpc::SILENCE;
use crate::acp_agent::turn::{Turn, is_update, update_in};
use crate::check::{ANY, Check, check};
use crate::conversation::Conversation;
use crate::verdict::{Outcome, Stop, ensure};

pub(in crate::acp_agent) const CHECKS: &[Check<Agent>] = &[
    check!(a_prompt_is_answered_before_the_work_ends, ANY),
    check!(the_message_is_reported, ANY),
    check!(failing_work_is_no_error, ANY),
    check!(failing_work_ends_with_an_error, ANY),
    check!(states_are_reported, ANY),
    check!(the_end_has_a_reason, ANY),
    check!(work_goes_on_after_a_question, ANY),
    check!(unknown_outcomes_are_no_approval, ANY),
];

async fn a_prompt_is_answered_before_the_work_ends(agent: Agent) -> Outcome {
    let (mut conversation, _, session) = agent.session().await?;
    let id = agent.begin_slow(&mut conversation, &session).await?;
    let response = conversation.response(&id).await?;
    let is_named = response.pointer("/result/messageId").is_some_and(Value::is_string);
    ensure!(is_named, "the id of the message while the work goes on", "`{response}`");
    let over = conversation
        .queued()
        .filter_map(update_in)
        .any(|update| update["state"] == "idle" && update["stopReason"].is_string());
    ensure!(!over, "the response before the end of the work", "the idle state came before");
    agent.cancel(&mut conversation, &session).await.map_err(Stop::while_preparing)
}

/// Whether a message reports a user message.
fn is_user_message(message: &Value) -> bool {
    is_update(message, "user_message") || is_update(message, "user_message_chunk")
}

async fn the_message_is_reported(agent: Agent) -> Outcome {
    let (mut conversation, _, turn) = agent.played("say").await?;
    let id = &turn.response["result"]["messageId"];
    if !id.is_string() {
        return Err(Stop::inconclusive(format!("the response to the prompt has no id: `{}`", turn.response)));
    }
    let is_reported = |message: &Value| {
        is_user_message(message) && update_in(message).is_some_and(|update| update["messageId"] == *id)
    };
    if turn.messages.iter().any(is_reported) {
        return Ok(());
    }
    conversation.wanted(&format!("an update with the user's message {id}"), is_reported).await.map(drop)
}

/// A prompt whose work fails, and has ended.
async fn failed(agent: &Agent) -> Outcome<(Conversation, Turn)> {
    let text = agent.setting.text("fail")?.to_owned();
    let (mut conversation, _, session) = agent.session().await?;
    let turn = agent.turn(&mut conversation, &session, &text).await.map_err(Stop::while_preparing)?;
    Ok((conversation, turn))
}

async fn failing_work_is_no_error(agent: Agent) -> Outcome {
    let (mut conversation, turn) = failed(&agent).await?;
    if turn.response.get("result").is_some() {
        return Ok(());
    }
    // The agent may refuse a prompt as long as the message is not inserted.
    let later = conversation.listen(SILENCE).await?;
    let mut messages = turn.messages.iter().chain(later.iter().map(|arrived| &arrived.message));
    let what = "a result of a prompt whose user message was reported";
    ensure!(!messages.any(is_user_message), what, "`{}`", turn.response);
    Err(Stop::not_applicable("the agent refuses the prompt `fail` before its work begins"))
}

async fn failing_work_ends_with_an_error(agent: Agent) -> Outcome {
    let (_, turn) = failed(&agent).await?;
    if turn.response.get("result").is_none() {
        return Err(Stop::not_applicable("the agent refuses the prompt `fail`"));
    }
    ensure!(turn.stop.as_deref() == Some("error"), "the stop reason `error`", "{:?}", turn.stop);
    Ok(())
}

async fn states_are_reported(agent: Agent) -> Outcome {
    let text = agent.setting.text("say")?.to_owned();
    let (mut conversation, _, session) = agent.session().await?;
    // A new session may report that it is idle.
    conversation.listen(SILENCE).await?;
    let prompt = agent.begin(&mut conversation, &session, &text).await?;
    let state =
        |message: &Value| update_in(message).and_then(|update| update["state"].as_str()).map(str::to_owned);
    let works = |message: &Value| {
        state(message).is_some_and(|state| ["running", "requires_action"].contains(&state.as_str()))
    };
    let is_over = |message: &Value| update_in(message).is_some_and(|update| update["stopReason"].is_string());
    let is_refused = |message: &Value| message.get("id") == Some(&prompt) && message.get("error").is_some();
    let what = "the state `running` when work starts";
    let first = conversation
        .wanted(what, |message| works(message) || is_over(message) || is_refused(message))
        .await?;
    if is_refused(&first) {
        return Err(Stop::inconclusive(format!("the prompt `say` was answered with `{first}`")));
    }
    ensure!(works(&first), what, "`{first}`");
    // Work may take long, and each of its messages has its own time.
    let mut message = first;
    while state(&message).is_none_or(|state| state != "idle") {
        message = conversation.wanted("the state `idle` when work ends", |_| true).await?;
    }
    Ok(())
}

async fn the_end_has_a_reason(agent: Agent) -> Outcome {
    let (_, _, turn) = agent.played("say").await?;
    let stop = turn.stop.unwrap_or_default();
    ensure!(!stop.is_empty(), "a stop reason in the idle state that ends work", "none");
    Ok(())
}

/// The tool calls for which the agent asked for permission, if it named any.
fn permitted_calls(asked: &[Value]) -> Vec<Value> {
    let asked = asked.iter().filter(|request| request["method"] == "session/request_permission");
    let subjects = asked.filter_map(|request| request.pointer("/params/subject"));
    subjects
        .filter_map(|subject| subject.pointer("/toolCall/toolCallId").or(subject.get("toolCallId")))
        .cloned()
        .collect()
}

/// The updates with one of the statuses, of some tool calls or, without any, of all.
fn has_status(update: &Value, statuses: &[&str], calls: &[Value]) -> bool {
    let is_of = calls.is_empty() || calls.contains(&update["toolCallId"]);
    is_of && statuses.iter().any(|status| update["status"] == **status)
}

async fn work_goes_on_after_a_question(agent: Agent) -> Outcome {
    let (conversation, _, turn) = agent.played("permission").await?;
    let calls = permitted_calls(&conversation.asked);
    let (mut found, mut waits) = (false, false);
    for update in turn.updates() {
        if let Some(state) = update["state"].as_str() {
            waits = state == "requires_action";
            found |= waits;
        }
        let works = has_status(update, &["in_progress", "completed"], &calls);
        ensure!(
            !waits || !works,
            "the state `running` before work goes on after `requires_action`",
            "`{update}`"
        );
    }
    if found { Ok(()) } else { Err(Stop::not_applicable("the agent never reported `requires_action`")) }
}

async fn unknown_outcomes_are_no_approval(agent: Agent) -> Outcome {
    let text = agent.setting.text("permission")?.to_owned();
    for outcome in [
        json!({"outcome": "_conformance", "optionId": "yes"}),
        json!({"outcome": "selected", "optionId": "conformance-not-offered"}),
    ] {
        let (mut conversation, _, session) = agent.session().await?;
        let mut usual = answers::answers();
        let answer = json!({"outcome": outcome});
        conversation.answer_with(move |request| match request["method"].as_str() {
            Some("session/request_permission") => Some(Ok(answer.clone())),
            _ => usual(request),
        });
        let turn = agent.turn(&mut conversation, &session, &text).await.map_err(Stop::while_preparing)?;
        let calls = permitted_calls(&conversation.asked);
        let done = turn.updates().find(|update| has_status(update, &["completed"], &calls));
        let what = format!("a tool call that does not complete after the outcome `{outcome}`");
        ensure!(done.is_none(), what, "`{}`", json!(done));
    }
    Ok(())
}
