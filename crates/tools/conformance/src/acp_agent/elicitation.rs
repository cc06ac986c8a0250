//! Checks of agents: elicitation.

use serde_json::{Value, json};

use super::initialization::plays_without;
use super::turn::Turn;
use super::{Agent, answers};
use crate::check::{ANY, Check, ORDERED, audit, check};
use crate::conversation::Conversation;
use crate::faults;
use crate::trace::{Sender, Trace};
use crate::verdict::{Outcome, Stop, ensure};

pub(super) const CHECKS: &[Check<Agent>] = &[
    check!("EL-01", modes_need_their_capability, ANY, [
        "asks all the same" => faults::says_before_response_to("session/prompt", |_| vec![
            json!({"jsonrpc": "2.0", "id": "asks", "method": "elicitation/create", "params": {"mode": "form"}}),
        ]),
        "visits all the same" => faults::says_before_response_to("session/prompt", |_| vec![
            json!({"jsonrpc": "2.0", "id": "asks", "method": "elicitation/create", "params": {"mode": "url"}}),
        ]),
    ]),
    audit!("EL-03", each_request_names_its_mode, ANY, [
        "leaves the mode out" => changes(|params| { params.remove("mode"); }),
    ]),
    audit!("EL-04", each_request_has_one_scope, ANY, [
        "names both" => changes(|params| { params.insert("requestId".into(), json!(1)); }),
        "names none" => changes(|params| { params.remove("sessionId"); }),
        "names a tool call of no session" => changes(|params| {
            params.remove("sessionId");
            params.insert("requestId".into(), json!(1));
            params.insert("toolCallId".into(), json!("a"));
        }),
    ]),
    check!("EL-09", each_answer_lets_work_end, ANY, [
        "waits for another answer" => later_ends(|m| *m = Value::Null),
    ]),
    check!("EL-10", null_is_no_content, ANY, ["fails" => later_ends(fails)]),
    audit!("EL-11", ids_of_visits_are_unique, ORDERED, [
        "uses one id for all" => faults::says_before_response_to("session/prompt", |_| {
            let visit = |id| json!({"jsonrpc": "2.0", "id": id, "method": "elicitation/create", "params": {"mode": "url", "elicitationId": "a"}});
            vec![visit("one"), visit("two")]
        }),
    ]),
    check!("EL-12", completions_repeat_the_id, ORDERED, [
        "has another id" => faults::each_call("elicitation/complete", |m| m["params"]["elicitationId"] = json!("another")),
    ]),
    audit!("EL-16", urls_hold_no_credentials, ANY, [
        "puts a password in the URL" => changes(|params| if params.contains_key("url") { params.insert("url".into(), json!("https://me:secret@example.com/")); }),
    ]),
    check!("EL-17", work_ends_without_forms, ANY, ["fails" => later_ends(fails)]),
    check!("EL-19", an_unknown_action_is_no_known_one, ANY, ["accepts" => takes_for("accept")]),
];

type Object = serde_json::Map<String, Value>;

fn changes(edit: fn(&mut Object)) -> Box<dyn crate::fault::Fault> {
    faults::each_call("elicitation/create", move |m| {
        if let Some(params) = m["params"].as_object_mut() {
            edit(params);
        }
    })
}

/// Changes the end of each prompt after the first one: the response in version 1, the last update in version 2.
fn later_ends(edit: fn(&mut Value)) -> Box<dyn crate::fault::Fault> {
    let mut count = 0;
    faults::each_message(move |m| {
        if ["/result/stopReason", "/params/update/stopReason"].iter().any(|at| m.pointer(at).is_some()) {
            count += 1;
            if count > 1 {
                edit(m);
            }
        }
    })
}

fn fails(end: &mut Value) {
    match end.pointer_mut("/params/update/stopReason") {
        Some(reason) => *reason = json!("error"),
        None => faults::refuse(end, -32603),
    }
}

/// An agent that says of an unknown action what it says of an accepted form.
pub(super) fn takes_for(_: &str) -> Box<dyn crate::fault::Fault> {
    faults::each_call("session/update", |m| {
        // The content of a tool call is a list.
        if let Some(text) = m.pointer_mut("/params/update/content/text").filter(|text| text.is_string()) {
            *text = json!(format!("accept {ENTERED}"));
        }
    })
}

async fn modes_need_their_capability(agent: Agent) -> Outcome {
    let all = super::capabilities(agent.revision());
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

/// What the suite enters into a form.
pub(super) const ENTERED: &str = "conformance-3f1c";

/// Values for a form: a text for each field that takes one.
pub(super) fn values(schema: &Value) -> Value {
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
pub(super) async fn asked(
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
    let mut set = super::capabilities(agent.revision());
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
