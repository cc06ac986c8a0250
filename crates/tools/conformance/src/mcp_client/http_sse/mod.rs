//! Checks of clients: HTTP+SSE.

pub(super) mod fallback;

use std::time::Duration;

use serde_json::json;

use super::McpClient;
use super::host::message_event;
use crate::check::{Check, SSE, check};
use crate::link::events::Event;
use crate::link::played_http::text;
use crate::verdict::{Outcome, Stop, ensure};

pub(super) const CHECKS: &[Check<McpClient>] = &[
    check!(messages_go_to_the_endpoint, SSE),
    check!(each_success_is_accepted, SSE),
    check!(events_are_read_as_browsers_do, SSE),
];

async fn messages_go_to_the_endpoint(client: McpClient) -> Outcome {
    for variant in ["messages?a=1&b=2", "/deep/messages?session=x%20y", "http"] {
        let (mut driver, mut host) = client.host().await?;
        let (endpoint, target) = match variant {
            "http" => (host.server.url("/messages/3?session=3"), "/messages/3?session=3".to_owned()),
            path if path.starts_with('/') => (host.server.path(path), path.to_owned()),
            relative => (relative.to_owned(), format!("/{relative}")),
        };
        host.endpoint.clone_from(&endpoint);
        let _step = driver.start("list_tools", json!({})).await?;
        let stream = host.until("a GET", |request| request.method == "GET").await;
        host.answer(stream.map_err(Stop::while_preparing)?).await?;
        for method in ["initialize", "tools/list"] {
            let post = host.until("a POST", |request| {
                request.calls(method) || request.method == "POST" && request.target != target
            });
            let post = post.await.map_err(Stop::while_preparing)?;
            ensure!(
                post.request.target == target,
                format!("POSTs to {target} after the endpoint event `{endpoint}`"),
                "{}",
                text(&post.request)
            );
            host.answer(post).await?;
        }
    }
    Ok(())
}

async fn each_success_is_accepted(client: McpClient) -> Outcome {
    for status in [200, 202, 204] {
        let (mut driver, mut host) = client.host().await?;
        host.accepted = status;
        let step = driver.start("list_tools", json!({})).await?;
        host.ok(&mut driver, step).await?;
    }
    Ok(())
}

async fn events_are_read_as_browsers_do(client: McpClient) -> Outcome {
    let (mut driver, mut host) = client.host().await?;
    let step = driver.start("list_tools", json!({})).await?;
    let mut first = host.call("initialize").await.map_err(Stop::while_preparing)?;
    if host.streams.is_empty() {
        // The client tries the newer transport first.
        host.answer(first).await?;
        first = host.call("initialize").await.map_err(Stop::while_preparing)?;
    }
    first.status(202)?;
    let initialized = host.response(&first.request.message().unwrap_or_default());
    let ping = json!({"jsonrpc": "2.0", "id": "unknown-type", "method": "ping"}).to_string();
    let stream = host.streams.pop().ok_or_else(|| Stop::inconclusive("the client opened no stream"))?;
    stream.event(&Event { comments: vec!["a comment".into()], ..Event::default() }).await?;
    let unknown = Event { name: Some("weather".into()), data: ping, has_data: true, ..Event::default() };
    stream.event(&unknown).await?;
    stream.message(&initialized).await?;
    // The host accepts messages while it has a stream.
    host.streams.push(stream);
    let mut list = host.call("tools/list").await?;
    list.status(202)?;
    let listed = host.response(&list.request.message().unwrap_or_default());
    let lines = serde_json::to_string_pretty(&listed).unwrap_or_default();
    if let Some(stream) = host.streams.last() {
        stream.event(&Event { data: lines, has_data: true, ..message_event() }).await?;
    }
    host.ok(&mut driver, step).await?;
    host.serve(Duration::from_millis(200)).await?;
    let answered = host
        .seen
        .iter()
        .find(|request| request.message().is_some_and(|message| message["id"] == "unknown-type"));
    ensure!(
        answered.is_none(),
        "no answer to an event of an unknown type",
        "{}",
        answered.map(text).unwrap_or_default()
    );
    Ok(())
}
