//! Checks of agents: cancellation, and prompts beside each other.

use serde_json::{Value, json};

use crate::acp_agent::Agent;
use crate::acp_agent::connection::jsonrpc::{SILENCE, works};
use crate::acp_agent::turn::{Turn, is_update};
use crate::check::{ANY, Check, ORDERED, check};
use crate::requirements::revision::Revision;
use crate::verdict::{Outcome, Stop, ensure};

pub(in crate::acp_agent) const CHECKS: &[Check<Agent>] = &[
    check!(a_cancelled_prompt_ends_as_cancelled, ANY),
    check!(a_cancelled_prompt_does_not_fail, ANY),
    check!(no_update_follows_the_response, ORDERED),
    check!(cancelling_nothing_is_silent, ORDERED),
    check!(a_cancellation_right_behind_the_prompt_counts, ORDERED),
    check!(a_prompt_delays_no_other, ANY),
    check!(a_second_prompt_is_answered, ANY),
    check!(a_cancelled_request_is_answered, ANY),
    check!(unknown_cancellations_are_ignored, ANY),
];

/// A slow prompt that was cancelled: its response.
async fn cancelled(agent: &Agent) -> Outcome<Value> {
    agent.setting.text("slow")?;
    let (mut conversation, _, session) = agent.session().await?;
    let prompt = agent.begin_slow(&mut conversation, &session).await?;
    agent.cancel(&mut conversation, &session).await?;
    Ok(agent.finish(&mut conversation, &session, &prompt).await?.response)
}

async fn a_cancelled_prompt_ends_as_cancelled(agent: Agent) -> Outcome {
    let response = cancelled(&agent).await?;
    if response.get("error").is_some() {
        return Err(Stop::inconclusive(format!("an error, which is a matter of PR-11: `{response}`")));
    }
    let is_cancelled = response.pointer("/result/stopReason") == Some(&json!("cancelled"));
    ensure!(is_cancelled, "the stop reason `cancelled` after session/cancel", "`{response}`");
    Ok(())
}

async fn a_cancelled_prompt_does_not_fail(agent: Agent) -> Outcome {
    let response = cancelled(&agent).await.map_err(Stop::while_preparing)?;
    ensure!(response.get("error").is_none(), "a result of a cancelled prompt", "`{response}`");
    Ok(())
}

async fn no_update_follows_the_response(agent: Agent) -> Outcome {
    agent.setting.text("slow")?;
    let (mut conversation, _, session) = agent.session().await?;
    let prompt = agent.begin_slow(&mut conversation, &session).await?;
    agent.cancel(&mut conversation, &session).await?;
    agent.finish(&mut conversation, &session, &prompt).await.map_err(Stop::while_preparing)?;
    let is_work = |message: &Value| {
        ["agent_message_chunk", "agent_thought_chunk", "tool_call", "tool_call_update"]
            .iter()
            .any(|kind| is_update(message, kind))
    };
    let what = "no content and no tool call update of a cancelled prompt after its response";
    conversation.silence(SILENCE, what, |message| !is_work(message)).await
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
    let is_cancelled =
        |turn: &Turn| turn.stop.as_deref() == Some("cancelled") || turn.response["error"]["code"] == -32800;
    let first = agent.begin_slow(&mut conversation, &session).await?;
    agent.cancel(&mut conversation, &session).await?;
    let first = agent.finish(&mut conversation, &session, &first).await.map_err(Stop::while_preparing)?;
    if !is_cancelled(&first) {
        return Err(Stop::inconclusive("the agent does not cancel a prompt that it works on"));
    }
    let prompt = agent.begin(&mut conversation, &session, &text).await?;
    agent.cancel(&mut conversation, &session).await?;
    let turn = agent.finish(&mut conversation, &session, &prompt).await?;
    ensure!(
        is_cancelled(&turn),
        "a prompt that was cancelled at once ends as cancelled",
        "`{}`",
        turn.response
    );
    Ok(())
}

async fn a_prompt_delays_no_other(agent: Agent) -> Outcome {
    let text = agent.setting.text("say")?.to_owned();
    agent.setting.text("slow")?;
    let (mut conversation, _, slow) = agent.session().await?;
    let other = agent.new_session(&mut conversation).await?;
    agent.play(&mut conversation, &other, "say").await?;
    let first = agent.begin_slow(&mut conversation, &slow).await?;
    let second = agent.begin(&mut conversation, &other, &text).await?;
    let what = "a prompt of another session makes progress while one runs";
    let is_work = |message: &Value| {
        let kinds =
            ["agent_message_chunk", "agent_message", "agent_thought_chunk", "tool_call", "state_update"];
        message["params"]["sessionId"] == *other && kinds.iter().any(|kind| is_update(message, kind))
    };
    let is_response =
        |message: &Value, id: &Value| message.get("method").is_none() && message.get("id") == Some(id);
    // In version 2 the response to the slow prompt does not end the turn.
    let is_end = |message: &Value| agent.revision() == Revision::Acp1 && is_response(message, &first);
    let is_first = |message: &Value| is_work(message) || is_response(message, &second) || is_end(message);
    let seen = conversation.wanted(what, is_first).await?;
    ensure!(!is_end(&seen), what, "the slow prompt ended first: `{seen}`");
    agent.cancel(&mut conversation, &slow).await
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
    // Each message that comes shows that the agent still works.
    while !is_answer(&conversation.wanted("a response to a second prompt of a busy session", |_| true).await?)
    {
    }
    Ok(())
}

async fn a_cancelled_request_is_answered(agent: Agent) -> Outcome {
    agent.setting.text("slow")?;
    let (mut conversation, _, session) = agent.session().await?;
    let prompt = agent.begin_slow(&mut conversation, &session).await?;
    conversation.notify("$/cancel_request", json!({"requestId": prompt})).await?;
    let is_answer = |message: &Value| message.get("id") == Some(&prompt) && message.get("method").is_none();
    let messages = conversation.listen(SILENCE).await?.into_iter().map(|arrived| arrived.message);
    let Some(response) = messages.into_iter().find(is_answer) else {
        agent.cancel(&mut conversation, &session).await?;
        return Err(Stop::not_applicable("the agent does not support `$/cancel_request`, which is optional"));
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
