//! Checks of agents: what only version 2 demands of work, its updates and its questions.

use serde_json::{Value, json};

use super::jsonrpc::SILENCE;
use super::prompt::edits;
use super::turn::{Turn, is_update, update_in};
use super::{Agent, answers};
use crate::check::{ANY, Check, ORDERED, check};
use crate::conversation::Conversation;
use crate::fault::{Fault, Incoming};
use crate::faults;
use crate::verdict::{Outcome, Stop, ensure};

pub(super) const CHECKS: &[Check<Agent>] = &[
    check!("V2-17", a_close_ends_the_work_first, ORDERED, [
        "says nothing of the end" => loses_state("idle"),
        "ends the work as if it were done" => edits("state_update", |update| { update.insert("stopReason".into(), json!("end_turn")); }),
        "goes on afterwards" => faults::says_after_response_to("session/close", |_| vec![late()]),
    ]),
    check!("V2-18", a_close_ends_each_prompt, ORDERED, [
        "fails with another code" => faults::response_to("session/prompt", |m| faults::refuse(m, -32603)),
        "leaves prompts open" => faults::loses_response_to("session/prompt"),
    ]),
    check!("V2-23", a_prompt_is_answered_before_the_work_ends, ANY, [
        "answers in the end" => faults::loses_response_to("session/prompt"),
        "answers without the id" => faults::result_of("session/prompt", |result| *result = json!({})),
    ]),
    check!("V2-24", the_message_is_reported, ANY, [
        "reports none" => loses("user_message"),
        "reports another id" => faults::result_of("session/prompt", |result| result["messageId"] = json!("another")),
    ]),
    check!("V2-25", failing_work_is_no_error, ANY, [
        "fails the prompt" => faults::response_to("session/prompt", |m| faults::refuse(m, -32603)),
        "hides the failure" => edits("state_update", |update| if update["state"] == "idle" { update.insert("stopReason".into(), json!("end_turn")); }),
    ]),
    check!("V2-28", states_are_reported, ANY, [
        "does not say that it works" => loses_state("running"),
        "does not say that it is idle" => loses_state("idle"),
    ]),
    check!("V2-29", the_end_has_a_reason, ANY, [
        "gives no reason" => edits("state_update", |update| { update.remove("stopReason"); }),
    ]),
    check!("V2-30", work_goes_on_after_a_question, ANY, [
        "does not say so" => asks_for_action(),
    ]),
    check!("V2-31", cancelled_work_ends_as_cancelled, ANY, [
        "ends as if it were done" => edits("state_update", |update| if update["state"] == "idle" { update.insert("stopReason".into(), json!("end_turn")); }),
        "fails" => faults::fails_end(),
        "goes on afterwards" => after_idle(),
    ]),
    check!("V2-32", cancelled_work_waits_for_no_answer, ANY, [
        "waits" => loses_state("idle"),
        "takes a late answer" => after_idle_with(json!({"sessionUpdate": "tool_call_update", "toolCallId": "a", "status": "completed"})),
    ]),
    check!("V2-33", cancelled_questions_are_withdrawn, ANY, [
        "leaves them open" => faults::each_call("$/cancel_request", |m| *m = Value::Null),
    ]),
    check!("V2-43", unknown_outcomes_are_no_approval, ANY, [
        "takes each outcome for one" => faults::each_call("session/update", |m| if m["params"]["update"]["status"] == "failed" {
            m["params"]["update"]["status"] = json!("completed");
        }),
    ]),
];

fn late() -> Value {
    let update = json!({"sessionUpdate": "usage_update", "used": 1, "size": 2});
    json!({"jsonrpc": "2.0", "method": "session/update", "params": {"sessionId": "s", "update": update}})
}

fn loses(kind: &'static str) -> Box<dyn Fault> {
    faults::each_call("session/update", move |m| {
        if is_update(m, kind) {
            *m = Value::Null;
        }
    })
}

fn loses_state(state: &'static str) -> Box<dyn Fault> {
    faults::each_call("session/update", move |m| {
        if m["params"]["update"]["state"] == state {
            *m = Value::Null;
        }
    })
}

/// Puts a message before or after each message that a test accepts.
fn beside(
    accept: fn(&Value) -> bool,
    is_after: bool,
    forge: impl Fn(&Value) -> Value + Send + 'static,
) -> Box<dyn Fault> {
    faults::incoming(move |incoming| {
        let Some(message) = faults::message_in(&incoming).filter(accept) else { return vec![incoming] };
        let forged = Incoming::Forged(forge(&message));
        if is_after { vec![incoming, forged] } else { vec![forged, incoming] }
    })
}

