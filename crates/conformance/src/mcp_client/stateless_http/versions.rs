//! Checks of clients: refusals since 2026-07-28, and what a client learns of its server from them.

use serde_json::{Value, json};

use super::VERSION;
use crate::check::{Check, HTTP, check};
use crate::driver::{Driver, StepId};
use crate::fault::{Answer, ClientRequest};
use crate::faults;
use crate::mcp_client::McpClient;
use crate::mcp_client::host::{Host, ServerKind, start_call, words};
use crate::mcp_client::http_sse::fallback::falls_back;
use crate::mcp_client::script::Script;
use crate::played_http::{Exchange, text};
use crate::revision::Revision;
use crate::verdict::{Outcome, Stop, ensure};

pub(in crate::mcp_client) const CHECKS: &[Check<McpClient>] = &[
    check!("ST-11", unknown_methods_are_no_missing_endpoints, HTTP, [
        "does not read the body of status 404" => faults::misreads(|answer| Some(match answer {
            Answer::Body(body) if body.windows(8).any(|part| part == b"penguins") => Answer::Body(Vec::new()),
            other => other,
        })),
        "takes each status 404 for an unknown method" => faults::each_outcome(|outcome| {
            outcome["error"] = json!({"code": -32601, "message": "no method for penguins"});
        }),
    ]),
    check!("ST-37", body_of_status_400_is_read, HTTP, [
        "begins a session after each status 400" => faults::adds_request(|request| {
            let mut post = request.clone();
            let params = json!({"protocolVersion": "2025-11-25"});
            let message = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params});
            post.body = message.to_string().into_bytes();
            request.headers.iter().any(|(name, _)| name == "mcp-method").then_some(post)
        }),
        "gives up after a body that it does not know" => faults::steps_fail(),
    ]),
    check!("ST-38", refused_initialize_leads_to_the_older_transport, HTTP, [
        "sends nothing to the endpoint" => faults::loses_requests(|request| request.target.starts_with("/messages")),
    ]),
    check!("ST-41", kind_of_server_is_remembered, HTTP, [
        "probes before each call" => faults::adds_request(|request| {
            let mut probe = request.clone();
            let message = json!({"jsonrpc": "2.0", "id": "probe", "method": "server/discover", "params": {}});
            probe.body = message.to_string().into_bytes();
            request.calls("tools/call").then_some(probe)
        }),
    ]),
    check!("ST-42", version_is_taken_from_the_list, HTTP, [
        "takes a version that is not in the list" => faults::each_call("initialize", |message| {
            message["params"]["protocolVersion"] = json!("2024-10-07");
        }),
        "tries again and again" => faults::each_request(|request| vec![request; 9]),
        "reports no error" => faults::steps_succeed(),
    ]),
];

