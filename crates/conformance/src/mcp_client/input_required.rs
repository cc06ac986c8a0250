//! Checks of clients: questions that a result carries.

use serde_json::{Value, json};

use super::McpClient;
use super::opened::{Opened, QUIET};
use crate::check::{ANY, Check, check};
use crate::faults;
use crate::verdict::{Outcome, Stop, ensure};

pub(super) const CHECKS: &[Check<McpClient>] = &[
    check!("MRT-09", every_question_is_answered, ANY, [
        "answers one of two questions" => faults::each_call(CALL, |m| {
            m["params"]["inputResponses"].as_object_mut().map(|answers| answers.remove("two"));
        }),
        "waits for questions that never come" => {
            let mut calls = 0;
            faults::each_call(CALL, move |m| { calls += 1; if calls == 4 { *m = Value::Null } })
        },
    ]),
    check!("MRT-10", the_newest_state_comes_back, ANY, [
        "trims the state" => faults::each_call(CALL, |m| if let Some(state) = m["params"]["requestState"].as_str() {
            m["params"]["requestState"] = json!(state.trim());
        }),
        "keeps an old state" => faults::each_call(CALL, |m| if m["params"].get("inputResponses").is_some()
            && m["params"].get("requestState").is_none() {
            m["params"]["requestState"] = json!("old");
        }),
    ]),
    check!("MRT-11", a_retry_has_an_id_of_its_own, ANY, [
        "uses the id again" => {
            let mut first = None;
            faults::each_call(CALL, move |m| m["id"] = first.get_or_insert(m["id"].take()).clone())
        },
    ]),
    check!("MRT-12", states_stay_with_their_calls, ANY, [
        "sends the state in another call" => faults::each_call(CALL, |m| m["params"]["requestState"] = json!("secret")),
    ]),
    check!("MRT-13", a_retry_repeats_its_request, ANY, [
        "leaves out the arguments" => faults::each_call(CALL, |m| if m["params"].get("inputResponses").is_some() {
            m["params"]["arguments"] = json!({});
        }),
        "leaves out its capabilities" => faults::each_call(CALL, |m| if m["params"].get("inputResponses").is_some() {
            m["params"]["_meta"]["io.modelcontextprotocol/clientCapabilities"] = json!({});
        }),
    ]),
    check!("MRT-14", rounds_are_limited, ANY, [
        "asks for ever" => faults::later_steps_hang(),
    ]),
    check!("MRT-15", a_refusal_is_an_answer, ANY, [
        "answers a refusal with nothing" => faults::each_call(CALL, |m| if m["params"].get("inputResponses").is_some() {
            m["params"]["inputResponses"] = json!({});
        }),
        "fails when the user refuses" => faults::later_steps_fail(),
    ]),
    check!("MRT-16", undeclared_questions_are_errors, ANY, [
        "takes any question" => faults::later_steps_succeed(),
    ]),
];

const CALL: &str = "tools/call";

/// A client that has called a tool, and its request.
async fn calling(client: &McpClient) -> Outcome<(Opened, crate::driver::StepId, Value)> {
    let mut opened = client.connected(client.script().leaves(CALL)).await?;
    let step = opened.then("call_tool", json!({"tool": "echo", "arguments": {"text": "one"}})).await?;
    let request = opened.server.call(CALL).await.map_err(Stop::while_preparing)?;
    Ok((opened, step, request))
}

/// A question that the client has declared to answer.
fn question(opened: &Opened) -> Outcome<Value> {
    if opened.needs("roots").is_ok() {
        return Ok(json!({"method": "roots/list"}));
    }
    opened.needs("elicitation")?;
    let schema = json!({"type": "object", "properties": {"name": {"type": "string"}}});
    let params = json!({"mode": "form", "message": "What is your name?", "requestedSchema": schema});
    Ok(json!({"method": "elicitation/create", "params": params}))
}

async fn ask(opened: &mut Opened, request: &Value, requests: Value, state: Option<&str>) -> Outcome {
    let mut result = json!({"resultType": "input_required"});
    if !requests.is_null() {
        result["inputRequests"] = requests;
    }
    if let Some(state) = state {
        result["requestState"] = json!(state);
    }
    opened.server.reply(request, result).await
}

async fn finish(
    client: &McpClient,
    opened: &mut Opened,
    step: crate::driver::StepId,
    request: &Value,
) -> Outcome {
    opened.server.reply(request, client.script().result(CALL)).await?;
    opened.ok_of(step).await.map(drop)
}

async fn every_question_is_answered(client: McpClient) -> Outcome {
    let (mut opened, step, request) = calling(&client).await?;
    let question = question(&opened)?;
    ask(&mut opened, &request, json!({"one": question, "two": question}), None).await?;
    let retry = opened.server.call(CALL).await?;
    let answers = &retry["params"]["inputResponses"];
    let keys: Vec<&String> = answers.as_object().into_iter().flat_map(|answers| answers.keys()).collect();
    ensure!(
        keys == ["one", "two"],
        "a retry with an input response for each of `one` and `two`",
        "`{retry}`"
    );
    finish(&client, &mut opened, step, &retry).await?;

    let step = opened.then("call_tool", json!({"tool": "echo", "arguments": {"text": "two"}})).await?;
    let request = opened.server.call(CALL).await?;
    ask(&mut opened, &request, Value::Null, Some("state")).await?;
    let retry = opened.server.call(CALL).await?;
    finish(&client, &mut opened, step, &retry).await
}

