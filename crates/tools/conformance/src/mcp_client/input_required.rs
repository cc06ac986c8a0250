//! Checks of clients: questions that a result carries.

use serde_json::{Value, json};

use super::McpClient;
use super::opened::{Opened, QUIET};
use crate::check::{ANY, Check, check};
use crate::verdict::{Outcome, Stop, ensure};

pub(super) const CHECKS: &[Check<McpClient>] = &[
    check!(every_question_is_answered, ANY),
    check!(the_newest_state_comes_back, ANY),
    check!(a_retry_has_an_id_of_its_own, ANY),
    check!(states_stay_with_their_calls, ANY),
    check!(a_retry_repeats_its_request, ANY),
    check!(a_refusal_is_an_answer, ANY),
    check!(undeclared_questions_are_errors, ANY),
];

pub(crate) const CALL: &str = "tools/call";

/// A client that has called a tool, and its request.
async fn calling(client: &McpClient) -> Outcome<(Opened, crate::subject::driver::StepId, Value)> {
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

/// The retry of a call. A client may give up instead.
async fn retry(opened: &mut Opened) -> Outcome<Value> {
    opened.server.call(CALL).await.map_err(Stop::while_preparing)
}

async fn every_question_is_answered(client: McpClient) -> Outcome {
    let (mut opened, _, request) = calling(&client).await?;
    let question = question(&opened)?;
    ask(&mut opened, &request, json!({"one": question, "two": question}), None).await?;
    let retry = retry(&mut opened).await?;
    let answers = &retry["params"]["inputResponses"];
    ensure!(
        answers.get("one").is_some() && answers.get("two").is_some(),
        "a retry with an input response for each of `one` and `two`",
        "`{retry}`"
    );
    Ok(())
}

async fn the_newest_state_comes_back(client: McpClient) -> Outcome {
    let (mut opened, _, mut request) = calling(&client).await?;
    let question = question(&opened)?;
    for state in [Some(" eyJhIjoxfQ==\n"), Some("{\"ü\": \"🦀\"}"), None, Some("")] {
        ask(&mut opened, &request, json!({"one": question}), state).await?;
        request = retry(&mut opened).await?;
        let seen = request["params"].get("requestState");
        ensure!(
            seen.and_then(Value::as_str) == state && seen.is_some() == state.is_some(),
            format!(
                "a retry with {}",
                state.map_or("no requestState".into(), |state| format!("the requestState {}", json!(state)))
            ),
            "`{request}`"
        );
    }
    Ok(())
}

async fn a_retry_has_an_id_of_its_own(client: McpClient) -> Outcome {
    let (mut opened, _, request) = calling(&client).await?;
    ask(&mut opened, &request, Value::Null, Some("state")).await?;
    let retry = retry(&mut opened).await?;
    ensure!(
        retry["id"] != request["id"],
        format!("an id other than {} in the retry", request["id"]),
        "`{retry}`"
    );
    Ok(())
}

/// The second call begins while the first waits for its retry to be answered.
async fn states_stay_with_their_calls(client: McpClient) -> Outcome {
    let (mut opened, _, request) = calling(&client).await?;
    ask(&mut opened, &request, Value::Null, Some("secret")).await?;
    retry(&mut opened).await?;
    opened.then("call_tool", json!({"tool": "echo", "arguments": {"text": "two"}})).await?;
    let unrelated = opened.server.call(CALL).await.map_err(Stop::while_preparing)?;
    ensure!(
        unrelated["params"].get("requestState").is_none(),
        "no requestState in another call",
        "`{unrelated}`"
    );
    Ok(())
}

async fn a_retry_repeats_its_request(client: McpClient) -> Outcome {
    let (mut opened, _, request) = calling(&client).await?;
    let question = question(&opened)?;
    ask(&mut opened, &request, json!({"one": question}), Some("state")).await?;
    let retry = retry(&mut opened).await?;
    let repeated = |request: &Value| json!([request["params"]["name"], request["params"]["arguments"]]);
    ensure!(
        repeated(&request) == repeated(&retry),
        format!("the name and the arguments of the request: `{}`", repeated(&request)),
        "`{retry}`"
    );
    Ok(())
}

async fn a_refusal_is_an_answer(client: McpClient) -> Outcome {
    let (mut opened, _, request) = calling(&client).await?;
    if opened.capabilities()["elicitation"].get("url").is_none() {
        return Err(Stop::not_applicable("the client does not declare `elicitation.url`"));
    }
    let params = json!({"mode": "url", "message": "Open a page?", "url": "https://example.com/", "elicitationId": "e1"});
    let question = json!({"method": "elicitation/create", "params": params});
    ask(&mut opened, &request, json!({"one": question}), None).await?;
    let retry = retry(&mut opened).await?;
    let action = &retry["params"]["inputResponses"]["one"]["action"];
    if action == "accept" {
        return Err(Stop::not_applicable("the client's user accepts"));
    }
    ensure!(
        action == "decline" || action == "cancel",
        "the action of the user in the input response",
        "`{retry}`"
    );
    Ok(())
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
        let message = &arrived.message;
        if message["method"] == CALL && message.pointer("/params/inputResponses/one").is_some() {
            return Err(Stop::not_applicable("the client answers what it did not declare"));
        }
        ensure!(message["method"] != CALL, "no retry without an input response", "`{message}`");
    }
    opened.error_of(step).await.map(drop)
}
