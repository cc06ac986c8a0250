//! Checks of servers: results that ask the client for input.

use serde_json::{Map, Value, json};

use crate::check::{ANY, Check, check, shared};
use crate::conversation::Conversation;
use crate::mcp_server::Server;
use crate::mcp_server::answers;
use crate::mcp_server::features::lists;
use crate::verdict::{Outcome, Stop, ensure};

pub(in crate::mcp_server) const CHECKS: &[Check<Server>] = &[
    shared!(other_methods_ask_nothing, ANY),
    check!(question_has_requests_or_a_state, ANY),
    check!(only_declared_capabilities_are_asked_for, ANY),
    check!(requests_are_of_three_kinds, ANY),
    check!(requests_are_bare, ANY),
    check!(changed_state_is_refused, ANY),
    check!(state_of_another_request_is_refused, ANY),
    check!(missing_response_is_asked_for, ANY),
    check!(additional_response_is_ignored, ANY),
    check!(malformed_response_is_refused, ANY),
    check!(abandoned_requests_do_no_harm, ANY),
];

/// How many requests a check abandons.
const ABANDONED: usize = 25;

fn is_question(result: &Value) -> bool {
    result["resultType"] == "input_required"
}

/// Calls a tool that has to ask, and returns its question.
async fn ask(conversation: &mut Conversation, tool: &Value) -> Outcome<Value> {
    let result = conversation.ok("tools/call", tool.clone()).await.map_err(Stop::while_preparing)?;
    if is_question(&result) {
        return Ok(result);
    }
    Err(Stop::inconclusive(format!("the tool {} of the profile did not ask", tool["name"])))
}

/// The responses to a question.
fn responses(question: &Value) -> Map<String, Value> {
    let requests = question["inputRequests"].as_object().cloned().unwrap_or_default();
    let answered = |(key, request): (String, Value)| Some((key, answers::answer(&request)?.ok()?));
    requests.into_iter().filter_map(answered).collect()
}

/// The params of the retry.
fn retry(tool: &Value, question: &Value, responses: Map<String, Value>) -> Value {
    let mut params = tool.clone();
    params["inputResponses"] = Value::Object(responses);
    if let Some(state) = question.get("requestState") {
        params["requestState"] = state.clone();
    }
    params
}

/// The tools of the profile that ask, as calls.
fn asking(server: &Server) -> Outcome<Vec<Value>> {
    let roles = ["asks", "asks_with_state", "samples", "lists_roots"];
    let tools: Vec<Value> = roles.iter().filter_map(|role| server.tool(role).ok()).collect();
    if tools.is_empty() {
        return Err(Stop::not_applicable("the profile has no tool that asks the client"));
    }
    Ok(tools)
}

async fn other_methods_ask_nothing(server: Server) -> Outcome {
    let mut conversation = server.open().await?;
    let mut methods = vec!["server/discover"];
    match lists(&server).await {
        Ok(lists) => methods.extend(lists.iter().map(|list| list.method)),
        Err(Stop::NotApplicable(_)) => {}
        Err(stop) => return Err(stop),
    }
    for method in methods {
        let response = conversation.request(method, json!({})).await.map_err(Stop::while_preparing)?;
        ensure!(
            !is_question(&response["result"]),
            format!("no result of type input_required for {method}"),
            "`{response}`"
        );
    }
    Ok(())
}

async fn question_has_requests_or_a_state(server: Server) -> Outcome {
    let tools = asking(&server)?;
    let mut conversation = server.open().await?;
    for tool in tools {
        let result = ask(&mut conversation, &tool).await?;
        ensure!(
            result["inputRequests"].is_object() || result["requestState"].is_string(),
            "`inputRequests`, `requestState` or both in a result of type input_required",
            "`{result}`"
        );
    }
    Ok(())
}

async fn only_declared_capabilities_are_asked_for(server: Server) -> Outcome {
    let tools = asking(&server)?;
    let declared =
        [json!({}), json!({"elicitation": {"form": {}}}), json!({"sampling": {}}), json!({"roots": {}})];
    for capabilities in declared {
        let mut conversation = server.open_with(capabilities.clone()).await?;
        for tool in &tools {
            let response = conversation.request("tools/call", tool.clone()).await;
            let response = response.map_err(Stop::while_preparing)?;
            let requests = response.pointer("/result/inputRequests").and_then(Value::as_object);
            for request in requests.into_iter().flatten().map(|(_, request)| request) {
                let method = request["method"].as_str().unwrap_or_default();
                let needed = method.split('/').next().unwrap_or_default();
                if !["elicitation", "sampling", "roots"].contains(&needed) {
                    continue;
                }
                let is_declared = capabilities.get(needed).is_some() && request["params"]["mode"] != "url";
                ensure!(
                    is_declared,
                    format!("only requests that a client with the capabilities `{capabilities}` can answer"),
                    "`{request}`"
                );
            }
        }
    }
    Ok(())
}

/// The requests in the questions of all tools that ask.
async fn requests(server: &Server) -> Outcome<Vec<Value>> {
    let tools = asking(server)?;
    let mut conversation = server.open().await?;
    let mut requests = Vec::new();
    for tool in tools {
        let question = ask(&mut conversation, &tool).await?;
        let asked = question["inputRequests"].as_object();
        requests.extend(asked.into_iter().flatten().map(|(_, request)| request.clone()));
    }
    Ok(requests)
}