fn update_of(like: &Value, update: &Value) -> Value {
    let session = &like["params"]["sessionId"];
    json!({"jsonrpc": "2.0", "method": "session/update", "params": {"sessionId": session, "update": update}})
}

fn asks_for_action() -> Box<dyn Fault> {
    let state = json!({"sessionUpdate": "state_update", "state": "requires_action"});
    beside(
        |message| message["method"] == "session/request_permission",
        false,
        move |like| update_of(like, &state),
    )
}

fn after_idle_with(update: Value) -> Box<dyn Fault> {
    beside(
        |message| message["params"]["update"]["state"] == "idle",
        true,
        move |like| update_of(like, &update),
    )
}

fn after_idle() -> Box<dyn Fault> {
    after_idle_with(
        json!({"sessionUpdate": "agent_message_chunk", "messageId": "m", "content": {"type": "text", "text": "late"}}),
    )
}

/// The states of a session in order.
fn states(turn: &Turn) -> Vec<&str> {
    turn.of_kind("state_update").filter_map(|update| update["state"].as_str()).collect()
}

async fn a_close_ends_the_work_first(agent: Agent) -> Outcome {
    agent.setting.text("slow")?;
    let (mut conversation, _, session) = agent.session().await?;
    let prompt = agent.begin_slow(&mut conversation, &session).await?;
    conversation.response(&prompt).await.map_err(Stop::while_preparing)?;
    let close = conversation.start("session/close", json!({"sessionId": session})).await?;
    let mut cancelled = false;
    loop {
        let message = conversation.wanted("a response to session/close", |_| true).await?;
        if message.get("id") == Some(&close) && message.get("method").is_none() {
            ensure!(message.get("result").is_some(), "a result of session/close", "`{message}`");
            break;
        }
        let update = update_in(&message);
        cancelled |=
            update.is_some_and(|update| update["state"] == "idle" && update["stopReason"] == "cancelled");
    }
    ensure!(cancelled, "the idle state with `cancelled` before the response to session/close", "none");
    let what = "nothing for a session after the response to session/close";
    conversation.silence(SILENCE, what, |message| message.pointer("/params/sessionId").is_none()).await
}

async fn a_close_ends_each_prompt(agent: Agent) -> Outcome {
    let text = agent.setting.text("say")?.to_owned();
    let slow = agent.setting.text("slow")?.to_owned();
    let (mut conversation, _, session) = agent.session().await?;
    let first = agent.begin(&mut conversation, &session, &slow).await?;
    let second = agent.begin(&mut conversation, &session, &text).await?;
    conversation.request("session/close", json!({"sessionId": session})).await?;
    for id in [first, second] {
        let response = conversation.response(&id).await?;
        let is_sound = response.get("result").is_some() || response["error"]["code"] == -32800;
        ensure!(is_sound, "a result, or -32800 if the message was not inserted", "`{response}`");
    }
    Ok(())
}

async fn a_prompt_is_answered_before_the_work_ends(agent: Agent) -> Outcome {
    let text = agent.setting.text("slow")?.to_owned();
    let (mut conversation, _, session) = agent.session().await?;
    let id = agent.begin(&mut conversation, &session, &text).await?;
    let response = conversation.response(&id).await?;
    let is_named = response.pointer("/result/messageId").is_some_and(Value::is_string);
    ensure!(is_named, "the id of the message while the work goes on", "`{response}`");
    let over = conversation
        .queued()
        .filter_map(update_in)
        .any(|update| update["state"] == "idle" && update["stopReason"].is_string());
    ensure!(!over, "the response before the end of the work", "the idle state came before");
    agent.cancel(&mut conversation, &session).await
}

async fn the_message_is_reported(agent: Agent) -> Outcome {
    let (_, _, turn) = agent.played("say").await?;
    let id = &turn.response["result"]["messageId"];
    let kinds = ["user_message", "user_message_chunk"];
    let reported = turn.updates().filter(|update| kinds.iter().any(|kind| update["sessionUpdate"] == *kind));
    let is_there = reported.into_iter().any(|update| update["messageId"] == *id);
    ensure!(
        is_there,
        format!("an update with the user's message {id}"),
        "none in {} updates",
        turn.updates().count()
    );
    Ok(())
}

async fn failing_work_is_no_error(agent: Agent) -> Outcome {
    let text = agent.setting.text("fail")?.to_owned();
    let (mut conversation, _, session) = agent.session().await?;
    let turn = agent.turn(&mut conversation, &session, &text).await?;
    let what = "a result of a prompt whose work fails";
    ensure!(turn.response.get("result").is_some(), what, "`{}`", turn.response);
    ensure!(turn.stop.as_deref() == Some("error"), "the stop reason `error`", "{:?}", turn.stop);
    Ok(())
}

