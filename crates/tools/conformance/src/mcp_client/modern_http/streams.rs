//! Checks of clients: event streams of requests since 2026-07-28.

use std::time::Duration;

use serde_json::json;

use crate::check::{Check, HTTP, check};
use crate::fault::ClientRequest;
use crate::link::events::Event;
use crate::link::played_http::text;
use crate::mcp_client::McpClient;
use crate::mcp_client::host::start_call;
use crate::verdict::{Outcome, Stop, ensure};

pub(in crate::mcp_client) const CHECKS: &[Check<McpClient>] =
    &[check!(comments_are_ignored, HTTP), check!(closed_stream_is_the_cancellation, HTTP)];

async fn comments_are_ignored(client: McpClient) -> Outcome {
    let (mut driver, mut host) = client.host().await?;
    let step = driver.start("list_tools", json!({})).await?;
    let mut list = host.call("tools/list").await.map_err(Stop::while_preparing)?;
    let stream = list.stream(&[("x-accel-buffering", "no")])?;
    for _ in 0..3 {
        stream.event(&Event { comments: vec!["keep-alive".into()], ..Event::default() }).await?;
        host.serve(Duration::from_millis(50)).await?;
    }
    stream.bytes(b":\n\n:no blank after the colon\n\n").await?;
    stream.message(&host.response(&list.request.message().unwrap_or_default())).await?;
    stream.end();
    host.ok(&mut driver, step).await.map(drop)
}

async fn closed_stream_is_the_cancellation(client: McpClient) -> Outcome {
    let (mut driver, mut host) = client.host().await?;
    host.connect(&mut driver).await?;
    let step = start_call(&mut driver).await?;
    let mut call = host.call("tools/call").await.map_err(Stop::while_preparing)?;
    let stream = call.stream(&[])?;
    let comment = Event { comments: vec!["at work".into()], ..Event::default() };
    stream.event(&comment).await.map_err(Stop::while_preparing)?;
    driver.cancel(step).await?;
    if tokio::time::timeout(client.setting.wait, stream.closed()).await.is_err() {
        let seen = format!("it is open {} ms later", client.setting.wait.as_millis());
        return Err(Stop::failed("the client closes the stream of a request that it cancels", seen));
    }
    let is_cancelled = |request: &ClientRequest| request.calls("notifications/cancelled");
    let cancelled = host.within(Duration::from_millis(300), is_cancelled).await?;
    ensure!(
        cancelled.is_none(),
        "no cancelled notification over HTTP",
        "{}",
        cancelled.map(|exchange| text(&exchange.request)).unwrap_or_default()
    );
    Ok(())
}