async fn requests_are_of_three_kinds(server: Server) -> Outcome {
    for request in requests(&server).await? {
        let params = &request["params"];
        let is_whole = match request["method"].as_str() {
            Some("elicitation/create") => {
                let what = if params["mode"] == "url" { "url" } else { "requestedSchema" };
                params["message"].is_string() && params.get(what).is_some()
            }
            Some("sampling/createMessage") => {
                params["messages"].is_array() && params["maxTokens"].is_number()
            }
            Some("roots/list") => true,
            _ => false,
        };
        let what = "an elicitation, a sampling or a roots request with its params in inputRequests";
        ensure!(is_whole, what, "`{request}`");
    }
    Ok(())
}

async fn requests_are_bare(server: Server) -> Outcome {
    for request in requests(&server).await? {
        let is_bare = request.get("jsonrpc").is_none() && request.get("id").is_none();
        ensure!(is_bare, "a request without the members jsonrpc and id in inputRequests", "`{request}`");
    }
    Ok(())
}

/// Fails if a call that had to be refused was done.
fn expect_refusal(response: &Value, what: &str) -> Outcome {
    let result = &response["result"];
    let is_done = result.is_object() && !is_question(result) && result["isError"] != true;
    ensure!(!is_done, format!("a refusal of {what}"), "`{response}`");
    Ok(())
}

async fn changed_state_is_refused(server: Server) -> Outcome {
    let tool = server.tool("asks_with_state")?;
    let mut conversation = server.open().await?;
    let question = ask(&mut conversation, &tool).await?;
    let Some(state) = question["requestState"].as_str() else {
        return Err(Stop::not_applicable("the server gave no requestState"));
    };
    let middle = state.chars().count() / 2;
    let other = |char: char| if char == 'A' { 'B' } else { 'A' };
    let changed: String =
        state.chars().enumerate().map(|(at, char)| if at == middle { other(char) } else { char }).collect();
    let shortened: String = state.chars().take(middle).collect();
    for state in [changed, shortened, format!("{state}{state}")] {
        let mut params = retry(&tool, &question, responses(&question));
        params["requestState"] = json!(state);
        let response = conversation.request("tools/call", params).await.map_err(Stop::while_preparing)?;
        expect_refusal(&response, "a requestState that was changed")?;
    }
    own_state_is_taken(&mut conversation, &tool, &question).await
}

/// A retry with the state that was given for it shows that refusals were not for something else.
async fn own_state_is_taken(conversation: &mut Conversation, tool: &Value, question: &Value) -> Outcome {
    let params = retry(tool, question, responses(question));
    let result = conversation.ok("tools/call", params).await.map_err(Stop::while_preparing)?;
    if is_question(&result) {
        return Err(Stop::inconclusive("the server asked again although its question was answered"));
    }
    Ok(())
}

async fn state_of_another_request_is_refused(server: Server) -> Outcome {
    let (tool, other) = (server.tool("asks_with_state")?, server.tool("asks")?);
    if tool == other {
        return Err(Stop::not_applicable("the profile has one tool that asks"));
    }
    let mut conversation = server.open().await?;
    let question = ask(&mut conversation, &tool).await?;
    let another = ask(&mut conversation, &other).await?;
    if !(question["requestState"].is_string() && another["requestState"].is_string()) {
        return Err(Stop::not_applicable("the server gave no requestState"));
    }
    let mut params = retry(&tool, &question, responses(&question));
    params["requestState"] = another["requestState"].clone();
    let response = conversation.request("tools/call", params).await.map_err(Stop::while_preparing)?;
    expect_refusal(&response, "a requestState that was given for another request")?;
    own_state_is_taken(&mut conversation, &tool, &question).await
}

/// The response to a retry of the tool that asks, with its responses as a check changes them.
async fn retried(
    server: &Server,
    change: impl FnOnce(Map<String, Value>) -> Map<String, Value>,
) -> Outcome<Value> {
    let tool = server.tool("asks")?;
    let mut conversation = server.open().await?;
    let question = ask(&mut conversation, &tool).await?;
    let params = retry(&tool, &question, change(responses(&question)));
    conversation.request("tools/call", params).await.map_err(Stop::while_preparing)
}

async fn missing_response_is_asked_for(server: Server) -> Outcome {
    let response = retried(&server, |_| Map::new()).await?;
    ensure!(
        is_question(&response["result"]),
        "the question again, as its response is missing",
        "`{response}`"
    );
    Ok(())
}

async fn additional_response_is_ignored(server: Server) -> Outcome {
    let add = |mut responses: Map<String, Value>| {
        responses.insert("conformance_more".to_owned(), json!({"action": "decline"}));
        responses
    };
    let response = retried(&server, add).await?;
    let is_done = response["result"].is_object() && !is_question(&response["result"]);
    ensure!(is_done, "a result, with the additional input response ignored", "`{response}`");
    Ok(())
}

async fn malformed_response_is_refused(server: Server) -> Outcome {
    let spoil =
        |responses: Map<String, Value>| responses.into_iter().map(|(key, _)| (key, json!(7))).collect();
    let response = retried(&server, spoil).await?;
    ensure!(response["error"].is_object(), "an error, as a number is not an input response", "`{response}`");
    Ok(())
}

/// A server may forget the requests that were abandoned.
async fn abandoned_requests_do_no_harm(server: Server) -> Outcome {
    let tool = server.tool("asks")?;
    let mut conversation = server.open().await?;
    let mut question = ask(&mut conversation, &tool).await?;
    for _ in 0..ABANDONED {
        question = conversation.ok("tools/call", tool.clone()).await?;
        ensure!(is_question(&question), "a question, although others were not answered", "`{question}`");
    }
    let result = conversation.ok("tools/call", retry(&tool, &question, responses(&question))).await?;
    ensure!(!is_question(&result), "the result of a request whose question is answered", "`{result}`");
    Ok(())
}
