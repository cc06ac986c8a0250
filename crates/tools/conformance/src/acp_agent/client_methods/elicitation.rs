//! Checks of agents: elicitation.

use serde_json::{Value, json};

use crate::acp_agent::answers;
use crate::acp_agent::connection::initialization::plays_without;
use crate::acp_agent::turn::Turn;
use crate::acp_agent::{Agent, capabilities};
use crate::check::{ANY, Check, ORDERED, audit, check};
use crate::conversation::Conversation;
use crate::trace::{Sender, Trace};
use crate::verdict::{Outcome, Stop, ensure};

pub(in crate::acp_agent) const CHECKS: &[Check<Agent>] = &[
    check!(modes_need_their_capability, ANY),
    audit!(each_request_names_its_mode, ANY),
    audit!(each_request_has_one_scope, ANY),
    check!(each_answer_lets_work_end, ANY),
    check!(null_is_no_content, ANY),
    audit!(ids_of_visits_are_unique, ORDERED),
    check!(completions_repeat_the_id, ORDERED),
    audit!(urls_hold_no_credentials, ANY),
    check!(work_ends_without_forms, ANY),
    check!(an_unknown_action_is_no_known_one, ANY),
];

async fn modes_need_their_capability(agent: Agent) -> Outcome {
    let all = capabilities(agent.revision());
    for (form, url) in [(false, false), (true, false), (false, true)] {
        let mut modes = json!({});
        for (name, offered) in [("form", form), ("url", url)] {
            if offered {
                modes[name] = json!({});
            }
        }
        let mut set = all.clone();
        set["elicitation"] = modes;
        plays_without(&agent, set, &["ask", "visit"], |message| {
            let mode = &message["params"]["mode"];
            // EL-03 is about a request without a mode.
            let is_unnamed = mode.is_null() && (form || url);
            let is_offered = form && mode == "form" || url && mode == "url" || is_unnamed;
            message["method"] == "elicitation/create" && !is_offered
        })
        .await?;
    }
    Ok(())
}

fn requests(trace: &Trace) -> Outcome<Vec<Value>> {
    let messages = trace.messages(Sender::Subject).into_iter();
    let found: Vec<_> = messages.filter(|message| message["method"] == "elicitation/create").collect();
    if found.is_empty() { Err(Stop::not_applicable("the agent asked for no input")) } else { Ok(found) }
}

fn each_request_names_its_mode(_: &Agent, trace: &Trace) -> Outcome {
    for request in requests(trace)? {
        ensure!(request["params"]["mode"].is_string(), "a mode in each elicitation", "`{request}`");
    }
    Ok(())
}

fn each_request_has_one_scope(_: &Agent, trace: &Trace) -> Outcome {
    for request in requests(trace)? {
        let has = |name: &str| request["params"].get(name).is_some_and(|value| !value.is_null());
        let is_one = has("sessionId") != has("requestId");
        ensure!(is_one, "either a session or a request in each elicitation", "`{request}`");
        let is_sound = has("sessionId") || !has("toolCallId");
        ensure!(is_sound, "a session for the tool call of an elicitation", "`{request}`");
    }
    Ok(())
}

/// The values that the suite enters into a form.
pub(crate) const ENTERED: &str = "conformance-3f1c";

/// Values for a form: a text for each field that takes one.
pub(in crate::acp_agent) fn values(schema: &Value) -> Value {
    let mut values = json!({});
    for (name, field) in schema["properties"].as_object().into_iter().flatten() {
        let first = |list: &Value| list.as_array().and_then(|list| list.first()).cloned();
        values[name] = match field["type"].as_str() {
            Some("boolean") => json!(true),
            Some("integer" | "number") => field.get("minimum").cloned().unwrap_or(json!(1)),
            Some("array") => json!([]),
            _ => first(&field["enum"])
                .or_else(|| first(&field["oneOf"]).map(|option| option["const"].clone()))
                .unwrap_or(json!(ENTERED)),
        };
    }
    values
}

/// Plays the role `ask` with an answer that is made of the form's values.
pub(in crate::acp_agent) async fn asked(
    agent: &Agent,
    answer: impl Fn(Value) -> Result<Value, Value> + Send + 'static,
) -> Outcome<(Conversation, Turn)> {
    answers_with(agent, answer).await.map_err(Stop::while_preparing)
}

/// The same for a check that the prompt ends.
async fn answers_with(
    agent: &Agent,
    mut answer: impl FnMut(Value) -> Result<Value, Value> + Send + 'static,
) -> Outcome<(Conversation, Turn)> {
    let text = agent.setting.text("ask")?.to_owned();
    let (mut conversation, _, session) = agent.session().await?;
    let mut usual = answers::answers();
    conversation.answer_with(move |request| match request["method"].as_str() {
        Some("elicitation/create") => Some(answer(values(&request["params"]["requestedSchema"]))),
        _ => usual(request),
    });
    let turn = agent.turn(&mut conversation, &session, &text).await?;
    if !conversation.asked.iter().any(|request| request["method"] == "elicitation/create") {
        return Err(Stop::inconclusive("the prompt `ask` led to no elicitation"));
    }
    Ok((conversation, turn))
}

