//! Checks of agents: cancellation, and prompts beside each other.

use std::time::Duration;

use serde_json::{Value, json};

use super::Agent;
use super::jsonrpc::{SILENCE, works};
use super::turn::is_update;
use crate::check::{ANY, Check, ORDERED, check};
use crate::faults;
use crate::revision::Revision;
use crate::verdict::{Outcome, ensure};

pub(super) const CHECKS: &[Check<Agent>] = &[
    check!("PR-10", a_cancelled_prompt_ends_as_cancelled, ANY, [
        "ends as if it were done" => faults::result_of("session/prompt", |result| result["stopReason"] = json!("end_turn")),
        "ignores it" => faults::ignores("session/cancel"),
    ]),
    check!("PR-11", a_cancelled_prompt_does_not_fail, ANY, [
        "fails" => faults::response_to("session/prompt", |m| faults::refuse(m, -32800)),
    ]),
    check!("PR-12", no_update_follows_the_response, ANY, [
        "goes on" => faults::says_after_response_to("session/prompt", |_| vec![json!({
            "jsonrpc": "2.0", "method": "session/update",
            "params": {"sessionId": "s", "update": {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "late"}}},
        })]),
    ]),
    check!("PR-13", a_cancellation_is_prompt, ANY, ["ignores it" => faults::ignores("session/cancel")]),
    check!("PR-17", cancelling_nothing_is_silent, ORDERED, [
        "fails" => faults::says_at("session/cancel", |_| vec![json!({"jsonrpc": "2.0", "id": null, "error": {"code": -32002, "message": "no"}})]),
        "breaks down" => faults::nth_response_to("session/new", 2, |m| *m = Value::Null),
    ]),
    check!("PR-18", a_cancellation_right_behind_the_prompt_counts, ANY, [
        "loses it" => faults::ignores("session/cancel"),
    ]),
    check!("PR-19", a_prompt_delays_no_other, ANY, [
        "works on one thing at a time" => delays(),
    ]),
    check!("PR-20", a_second_prompt_is_answered, ANY, [
        "leaves it open" => loses_second_prompt(),
    ]),
    check!("PR-21", a_cancelled_request_is_answered, ANY, [
        "leaves it open" => faults::loses_response_to("session/prompt"),
        "answers another code" => faults::response_to("session/prompt", |m| faults::refuse(m, -32603)),
    ]),
    check!("PR-23", unknown_cancellations_are_ignored, ANY, [
        "answers" => faults::says_at("$/cancel_request", |_| vec![json!({"jsonrpc": "2.0", "id": null, "error": {"code": -32602, "message": "no"}})]),
        "breaks down" => faults::loses_response_to("session/new"),
    ]),
];
/// Loses the response to the second prompt, whenever it comes.
fn loses_second_prompt() -> Box<dyn crate::fault::Fault> {
    struct Loses(Vec<Value>);
    impl crate::fault::Fault for Loses {
        fn outgoing(&mut self, message: &Value, _: &mut Vec<Value>) -> bool {
            if message["method"] == "session/prompt" {
                self.0.push(message["id"].clone());
                return self.0.len() == 2;
            }
            false
        }
    }
    Box::new(Loses(Vec::new()))
}

/// Loses what belongs to the second session.
fn delays() -> Box<dyn crate::fault::Fault> {
    let mut sessions: Vec<Value> = Vec::new();
    let mut works = false;
    faults::each_message(move |m| {
        if m["result"]["sessionId"].is_string() {
            sessions.push(m["result"]["sessionId"].clone());
        }
        works |= sessions.len() == 2 && m["method"] == "session/update";
        if works && m.get("method").is_none() {
            *m = Value::Null;
        }
    })
}

/// A slow prompt that was cancelled: its response.
async fn cancelled(agent: &Agent) -> Outcome<Value> {
    agent.setting.text("slow")?;
    let (mut conversation, _, session) = agent.session().await?;
    let prompt = agent.begin_slow(&mut conversation, &session).await?;
    agent.cancel(&mut conversation, &session).await?;
    conversation.response(&prompt).await
}

async fn a_cancelled_prompt_ends_as_cancelled(agent: Agent) -> Outcome {
    let response = cancelled(&agent).await?;
    let is_cancelled = response.pointer("/result/stopReason") == Some(&json!("cancelled"));
    ensure!(is_cancelled, "the stop reason `cancelled` after session/cancel", "`{response}`");
    Ok(())
}

async fn a_cancelled_prompt_does_not_fail(agent: Agent) -> Outcome {
    let response = cancelled(&agent).await?;
    ensure!(response.get("error").is_none(), "a result of a cancelled prompt", "`{response}`");
    Ok(())
}

async fn no_update_follows_the_response(agent: Agent) -> Outcome {
    let (mut conversation, session, _) = agent.played("say").await?;
    let what = "no update of a prompt after its response";
    let is_work = |message: &Value| {
        ["agent_message_chunk", "agent_thought_chunk", "tool_call", "tool_call_update", "plan"]
            .iter()
            .any(|kind| is_update(message, kind))
    };
    conversation.silence(SILENCE, what, |message| !is_work(message)).await?;
    if agent.setting.text("slow").is_ok() {
        let prompt = agent.begin_slow(&mut conversation, &session).await?;
        agent.cancel(&mut conversation, &session).await?;
        agent.finish(&mut conversation, &session, &prompt).await?;
        conversation.silence(SILENCE, what, |message| !is_work(message)).await?;
    }
    Ok(())
}

