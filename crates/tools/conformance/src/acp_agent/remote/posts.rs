//! Checks of agents: what the responses to posts and to other requests over HTTP say.

use serde_json::{Value, json};

use super::{UNKNOWN, is_response_to, read_until, stream, unknown_method};
use crate::acp_agent::Agent;
use crate::check::{Check, HTTP, check};
use crate::link::acp_http::AcpConnection;
use crate::link::http::HttpRequest;
use crate::verdict::{Outcome, Stop, ensure};

pub(in crate::acp_agent) const CHECKS: &[Check<Agent>] = &[
    check!(http2_is_spoken, HTTP),
    check!(initialize_begins_a_connection, HTTP),
    check!(posts_are_accepted_at_once, HTTP),
    check!(other_content_types_are_refused, HTTP),
    check!(the_connection_id_is_checked, HTTP),
    check!(batches_are_not_implemented, HTTP),
];

/// The id of the request whose response is waited for.
pub(crate) const POSTED: &str = "conformance-posted";

/// A request is refused with a status.
async fn refused(request: HttpRequest, status: u16, what: &str) -> Outcome {
    let response = request.send().await?;
    ensure!(
        response.status() == status,
        format!("status {status} for {what}"),
        "status {}",
        response.status()
    );
    Ok(())
}

/// The other checks use HTTP/2 for everything if the agent answers `initialize` over it.
async fn http2_is_spoken(agent: Agent) -> Outcome {
    let connection = AcpConnection::new(agent.http1_endpoint().await?.over_http2().await?);
    let (response, answer) = connection.initialize(&agent.initialize_message()).await?;
    let status = response.status();
    if status != 200 {
        // HT-04 is about an agent that refuses `initialize` over each version of HTTP.
        agent.connected_at(agent.http1_endpoint().await?).await?;
    }
    ensure!(status == 200, "status 200 for initialize over HTTP/2", "status {status} with `{answer}`");
    Ok(())
}

async fn initialize_begins_a_connection(agent: Agent) -> Outcome {
    let connection = AcpConnection::new(agent.endpoint().await?);
    let message = agent.initialize_message();
    let (response, answer) = connection.initialize(&message).await?;
    let status = response.status();
    ensure!(status == 200, "status 200 for initialize", "status {status} with `{answer}`");
    let kind = response.header("content-type").unwrap_or_default();
    let is_json = kind.split(';').next().is_some_and(|kind| kind.trim() == "application/json");
    ensure!(is_json, "a body of the type application/json for initialize", "the type `{kind}`");
    let is_answer = is_response_to(&answer, &message["id"]);
    ensure!(is_answer, "the response to initialize in the body", "`{answer}`");
    if answer.get("error").is_some() {
        return Err(Stop::not_applicable(format!("the agent refuses initialize: `{answer}`")));
    }
    let id = connection.id().unwrap_or_default();
    ensure!(!id.is_empty(), "an `Acp-Connection-Id` in the response to initialize", "none");
    Ok(())
}

async fn posts_are_accepted_at_once(agent: Agent) -> Outcome {
    let connection = agent.connected().await?;
    let mut events = stream(&connection, None).await.map_err(Stop::while_preparing)?;
    let request = unknown_method(&json!(POSTED));
    let notification = json!({"jsonrpc": "2.0", "method": "_conformance/unknown", "params": {}});
    for message in [&request, &notification] {
        let mut response = connection.post(message).send().await?;
        let status = response.status();
        ensure!(status == 202, format!("status 202 for a POST of `{message}`"), "status {status}");
        let body = response.bytes().await?;
        let shown = String::from_utf8_lossy(&body);
        ensure!(body.is_empty(), format!("no body for a POST of `{message}`"), "`{shown}`");
    }
    let what = "the response to a posted request, with its id, on the stream of the connection";
    let is_answer = |message: &Value| is_response_to(message, &json!(POSTED));
    read_until(&mut events, what, agent.setting.wait, is_answer).await?;
    Ok(())
}

async fn other_content_types_are_refused(agent: Agent) -> Outcome {
    let connection = agent.connected().await?;
    let first = AcpConnection::new(agent.endpoint().await?);
    for (request, what) in [
        (first.post(&agent.initialize_message()), "initialize as text/plain"),
        (connection.post(&unknown_method(&json!(2))), "a message as text/plain"),
    ] {
        refused(request.header("content-type", "text/plain"), 415, what).await?;
    }
    Ok(())
}

async fn the_connection_id_is_checked(agent: Agent) -> Outcome {
    let connection = AcpConnection::new(agent.endpoint().await?);
    let message = unknown_method(&json!(2));
    let requests = || [("POST", connection.post(&message)), ("GET", connection.get(None))];
    for (method, request) in requests().into_iter().chain([("DELETE", connection.request("DELETE"))]) {
        served(request, 400, &format!("a {method} without `Acp-Connection-Id`")).await?;
    }
    for (method, request) in requests() {
        let request = request.header("acp-connection-id", UNKNOWN);
        served(request, 404, &format!("a {method} with an unknown `Acp-Connection-Id`")).await?;
    }
    Ok(())
}

/// A request is refused with a status. HT-03 is about a method that the agent does not have.
async fn served(request: HttpRequest, status: u16, what: &str) -> Outcome {
    let seen = request.send().await?.status();
    if matches!(seen, 405 | 501) {
        return Err(Stop::inconclusive(format!("{what}: status {seen}")));
    }
    ensure!(seen == status, format!("status {status} for {what}"), "status {seen}");
    Ok(())
}

async fn batches_are_not_implemented(agent: Agent) -> Outcome {
    let connection = agent.connected().await?;
    let batch = json!([unknown_method(&json!(2)), unknown_method(&json!(3))]);
    refused(connection.post(&batch), 501, "a POST of an array").await
}
