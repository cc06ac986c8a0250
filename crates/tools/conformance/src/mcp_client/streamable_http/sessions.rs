//! Checks of clients: sessions of Streamable HTTP, and the version header.

use std::collections::HashSet;
use std::time::Duration;

use serde_json::json;

use crate::check::{Check, HTTP, audit, check};
use crate::fault::ClientRequest;
use crate::link::played_http::{is_modern, requests_in, text};
use crate::mcp_client::McpClient;
use crate::mcp_client::host::{Host, start_call};
use crate::mcp_client::script::Script;
use crate::mcp_client::streamable_http::some;
use crate::requirements::revision::Revision;
use crate::trace::{Part, Sender, Trace};
use crate::verdict::{Outcome, Stop, ensure};

pub(in crate::mcp_client) const CHECKS: &[Check<McpClient>] = &[
    audit!(session_id_is_on_each_request, HTTP),
    check!(no_session_id_without_one, HTTP),
    check!(lost_session_is_begun_anew, HTTP),
    check!(session_is_ended, HTTP),
    check!(refused_delete_is_accepted, HTTP),
    audit!(version_is_on_each_request, HTTP),
    check!(version_is_the_negotiated_one, HTTP),
];

/// The requests that a client makes in a session, each with the session ids given up to then. Those that begin a session, that
/// probe for a modern server or that belong to another protocol are left out.
fn in_session(trace: &Trace) -> Outcome<Vec<(ClientRequest, HashSet<String>)>> {
    let mut issued = HashSet::new();
    let mut numbers = Vec::new();
    for event in trace.events().iter().filter(|event| event.what == Part::Head) {
        if event.from == Sender::Subject {
            numbers.push(issued.clone());
            continue;
        }
        let head = String::from_utf8_lossy(&event.bytes).into_owned();
        issued
            .extend(head.lines().filter_map(|line| line.strip_prefix("mcp-session-id: ")).map(str::to_owned));
    }
    let all = requests_in(trace).into_iter().zip(numbers);
    some(all.filter(|(request, issued)| !issued.is_empty() && is_in_session(request)))
}

fn is_in_session(request: &ClientRequest) -> bool {
    let is_probe = request.message().is_some_and(|message| is_modern(&message));
    let begins = request.calls("initialize") || request.calls("server/discover");
    request.target == "/mcp" && !begins && !is_probe
}

fn session_id_is_on_each_request(_: &McpClient, trace: &Trace) -> Outcome {
    for (request, issued) in in_session(trace)? {
        ensure!(
            request.header("mcp-session-id").is_some_and(|id| issued.contains(id)),
            "the session id that the server gave, in each request of the session",
            "{}",
            text(&request)
        );
    }
    Ok(())
}

fn version_is_on_each_request(_: &McpClient, trace: &Trace) -> Outcome {
    // A client that refuses the server's version ends the session without having negotiated one.
    let mut negotiated = HashSet::new();
    for (request, _) in in_session(trace)? {
        let session = request.header("mcp-session-id").map(str::to_owned);
        if request.calls("notifications/initialized") {
            negotiated.insert(session.clone());
        }
        ensure!(
            !negotiated.contains(&session) || request.header("mcp-protocol-version").is_some(),
            "an MCP-Protocol-Version header in each request of the session",
            "{}",
            text(&request)
        );
    }
    Ok(())
}

async fn no_session_id_without_one(client: McpClient) -> Outcome {
    let (mut driver, mut host) = client.host().await?;
    host.session = None;
    let step = driver.start("list_tools", json!({})).await?;
    host.ok(&mut driver, step).await.map_err(Stop::while_preparing)?;
    host.close(&mut driver).await.map_err(Stop::while_preparing)?;
    host.serve(Duration::from_millis(200)).await?;
    for request in &host.seen {
        ensure!(
            request.header("mcp-session-id").is_none(),
            "no session id where the server gave none",
            "{}",
            text(request)
        );
    }
    Ok(())
}

