//! Checks of servers: logging.

use std::time::Duration;

use serde_json::{Value, json};

use crate::check::{ANY, Check, check, shared};
use crate::conversation::{Arrived, Conversation};
use crate::mcp_server::Server;
use crate::mcp_server::features::{INVALID_PARAMS, SILENCE, expect_code};
use crate::verdict::{Outcome, Stop, ensure};

pub(in crate::mcp_server) const CHECKS: &[Check<Server>] = &[
    shared!(logging_is_declared, ANY),
    check!(only_the_set_level_and_above, ANY),
    shared!(unknown_level_is_refused, ANY),
    check!(no_log_without_a_level, ANY),
    check!(log_belongs_to_its_request, ANY),
    check!(log_comes_before_the_response, ANY),
    shared!(unknown_level_of_a_request_is_refused, ANY),
    check!(only_the_level_of_the_request_and_above, ANY),
];

/// The levels, from the least severe on.
const LEVELS: [&str; 8] = ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"];
/// The id of the subscription beside which a request logs.
const LISTEN: &str = "listen";
const LEVEL_KEY: &str = "io.modelcontextprotocol/logLevel";

fn is_log(message: &Value) -> bool {
    message["method"] == "notifications/message"
}

/// Calls a tool as a preparation, and returns the response and the log notifications that arrived before it or soon after.
async fn call(
    conversation: &mut Conversation,
    tool: Value,
) -> Outcome<(Arrived, Vec<Arrived>, Vec<Arrived>)> {
    // What arrived before belongs to something else.
    conversation.listen(Duration::ZERO).await?;
    let id = conversation.start("tools/call", tool).await?;
    let is_response = |message: &Value| message["id"] == id && message.get("method").is_none();
    let response = conversation.arrived("a response to tools/call", is_response).await;
    let response = response.map_err(Stop::while_preparing)?;
    let is_early: Vec<Value> = conversation.queued().filter(|message| is_log(message)).cloned().collect();
    let all = conversation.listen(SILENCE).await?;
    let mut logs: Vec<Arrived> = all.into_iter().filter(|arrived| is_log(&arrived.message)).collect();
    let late = logs.split_off(is_early.len().min(logs.len()));
    Ok((response, logs, late))
}

fn with_level(mut tool: Value, level: &str) -> Value {
    tool["_meta"] = json!({ LEVEL_KEY: level });
    tool
}

/// The tool that logs, or any other if the profile names none.
async fn logger(server: &Server, conversation: &mut Conversation) -> Outcome<Value> {
    match server.tool("logs") {
        Ok(tool) => Ok(tool),
        Err(_) => server.any_tool(conversation).await,
    }
}

async fn set_level(server: &Server, conversation: &mut Conversation, level: &str) -> Outcome {
    if server.revision().is_legacy() {
        // A server that logs without the capability need not know the method.
        let set = conversation.request("logging/setLevel", json!({"level": level})).await;
        set.map_err(Stop::while_preparing)?;
    }
    Ok(())
}

async fn logging_is_declared(server: Server) -> Outcome {
    let offer = server.offer().await?;
    server.needs("/tools").await?;
    let mut conversation = server.open().await?;
    set_level(&server, &mut conversation, "debug").await?;
    let tool = logger(&server, &mut conversation).await?;
    let (_, early, late) = call(&mut conversation, with_level(tool, "debug")).await?;
    let Some(log) = early.first().or(late.first()) else {
        return Err(server.silent("the server sent no log notification"));
    };
    ensure!(
        offer.pointer("/capabilities/logging").is_some(),
        "the capability `logging` of a server that sends log notifications",
        "`{}` and the capabilities `{}`",
        log.message,
        offer["capabilities"]
    );
    Ok(())
}

/// Whether a level is one of those, and as severe as another one.
fn is_severe(log: &Value, least: &str) -> bool {
    let rank = |level: &str| LEVELS.iter().position(|known| *known == level);
    log["params"]["level"].as_str().and_then(rank) >= rank(least)
}

/// Fails if something less severe than errors was logged.
fn expect_errors(logs: &[Arrived]) -> Outcome {
    for log in logs {
        ensure!(
            is_severe(&log.message, "error"),
            "log notifications of the level error and above only",
            "`{}`",
            log.message
        );
    }
    let has_error = logs.iter().any(|log| log.message["params"]["level"] == "error");
    // A server may send less than it could.
    if has_error { Ok(()) } else { Err(Stop::inconclusive("the tool `logs` of the profile logged no error")) }
}