fn error_of(request: &ClientRequest, code: i64, message: &str, data: Value) -> Value {
    let id = request.message().unwrap_or_default()["id"].clone();
    json!({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": message, "data": data}})
}

async fn unknown_methods_are_no_missing_endpoints(client: McpClient) -> Outcome {
    let mut outcomes = Vec::new();
    for has_body in [true, false] {
        let (mut driver, mut host) = client.host().await?;
        let step = start_call(&mut driver).await?;
        let mut call = host.call("tools/call").await.map_err(Stop::while_preparing)?;
        if has_body {
            let error = error_of(&call.request, -32601, "no method for penguins", Value::Null);
            call.json(404, &[], &error).await?;
        } else {
            call.respond(404, &[("content-type", "text/html")], b"<html>not here</html>")?;
        }
        outcomes.push(words(&host.error(&mut driver, step).await?));
    }
    ensure!(
        outcomes[0].contains("no method for penguins"),
        "the message of the JSON-RPC error in the body of status 404",
        "`{}`",
        outcomes[0]
    );
    ensure!(
        !outcomes[1].contains("no method for penguins") && !outcomes[1].contains("-32601"),
        "another error for a status 404 without JSON-RPC",
        "`{}`",
        outcomes[1]
    );
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

/// What a client does after a refusal.
enum Reaction {
    Post(Exchange),
    /// The step ends with this outcome.
    End(Value),
}

async fn reaction(
    client: &McpClient,
    driver: &mut Driver,
    host: &mut Host,
    step: StepId,
) -> Outcome<Reaction> {
    let wait = client.setting.wait;
    tokio::select! {
        biased;
        post = host.within(wait * 2, |request| request.method == "POST") => match post? {
            Some(post) => Ok(Reaction::Post(post)),
            None => Err(Stop::failed("the client's step ends", "it did not end in time")),
        },
        outcome = driver.outcome(step, wait) => outcome.map(Reaction::End),
    }
}

async fn body_of_status_400_is_read(client: McpClient) -> Outcome {
    let foreign = json!({"jsonrpc": "2.0", "id": null, "error": {"code": -32000, "message": "Bad Request"}});
    let bodies = [String::new(), "<html>bad request</html>".into(), foreign.to_string()];
    for body in bodies {
        let (mut driver, mut host, step, mut first) = first_post(&client).await?;
        first.respond(400, &[], body.as_bytes())?;
        host.kind = ServerKind::Session;
        host.script(Script::new(Revision::Mcp20251125));
        let Reaction::Post(post) = reaction(&client, &mut driver, &mut host, step).await? else {
            return Err(Stop::not_applicable("the client speaks no revision with sessions"));
        };
        ensure!(
            post.request.calls("initialize"),
            format!("initialize after status 400 with the body `{body}`"),
            "{}",
            text(&post.request)
        );
        host.answer(post).await?;
        host.ok(&mut driver, step).await?;
    }
    for code in [-32020, -32021] {
        let (mut driver, mut host, step, mut first) = first_post(&client).await?;
        let error = error_of(&first.request, code, "refused", json!({"requiredCapabilities": {}}));
        first.json(400, &[], &error).await?;
        let mut posts = 0;
        while let Reaction::Post(mut post) = reaction(&client, &mut driver, &mut host, step).await? {
            ensure!(
                !post.request.calls("initialize"),
                format!("no initialize after status 400 with the error {code}"),
                "{}",
                text(&post.request)
            );
            posts += 1;
            ensure!(posts < 5, format!("an end of the retries after the error {code}"), "{posts} POSTs more");
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
    host.ok(&mut driver, step).await.map(drop)
}

async fn kind_of_server_is_remembered(client: McpClient) -> Outcome {
    let (mut driver, mut host) = client.host().await?;
    if !driver.takes_steps() {
        return Err(Stop::not_applicable("each step of the client is a process, which remembers nothing"));
    }
    host.connect(&mut driver).await?;
    for _ in 0..3 {
        let step = start_call(&mut driver).await?;
        host.ok(&mut driver, step).await?;
    }
    let is_probe = |request: &&ClientRequest| request.calls("server/discover") || request.calls("initialize");
    let probes = host.seen.iter().filter(is_probe).count();
    ensure!(probes <= 1, "one probe of the server at most", "{probes} in {} requests", host.seen.len());
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
    if let Reaction::Post(retry) = reaction(&client, &mut driver, &mut host, step).await? {
        let version = version_of(&retry.request);
        ensure!(
            version.as_deref().is_some_and(|version| supported.contains(&version)),
            format!("a retry with one of the versions {supported:?}"),
            "{}",
            text(&retry.request)
        );
        host.answer(retry).await?;
        host.ok(&mut driver, step).await?;
    }
    let (mut driver, mut host, step, mut post) = first_post(&client).await?;
    let mut posts = 1;
    loop {
        let data = json!({"supported": ["1999-01-01"], "requested": version_of(&post.request)});
        let error = error_of(&post.request, -32022, "Unsupported protocol version", data);
        post.json(400, &[], &error).await?;
        match reaction(&client, &mut driver, &mut host, step).await? {
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
        posts += 1;
        ensure!(posts < 6, "an error, since there is no common version", "{posts} POSTs");
    }
}