async fn a_cancellation_is_prompt(agent: Agent) -> Outcome {
    agent.setting.text("slow")?;
    let (mut conversation, _, session) = agent.session().await?;
    let prompt = agent.begin_slow(&mut conversation, &session).await?;
    let begun = tokio::time::Instant::now();
    agent.cancel(&mut conversation, &session).await?;
    agent.finish(&mut conversation, &session, &prompt).await?;
    let time = begun.elapsed();
    ensure!(time < Duration::from_secs(5), "the end of cancelled work within 5 s", "{} ms", time.as_millis());
    Ok(())
}

async fn cancelling_nothing_is_silent(agent: Agent) -> Outcome {
    let (mut conversation, _, session) = agent.session().await?;
    agent.cancel(&mut conversation, &session).await?;
    agent.cancel(&mut conversation, "conformance-unknown").await?;
    let what = "no response to session/cancel";
    conversation.silence(SILENCE, what, |message| message.get("method").is_some()).await?;
    let response = conversation.request("session/new", agent.session_params()).await?;
    ensure!(response.get("result").is_some(), "a session afterwards", "`{response}`");
    Ok(())
}

async fn a_cancellation_right_behind_the_prompt_counts(agent: Agent) -> Outcome {
    let text = agent.setting.text("slow")?.to_owned();
    let (mut conversation, _, session) = agent.session().await?;
    let prompt = agent.begin(&mut conversation, &session, &text).await?;
    agent.cancel(&mut conversation, &session).await?;
    let turn = agent.finish(&mut conversation, &session, &prompt).await?;
    let is_cancelled = turn.stop.as_deref() == Some("cancelled") || turn.response["error"]["code"] == -32800;
    ensure!(is_cancelled, "a prompt that was cancelled at once ends as cancelled", "`{}`", turn.response);
    Ok(())
}

async fn a_prompt_delays_no_other(agent: Agent) -> Outcome {
    let text = agent.setting.text("say")?.to_owned();
    agent.setting.text("slow")?;
    let (mut conversation, _, slow) = agent.session().await?;
    let other = agent.new_session(&mut conversation).await?;
    let prompt = agent.begin_slow(&mut conversation, &slow).await?;
    let id = agent.begin(&mut conversation, &other, &text).await?;
    let what = "the response to a prompt of another session while one runs";
    let is_first = |message: &Value| {
        message.get("method").is_none()
            && (message.get("id") == Some(&id) || message.get("id") == Some(&prompt))
    };
    loop {
        let first = conversation.wanted(what, is_first).await?;
        if first.get("id") == Some(&id) {
            break;
        }
        // In version 2 the response to the slow prompt is no end.
        ensure!(agent.revision() == Revision::Acp2, what, "the slow prompt ended first: `{first}`");
    }
    agent.cancel(&mut conversation, &slow).await?;
    Ok(())
}

async fn a_second_prompt_is_answered(agent: Agent) -> Outcome {
    let text = agent.setting.text("say")?.to_owned();
    agent.setting.text("slow")?;
    let (mut conversation, _, session) = agent.session().await?;
    agent.begin_slow(&mut conversation, &session).await?;
    let second = agent.begin(&mut conversation, &session, &text).await?;
    // It may wait for the end of the first.
    let is_answer = |message: &Value| message.get("id") == Some(&second) && message.get("method").is_none();
    let early = conversation.listen(SILENCE).await?;
    if early.iter().any(|arrived| is_answer(&arrived.message)) {
        return Ok(());
    }
    agent.cancel(&mut conversation, &session).await?;
    conversation.wanted("a response to a second prompt of a busy session", is_answer).await?;
    Ok(())
}

async fn a_cancelled_request_is_answered(agent: Agent) -> Outcome {
    let text = agent.setting.text("slow")?.to_owned();
    let (mut conversation, _, session) = agent.session().await?;
    let prompt = agent.begin(&mut conversation, &session, &text).await?;
    conversation.notify("$/cancel_request", json!({"requestId": prompt})).await?;
    let is_answer = |message: &Value| message.get("id") == Some(&prompt) && message.get("method").is_none();
    let early =
        conversation.listen(SILENCE).await?.into_iter().map(|arrived| arrived.message).find(is_answer);
    let response = match early {
        Some(response) => response,
        None => {
            // An agent may ignore the request's cancellation. The prompt then ends with this one.
            agent.cancel(&mut conversation, &session).await?;
            conversation.response(&prompt).await?
        }
    };
    let is_sound = response.get("result").is_some() || response["error"]["code"] == -32800;
    ensure!(is_sound, "a result or the error -32800 of a request that was cancelled", "`{response}`");
    Ok(())
}

async fn unknown_cancellations_are_ignored(agent: Agent) -> Outcome {
    let (mut conversation, _) = agent.open().await?;
    for id in [json!("conformance-unknown"), json!(1001), json!(-1)] {
        conversation.notify("$/cancel_request", json!({"requestId": id})).await?;
    }
    conversation.notify("$/conformance", json!({})).await?;
    let what = "no response to notifications that begin with `$/`";
    conversation.silence(SILENCE, what, |message| message.get("method").is_some()).await?;
    works(&agent, &mut conversation).await
}