/// Work has to end as if nothing had happened.
fn ended(turn: &Turn, why: &str) -> Outcome {
    let is_normal = turn.stop.as_deref().is_some_and(|stop| stop != "error" && stop != "cancelled");
    let what = format!("a normal end of the work after {why}");
    ensure!(is_normal, what, "the stop reason {:?} and the response `{}`", turn.stop, turn.response);
    Ok(())
}

/// An agent may fall back, try again or fail the prompt, but not just wait.
async fn each_answer_lets_work_end(agent: Agent) -> Outcome {
    let accept = |values| Ok(json!({"action": "accept", "content": values}));
    asked(&agent, accept).await?;
    let error = json!({"code": -32603, "message": "no user is here"});
    for answer in [Ok(json!({"action": "decline"})), Ok(json!({"action": "cancel"})), Err(error)] {
        // An agent may ask again until it has what it needs.
        let mut answer = Some(answer);
        answers_with(&agent, move |values| answer.take().unwrap_or_else(|| accept(values))).await?;
    }
    Ok(())
}

async fn null_is_no_content(agent: Agent) -> Outcome {
    let (_, without) = asked(&agent, |_| Ok(json!({"action": "accept"}))).await?;
    let (_, null) = asked(&agent, |_| Ok(json!({"action": "accept", "content": null}))).await?;
    let what = format!("the end {:?} after null as the content, as without content", without.stop);
    ensure!(null.stop == without.stop, what, "the end {:?} and the response `{}`", null.stop, null.response);
    Ok(())
}

fn ids_of_visits_are_unique(_: &Agent, trace: &Trace) -> Outcome {
    let (mut open, mut found): (Vec<(Value, Value)>, bool) = (Vec::new(), false);
    for (from, message) in trace.exchanged() {
        let params = &message["params"];
        match (from, message["method"].as_str()) {
            (Sender::Subject, Some("elicitation/create")) if params["mode"] == "url" => {
                found = true;
                let id = &params["elicitationId"];
                let is_new = id.is_null() || open.iter().all(|(_, known)| known != id);
                ensure!(is_new, "an id that no other outstanding elicitation has", "`{message}`");
                open.push((message["id"].clone(), id.clone()));
            }
            (Sender::Subject, Some("elicitation/complete")) => {
                open.retain(|(_, id)| *id != params["elicitationId"]);
            }
            // What was not accepted is over.
            (Sender::Suite, None) if message["result"]["action"] != "accept" => {
                open.retain(|(request, _)| *request != message["id"]);
            }
            _ => {}
        }
    }
    if found { Ok(()) } else { Err(Stop::not_applicable("the agent asked for no visit")) }
}

async fn completions_repeat_the_id(agent: Agent) -> Outcome {
    let text = agent.setting.text("visit")?.to_owned();
    let (mut conversation, _, session) = agent.session().await?;
    let mut usual = answers::answers();
    conversation.answer_with(move |request| match request["method"].as_str() {
        Some("elicitation/create") => Some(Ok(json!({"action": "accept"}))),
        _ => usual(request),
    });
    let turn = agent.turn(&mut conversation, &session, &text).await.map_err(Stop::while_preparing)?;
    let asked = conversation.asked.iter().filter(|request| request["method"] == "elicitation/create");
    let ids: Vec<&Value> = asked.map(|request| &request["params"]["elicitationId"]).collect();
    let mut done =
        turn.messages.iter().filter(|message| message["method"] == "elicitation/complete").peekable();
    if done.peek().is_none() {
        return Err(Stop::not_applicable("the agent reported the end of no visit"));
    }
    for done in done {
        let is_known = ids.contains(&&done["params"]["elicitationId"]);
        ensure!(is_known, "the id of a visit that was asked for", "`{done}`");
    }
    Ok(())
}

fn urls_hold_no_credentials(_: &Agent, trace: &Trace) -> Outcome {
    for request in requests(trace)? {
        let url = request["params"]["url"].as_str().unwrap_or_default();
        let rest = url.split_once("://").map_or("", |(_, rest)| rest);
        let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
        ensure!(!authority.contains('@'), "a URL without a user or a password", "`{request}`");
    }
    Ok(())
}

async fn work_ends_without_forms(agent: Agent) -> Outcome {
    let text = agent.setting.text("ask")?.to_owned();
    let (_, declined) = asked(&agent, |_| Ok(json!({"action": "decline"}))).await?;
    ended(&declined, "an elicitation that was declined").map_err(Stop::while_preparing)?;
    let mut set = capabilities(agent.revision());
    if let Some(set) = set.as_object_mut() {
        set.remove("elicitation");
    }
    let (mut conversation, _) = agent.open_with(set).await?;
    let session = agent.new_session(&mut conversation).await?;
    let turn = agent.turn(&mut conversation, &session, &text).await?;
    ended(&turn, "an elicitation that the client does not support")
}

async fn an_unknown_action_is_no_known_one(agent: Agent) -> Outcome {
    let (_, accepted) = asked(&agent, |values| Ok(json!({"action": "accept", "content": values}))).await?;
    if !accepted.text().contains(ENTERED) {
        return Err(Stop::not_applicable("the agent does not say what was entered"));
    }
    let (_, turn) = asked(&agent, |values| Ok(json!({"action": "_conformance", "content": values}))).await?;
    let text = turn.text();
    ensure!(!text.contains(ENTERED), "the action `_conformance` is not taken for `accept`", "`{text}`");
    Ok(())
}