async fn states_are_reported(agent: Agent) -> Outcome {
    let text = agent.setting.text("say")?.to_owned();
    let (mut conversation, _, session) = agent.session().await?;
    let turn = agent.turn(&mut conversation, &session, &text).await?;
    let states = states(&turn);
    let works = states.iter().position(|state| ["running", "requires_action"].contains(state));
    ensure!(works.is_some(), "the state `running` when work starts", "the states {states:?}");
    let ends = states.iter().rposition(|state| *state == "idle");
    ensure!(ends > works, "the state `idle` when work ends", "the states {states:?}");
    Ok(())
}

async fn the_end_has_a_reason(agent: Agent) -> Outcome {
    let (_, _, turn) = agent.played("say").await?;
    let stop = turn.stop.unwrap_or_default();
    ensure!(!stop.is_empty(), "a stop reason in the idle state that ends work", "none");
    Ok(())
}

async fn work_goes_on_after_a_question(agent: Agent) -> Outcome {
    let (_, _, turn) = agent.played("permission").await?;
    let mut waits = false;
    for update in turn.updates() {
        match update["state"].as_str() {
            Some(state) => waits = state == "requires_action",
            None => {
                let works = ["in_progress", "completed"].iter().any(|status| update["status"] == *status);
                let what = "the state `running` before work goes on after `requires_action`";
                ensure!(!waits || !works, what, "`{update}`");
            }
        }
    }
    Ok(())
}

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

async fn cancelled_work_ends_as_cancelled(agent: Agent) -> Outcome {
    agent.setting.text("slow")?;
    let (mut conversation, _, session) = agent.session().await?;
    let prompt = agent.begin_slow(&mut conversation, &session).await?;
    agent.cancel(&mut conversation, &session).await?;
    let turn = agent.finish(&mut conversation, &session, &prompt).await?;
    ensure!(turn.stop.as_deref() == Some("cancelled"), "the stop reason `cancelled`", "{:?}", turn.stop);
    let what = "no update of cancelled work after its end";
    conversation.silence(SILENCE, what, |message| !is_work(message)).await
}

/// Cancels work while it waits for a permission: the conversation, the session and the request for permission, and the turn.
async fn cancelled_question(agent: &Agent) -> Outcome<(Conversation, Value, Turn)> {
    let text = agent.setting.text("permission")?.to_owned();
    let (mut conversation, _, session) = agent.session().await?;
    let mut usual = answers::answers();
    conversation.answer_with(move |request| match request["method"].as_str() {
        Some("session/request_permission") => None,
        _ => usual(request),
    });
    let prompt = agent.begin(&mut conversation, &session, &text).await?;
    let asked = conversation.call("session/request_permission").await.map_err(Stop::while_preparing)?;
    agent.cancel(&mut conversation, &session).await?;
    let turn = agent.finish(&mut conversation, &session, &prompt).await?;
    Ok((conversation, asked, turn))
}

async fn cancelled_work_waits_for_no_answer(agent: Agent) -> Outcome {
    let (mut conversation, asked, turn) = cancelled_question(&agent).await?;
    ensure!(turn.stop.as_deref() == Some("cancelled"), "the stop reason `cancelled`", "{:?}", turn.stop);
    let option = &asked["params"]["options"][0]["optionId"];
    conversation.reply(&asked, json!({"outcome": {"outcome": "selected", "optionId": option}})).await?;
    let what = "no work after an answer that came too late";
    conversation.silence(SILENCE, what, |message| !is_work(message)).await
}

async fn cancelled_questions_are_withdrawn(agent: Agent) -> Outcome {
    let (mut conversation, asked, turn) = cancelled_question(&agent).await?;
    let is_withdrawn = |message: &Value| {
        message["method"] == "$/cancel_request" && message["params"]["requestId"] == asked["id"]
    };
    if turn.messages.iter().any(is_withdrawn) {
        return Ok(());
    }
    conversation.wanted("$/cancel_request for the permission request", is_withdrawn).await?;
    Ok(())
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
        let turn = agent.turn(&mut conversation, &session, &text).await?;
        let done = turn.updates().find(|update| update["status"] == "completed");
        let what = format!("a tool call that is not done after the outcome `{outcome}`");
        ensure!(done.is_none(), what, "`{}`", json!(done));
    }
    Ok(())
}