async fn only_the_set_level_and_above(server: Server) -> Outcome {
    server.needs("/logging").await?;
    let tool = server.tool("logs")?;
    let mut conversation = server.open().await?;
    let set = conversation.ok("logging/setLevel", json!({"level": "error"})).await;
    set.map_err(Stop::while_preparing)?;
    // What was logged before the level was set may be under way.
    conversation.listen(SILENCE).await?;
    let (_, mut early, late) = call(&mut conversation, tool).await?;
    early.extend(late);
    expect_errors(&early)
}

async fn only_the_level_of_the_request_and_above(server: Server) -> Outcome {
    let tool = server.tool("logs")?;
    let mut conversation = server.open().await?;
    let (_, mut early, late) = call(&mut conversation, with_level(tool, "error")).await?;
    early.extend(late);
    expect_errors(&early)
}

async fn unknown_level_is_refused(server: Server) -> Outcome {
    server.needs("/logging").await?;
    let mut conversation = server.open().await?;
    let response = conversation.request("logging/setLevel", json!({"level": "loudest"})).await;
    expect_code(
        &response.map_err(Stop::while_preparing)?,
        INVALID_PARAMS,
        "logging/setLevel with the level `loudest`",
    )
}

async fn no_log_without_a_level(server: Server) -> Outcome {
    server.needs("/tools").await?;
    let mut conversation = server.open().await?;
    let tool = logger(&server, &mut conversation).await?;
    let (_, early, late) = call(&mut conversation, tool).await?;
    let log = early.first().or(late.first());
    ensure!(
        log.is_none(),
        "no log notification for a request without a logLevel",
        "`{}`",
        log.map(|log| &log.message).unwrap_or(&Value::Null)
    );
    Ok(())
}

async fn log_belongs_to_its_request(server: Server) -> Outcome {
    let tool = server.tool("logs")?;
    let mut conversation = server.open().await?;
    // A server without subscriptions refuses this one, and its log is judged all the same.
    let filter = json!({"notifications": {"toolsListChanged": true, "promptsListChanged": true}});
    conversation.start_as(json!(LISTEN), "subscriptions/listen", filter).await?;
    let first = |message: &Value| {
        message["id"] == LISTEN || message["method"] == "notifications/subscriptions/acknowledged"
    };
    conversation.wanted("an answer to subscriptions/listen", first).await.map_err(Stop::while_preparing)?;
    let (response, early, late) = call(&mut conversation, with_level(tool, "debug")).await?;
    for log in early.iter().chain(&late) {
        let message = &log.message;
        let subscription = message.pointer("/params/_meta/io.modelcontextprotocol~1subscriptionId");
        ensure!(subscription.is_none(), "no log notification on a subscription", "`{message}`");
        ensure!(
            log.stream == response.stream,
            "log notifications on the stream of their request",
            "`{message}` on another stream"
        );
    }
    if early.is_empty() {
        return Err(Stop::inconclusive("the tool `logs` of the profile did not log"));
    }
    Ok(())
}

/// A log notification on another stream than the response is the matter of LOG-05.
async fn log_comes_before_the_response(server: Server) -> Outcome {
    let tool = server.tool("logs")?;
    let mut conversation = server.open().await?;
    let (response, _, late) = call(&mut conversation, with_level(tool, "debug")).await?;
    let late = late.iter().find(|log| log.stream == response.stream || log.stream == 0);
    let last = late.map_or(&Value::Null, |log| &log.message);
    ensure!(late.is_none(), "log notifications before the response", "`{last}` after it");
    Ok(())
}

async fn unknown_level_of_a_request_is_refused(server: Server) -> Outcome {
    server.needs("/logging").await?;
    let mut conversation = server.open().await?;
    let tool = server.any_tool(&mut conversation).await?;
    let response = conversation.request("tools/call", with_level(tool, "loudest")).await;
    expect_code(
        &response.map_err(Stop::while_preparing)?,
        INVALID_PARAMS,
        "a request with the logLevel `loudest`",
    )
}