async fn the_newest_state_comes_back(client: McpClient) -> Outcome {
    let (mut opened, step, mut request) = calling(&client).await?;
    let question = question(&opened)?;
    for state in [Some(" eyJhIjoxfQ==\n"), Some("{\"ü\": \"🦀\"}"), None, Some("")] {
        ask(&mut opened, &request, json!({"one": question}), state).await?;
        request = opened.server.call(CALL).await?;
        let seen = request["params"].get("requestState");
        ensure!(
            seen.and_then(Value::as_str) == state && seen.is_some() == state.is_some(),
            format!(
                "a retry with the request state {}",
                state.map_or("that is none".into(), |s| json!(s).to_string())
            ),
            "`{request}`"
        );
    }
    finish(&client, &mut opened, step, &request).await
}

async fn a_retry_has_an_id_of_its_own(client: McpClient) -> Outcome {
    let (mut opened, _, request) = calling(&client).await?;
    ask(&mut opened, &request, Value::Null, Some("state")).await?;
    let retry = opened.server.call(CALL).await?;
    ensure!(
        retry["id"] != request["id"],
        format!("an id other than {} in the retry", request["id"]),
        "`{retry}`"
    );
    Ok(())
}

/// The second call begins while the first waits for its retry to be answered.
async fn states_stay_with_their_calls(client: McpClient) -> Outcome {
    let (mut opened, step, request) = calling(&client).await?;
    ask(&mut opened, &request, Value::Null, Some("secret")).await?;
    let retry = opened.server.call(CALL).await.map_err(Stop::while_preparing)?;
    let other = opened.then("call_tool", json!({"tool": "echo", "arguments": {"text": "two"}})).await?;
    let unrelated = opened.server.call(CALL).await.map_err(Stop::while_preparing)?;
    ensure!(
        unrelated["params"].get("requestState").is_none(),
        "no request state in another call",
        "`{unrelated}`"
    );
    finish(&client, &mut opened, other, &unrelated).await?;
    finish(&client, &mut opened, step, &retry).await
}

async fn a_retry_repeats_its_request(client: McpClient) -> Outcome {
    let (mut opened, step, request) = calling(&client).await?;
    let question = question(&opened)?;
    ask(&mut opened, &request, json!({"one": question}), Some("state")).await?;
    let retry = opened.server.call(CALL).await?;
    let repeated = |request: &Value| {
        let mut params = request["params"].clone();
        params["_meta"].as_object_mut().map(|meta| meta.remove("progressToken"));
        json!([params["name"], params["arguments"], params["_meta"]])
    };
    let (first, second) = (repeated(&request), repeated(&retry));
    ensure!(
        first == second,
        format!("the name, the arguments and the _meta of the request: `{first}`"),
        "`{retry}`"
    );
    finish(&client, &mut opened, step, &retry).await
}

/// The check sees the end of the call, whatever the limit is.
async fn rounds_are_limited(client: McpClient) -> Outcome {
    let result = json!({"resultType": "input_required", "requestState": "again"});
    let mut opened = client.connected(client.script().on_exactly(CALL, result)).await?;
    let step = opened.then("call_tool", json!({"tool": "echo", "arguments": {"text": "one"}})).await?;
    opened.error_of(step).await.map(drop)
}

async fn a_refusal_is_an_answer(client: McpClient) -> Outcome {
    let (mut opened, step, request) = calling(&client).await?;
    if opened.capabilities()["elicitation"].get("url").is_none() {
        return Err(Stop::not_applicable("the client does not declare `elicitation.url`"));
    }
    let params = json!({"mode": "url", "message": "Open a page?", "url": "https://example.com/", "elicitationId": "e1"});
    let question = json!({"method": "elicitation/create", "params": params});
    ask(&mut opened, &request, json!({"one": question}), None).await?;
    let retry = opened.server.call(CALL).await?;
    let action = &retry["params"]["inputResponses"]["one"]["action"];
    if action == "accept" {
        return Err(Stop::not_applicable("the client's user accepts"));
    }
    ensure!(
        action == "decline" || action == "cancel",
        "the action of the user in the input response",
        "`{retry}`"
    );
    finish(&client, &mut opened, step, &retry).await
}

async fn undeclared_questions_are_errors(client: McpClient) -> Outcome {
    let (mut opened, step, request) = calling(&client).await?;
    let message = json!({"role": "user", "content": {"type": "text", "text": "Hello"}});
    let mut sampling = json!({"messages": [message], "maxTokens": 10});
    let question = if opened.needs("roots").is_err() {
        json!({"method": "roots/list"})
    } else if opened.needs("sampling").is_err() {
        json!({"method": "sampling/createMessage", "params": sampling})
    } else if opened.needs("elicitation").is_err() {
        json!({"method": "elicitation/create", "params": {
            "mode": "form", "message": "Your name?", "requestedSchema": {"type": "object", "properties": {}}}})
    } else if opened.capabilities()["sampling"].get("tools").is_none() {
        sampling["tools"] = json!([{"name": "echo", "inputSchema": {"type": "object"}}]);
        json!({"method": "sampling/createMessage", "params": sampling})
    } else {
        return Err(Stop::not_applicable("the client declares every capability"));
    };
    ask(&mut opened, &request, json!({"one": question}), None).await?;
    // A client that retries without an answer gets the same question again.
    for arrived in opened.server.listen(QUIET).await? {
        ensure!(arrived.message["method"] != CALL, "no retry without an answer", "`{}`", arrived.message);
    }
    opened.error_of(step).await.map(drop)
}
