//! Checks of clients: refusals and redirects.

use std::time::Duration;

use serde_json::json;

use crate::check::{Check, HTTP, check};
use crate::fault::ClientRequest;
use crate::link::played_http::{HeaderCase, HttpServer, text};
use crate::mcp_client::McpClient;
use crate::mcp_client::host::start_call;
use crate::mcp_client::http_sse::fallback::opens_stream;
use crate::verdict::{Outcome, Stop, ensure};

pub(in crate::mcp_client) const CHECKS: &[Check<McpClient>] = &[
    check!(refused_calls_fail, HTTP),
    check!(redirects_carry_no_secrets, HTTP),
    check!(unauthorized_is_no_older_transport, HTTP),
];

async fn refused_calls_fail(client: McpClient) -> Outcome {
    for body in
        [r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32603,"message":"broken"}}"#, "<html></html>", ""]
    {
        // A client whose connection has ended with the error before may connect again.
        let (mut driver, mut host) = client.host().await?;
        let step = start_call(&mut driver).await?;
        let mut call = host.call("tools/call").await.map_err(Stop::while_preparing)?;
        let kind = if body.starts_with('{') { "application/json" } else { "text/html" };
        call.respond(500, &[("content-type", kind)], body.as_bytes())?;
        let outcome = host.outcome(&mut driver, step).await?;
        // A client that sends the request again may have its answer.
        let calls = host.seen.iter().filter(|request| request.calls("tools/call")).count();
        let expected = "the call that gets status 500 fails";
        ensure!(calls > 1 || outcome.get("error").is_some(), expected, "`{outcome}`");
    }
    Ok(())
}

async fn redirects_carry_no_secrets(client: McpClient) -> Outcome {
    let (mut driver, mut host) = client.host().await?;
    let mut other = HttpServer::listen(&client.setting, HeaderCase::Lower).await?;
    let step = driver.start("list_tools", json!({})).await?;
    let mut list = host.call("tools/list").await.map_err(Stop::while_preparing)?;
    list.respond(307, &[("location", &other.url("/elsewhere"))], b"")?;
    let until = client.setting.wait;
    let is_redirected = |request: &ClientRequest| request.target == "/elsewhere";
    // The client fails the step, or follows the redirect.
    let followed = tokio::select! {
        biased;
        followed = other.next(until) => followed,
        followed = host.within(until, is_redirected) => followed?,
        outcome = driver.outcome(step, until) => outcome.map(|_| None).map_err(Stop::while_preparing)?,
    };
    if let Some(followed) = followed {
        let secrets = ["mcp-session-id", "authorization", "cookie"];
        let secret = secrets.iter().find(|name| followed.request.header(name).is_some());
        ensure!(
            secret.is_none(),
            "neither credentials nor the session id in a request to another origin",
            "{} has the header {}",
            text(&followed.request),
            secret.unwrap_or(&"")
        );
    }
    Ok(())
}

async fn unauthorized_is_no_older_transport(client: McpClient) -> Outcome {
    for status in [401, 403] {
        let (mut driver, mut host) = client.host().await?;
        let step = driver.start("list_tools", json!({})).await?;
        let until = client.setting.wait;
        let refuses = async {
            while let Some(mut exchange) = host.within(until, |_| true).await? {
                if opens_stream(&exchange.request) {
                    return Err(Stop::failed(
                        format!("no attempt at the older transport after status {status}"),
                        text(&exchange.request),
                    ));
                }
                // Nothing names an authorization server.
                exchange.status(if exchange.request.method == "POST" { status } else { 404 })?;
            }
            Ok(())
        };
        tokio::select! {
            biased;
            found = refuses => found?,
            outcome = driver.outcome(step, until) => drop(outcome.map_err(Stop::while_preparing)?),
        }
        let late = host.within(Duration::from_millis(100), opens_stream).await?;
        ensure!(
            late.is_none(),
            format!("no attempt at the older transport after status {status}"),
            "{}",
            late.map(|exchange| text(&exchange.request)).unwrap_or_default()
        );
    }
    Ok(())
}