async fn lost_session_is_begun_anew(client: McpClient) -> Outcome {
    let (mut driver, mut host) = client.host().await?;
    if !driver.takes_steps() {
        return Err(Stop::not_applicable(
            "each step of the client is a process, which begins a session anyway",
        ));
    }
    host.connect(&mut driver).await?;
    let lost = start_call(&mut driver).await?;
    let mut call = host.call("tools/call").await.map_err(Stop::while_preparing)?;
    call.status(404)?;
    // The client may begin the session at once and repeat the call, or fail the call and begin it with the next step.
    let began = |request: &ClientRequest| request.calls("initialize");
    let second = |host: &Host| host.seen.iter().filter(|request| began(request)).nth(1).cloned();
    if let Some(again) = host.within(Duration::from_millis(300), began).await? {
        host.answer(again).await?;
    }
    if second(&host).is_none() {
        let _either = host.outcome(&mut driver, lost).await;
    }
    if second(&host).is_none() {
        start_call(&mut driver).await?;
        let again = host.until("a POST of initialize after status 404", began).await?;
        host.answer(again).await?;
    }
    let again = second(&host).ok_or_else(|| Stop::inconclusive("the client begins no session"))?;
    ensure!(
        again.header("mcp-session-id").is_none(),
        "initialize without the id of the lost session",
        "{}",
        text(&again)
    );
    Ok(())
}

async fn session_is_ended(client: McpClient) -> Outcome {
    let (mut driver, mut host) = client.host().await?;
    let step = driver.start("list_tools", json!({})).await?;
    host.ok(&mut driver, step).await.map_err(Stop::while_preparing)?;
    host.close(&mut driver).await.map_err(Stop::while_preparing)?;
    let is_delete = |request: &ClientRequest| request.method == "DELETE";
    if !host.seen.iter().any(is_delete) {
        host.until("DELETE of the session that is no longer needed", is_delete).await?;
    }
    Ok(())
}

async fn refused_delete_is_accepted(client: McpClient) -> Outcome {
    let (mut driver, mut host) = client.host().await?;
    host.delete_status = 405;
    let step = driver.start("list_tools", json!({})).await?;
    let mut ended = host.ok(&mut driver, step).await.map(drop);
    if ended.is_ok() {
        ended = host.close(&mut driver).await;
    }
    host.serve(Duration::from_millis(300)).await?;
    let count = host.seen.iter().filter(|request| request.method == "DELETE").count();
    if count == 0 {
        ended.map_err(Stop::while_preparing)?;
        return Err(Stop::not_applicable("the client sends no DELETE"));
    }
    // One repetition is a client's own business.
    ensure!(
        count <= 2,
        "a client that accepts status 405 as the answer to DELETE",
        "it sent DELETE {count} times"
    );
    // A step that fails after the refused DELETE fails by it.
    ended
}

async fn version_is_the_negotiated_one(client: McpClient) -> Outcome {
    let older = match client.revision() {
        Revision::Mcp20251125 => Revision::Mcp20250618,
        other => other,
    };
    let (mut driver, mut host) = client.host().await?;
    host.script(Script::new(older));
    let step = driver.start("list_tools", json!({})).await?;
    let list =
        host.until("a POST of tools/list in the older version", |request| request.calls("tools/list")).await;
    let Ok(list) = list else {
        return Err(Stop::not_applicable(format!("the client does not go on in {older}")));
    };
    host.answer(list).await?;
    host.ok(&mut driver, step).await.map_err(Stop::while_preparing)?;
    host.close(&mut driver).await.map_err(Stop::while_preparing)?;
    let negotiated: Vec<&ClientRequest> =
        host.seen.iter().skip_while(|request| !request.calls("initialize")).skip(1).collect();
    for request in negotiated {
        ensure!(
            request.header("mcp-protocol-version").is_none_or(|version| version == older.as_str()),
            format!("{older}, the negotiated version, in the MCP-Protocol-Version header"),
            "{}",
            text(request)
        );
    }
    Ok(())
}
