//! Checks of clients: refusals since 2026-07-28, and what a client learns of its server from them.

use serde_json::{Value, json};

use super::VERSION;
use crate::check::{Check, HTTP, check};
use crate::fault::ClientRequest;
use crate::link::played_http::{Exchange, text};
use crate::mcp_client::McpClient;
use crate::mcp_client::host::{Host, ServerKind, start_call, words};
use crate::mcp_client::http_sse::fallback::{falls_back, opens_stream};
use crate::mcp_client::script::Script;
use crate::requirements::revision::Revision;
use crate::subject::driver::{Driver, StepId};
use crate::verdict::{Outcome, Stop, ensure};

pub(in crate::mcp_client) const CHECKS: &[Check<McpClient>] = &[
    check!(unknown_methods_are_no_missing_endpoints, HTTP),
    check!(body_of_status_400_is_read, HTTP),
    check!(refused_initialize_leads_to_the_older_transport, HTTP),
    check!(kind_of_server_is_remembered, HTTP),
    check!(version_is_taken_from_the_list, HTTP),
];

fn error_of(request: &ClientRequest, code: i64, message: &str, data: Value) -> Value {
    let id = request.message().unwrap_or_default()["id"].clone();
    json!({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": message, "data": data}})
}

async fn unknown_methods_are_no_missing_endpoints(client: McpClient) -> Outcome {
    for has_body in [true, false] {
        let (mut driver, mut host) = client.host().await?;
        let step = start_call(&mut driver).await?;
        let mut call = host.call("tools/call").await.map_err(Stop::while_preparing)?;
        let before = host.seen.len();
        if has_body {
            let error = error_of(&call.request, -32601, "no method for penguins", Value::Null);
            call.json(404, &[], &error).await?;
        } else {
            call.respond(404, &[("content-type", "text/html")], b"<html>not here</html>")?;
        }
        let outcome = host.error(&mut driver, step).await.map_err(Stop::while_preparing)?;
        let outcome = words(&outcome).to_lowercase();
        let is_unknown = ["penguins", "-32601", "method not found", "unknown method"];
        let is_unknown = is_unknown.iter().any(|part| outcome.contains(part));
        let mut later = host.seen[before..].iter();
        let goes_on = later.any(|request| request.calls("initialize") || opens_stream(request));
        if has_body {
            let expected = "the error of an unknown method after the status 404 with it";
            ensure!(is_unknown && !goes_on, expected, "`{outcome}`{}", host.last());
        } else {
            // A client may look for an older server, whose errors are others.
            let expected = "another error after the status 404 without JSON-RPC";
            ensure!(!is_unknown || goes_on, expected, "`{outcome}`");
        }
    }
    Ok(())
}

/// Connects a client up to its first POST.
async fn first_post(client: &McpClient) -> Outcome<(Driver, Host, StepId, Exchange)> {
    let (mut driver, mut host) = client.host().await?;
    let step = driver.start("list_tools", json!({})).await?;
    let first = host.until("a POST", |request| request.method == "POST").await;
    let first = first.map_err(Stop::while_preparing)?;
    if first.request.calls("initialize") {
        return Err(Stop::not_applicable("the client begins with initialize"));
    }
    Ok((driver, host, step, first))
}

/// How many POSTs after a refusal a check refuses as well.
const MAX_RETRIES: usize = 5;

/// The reaction of a client to a refusal.
enum Reaction {
    Post(Exchange),
    /// The step ends with this outcome.
    End(Value),
}

/// Waits for a POST that a check wants, or for the end of the step.
async fn reaction(
    client: &McpClient,
    driver: &mut Driver,
    host: &mut Host,
    step: StepId,
    mut accept: impl FnMut(&ClientRequest) -> bool,
) -> Outcome<Reaction> {
    let wait = client.setting.wait;
    tokio::select! {
        biased;
        post = host.within(wait * 2, |request| request.method == "POST" && accept(request)) => match post? {
            Some(post) => Ok(Reaction::Post(post)),
            None => Err(Stop::failed("the client's step ends", "it did not end in time")),
        },
        outcome = driver.outcome(step, wait) => outcome.map(Reaction::End),
    }
}

async fn body_of_status_400_is_read(client: McpClient) -> Outcome {
    let foreign = json!({"jsonrpc": "2.0", "id": null, "error": {"code": -32000, "message": "Bad Request"}});
    let bodies = [String::new(), "<html>bad request</html>".into(), foreign.to_string()];
    for body in &bodies {
        let (mut driver, mut host, step, mut first) = first_post(&client).await?;
        first.respond(400, &[], body.as_bytes())?;
        host.kind = ServerKind::Session;
        host.script(Script::new(Revision::Mcp20251125));
        // Until then a client may try other requests of this revision, which get status 400 as well.
        let opens = |request: &ClientRequest| request.calls("initialize");
        match reaction(&client, &mut driver, &mut host, step, opens).await.map_err(Stop::while_preparing)? {
            Reaction::Post(post) => host.answer(post).await?,
            Reaction::End(_) if *body == bodies[0] => {
                return Err(Stop::not_applicable("the client speaks no revision with sessions"));
            }
            Reaction::End(outcome) => {
                let expected = format!("initialize after status 400 with the body `{body}`");
                return Err(Stop::failed(expected, format!("`{outcome}`")));
            }
        }
        host.ok(&mut driver, step).await?;
    }
    for code in [-32020, -32021] {
        let (mut driver, mut host, step, mut first) = first_post(&client).await?;
        let error = error_of(&first.request, code, "refused", json!({"requiredCapabilities": {}}));
        first.json(400, &[], &error).await?;
        for _ in 0..MAX_RETRIES {
            let reaction = reaction(&client, &mut driver, &mut host, step, |_| true).await;
            let Reaction::Post(mut post) = reaction.map_err(Stop::while_preparing)? else { break };
            ensure!(
                !post.request.calls("initialize"),
                format!("no initialize after status 400 with the error {code}"),
                "{}",
                text(&post.request)
            );
            let error = error_of(&post.request, code, "refused", json!({"requiredCapabilities": {}}));
            post.json(400, &[], &error).await?;
        }
    }
    Ok(())
}

async fn refused_initialize_leads_to_the_older_transport(client: McpClient) -> Outcome {
    let (mut driver, mut host) = client.older_host(400, "").await?;
    let step = driver.start("list_tools", json!({})).await?;
    falls_back(&mut host).await?;
    let is_first =
        |request: &ClientRequest| request.calls("initialize") && request.target.starts_with("/messages");
    let post = host.until("a POST of initialize to the endpoint of the older transport", is_first).await?;
    host.answer(post).await?;
    host.ok(&mut driver, step).await.map(drop).map_err(Stop::while_preparing)
}

/// How often a check calls a tool on one connection.
const CALLS: usize = 3;

async fn kind_of_server_is_remembered(client: McpClient) -> Outcome {
    let (mut driver, mut host) = client.host().await?;
    if !driver.takes_steps() {
        return Err(Stop::not_applicable("each step of the client is a process, which remembers nothing"));
    }
    let mut discovered = client.script().result("server/discover");
    discovered["ttlMs"] = json!(3_600_000);
    host.script(client.script().on("server/discover", discovered));
    host.connect(&mut driver).await?;
    let connected = host.seen.len();
    for _ in 0..CALLS {
        let step = start_call(&mut driver).await?;
        host.ok(&mut driver, step).await.map_err(Stop::while_preparing)?;
    }
    let is_probe = |request: &&ClientRequest| request.calls("server/discover") || request.calls("initialize");
    let probes = host.seen[connected..].iter().filter(is_probe).count();
    ensure!(
        probes < CALLS,
        "a call without a probe of the server before it",
        "{probes} probes in {CALLS} calls"
    );
    Ok(())
}

fn version_of(request: &ClientRequest) -> Option<String> {
    let message = request.message()?;
    let pointer = if message["method"] == "initialize" { "/params/protocolVersion" } else { VERSION };
    message.pointer(pointer)?.as_str().map(str::to_owned)
}

async fn version_is_taken_from_the_list(client: McpClient) -> Outcome {
    let supported = ["2025-11-25", "2025-06-18"];
    let (mut driver, mut host, step, mut first) = first_post(&client).await?;
    let data = json!({"supported": supported, "requested": version_of(&first.request)});
    first.json(400, &[], &error_of(&first.request, -32022, "Unsupported protocol version", data)).await?;
    host.kind = ServerKind::Session;
    host.script(Script::new(Revision::Mcp20251125));
    let retry = reaction(&client, &mut driver, &mut host, step, |_| true).await;
    if let Reaction::Post(retry) = retry.map_err(Stop::while_preparing)? {
        let version = version_of(&retry.request);
        ensure!(
            version.as_deref().is_some_and(|version| supported.contains(&version)),
            format!("a retry with one of the versions {supported:?}"),
            "{}",
            text(&retry.request)
        );
    }
    let (mut driver, mut host, step, mut post) = first_post(&client).await?;
    for _ in 0..MAX_RETRIES {
        let data = json!({"supported": ["1999-01-01"], "requested": version_of(&post.request)});
        let error = error_of(&post.request, -32022, "Unsupported protocol version", data);
        post.json(400, &[], &error).await?;
        match reaction(&client, &mut driver, &mut host, step, |_| true).await? {
            Reaction::Post(next) => post = next,
            Reaction::End(outcome) => {
                ensure!(
                    outcome.get("error").is_some(),
                    "an error, since there is no common version",
                    "`{outcome}`"
                );
                return Ok(());
            }
        }
    }
    Err(Stop::failed("an error, since there is no common version", format!("{MAX_RETRIES} POSTs more")))
}
