//! Checks of clients: event streams of requests since 2026-07-28.

use std::time::Duration;

use serde_json::json;

use crate::check::{Check, HTTP, check};
use crate::fault::{Answer, ClientRequest};
use crate::faults;
use crate::link::events::Event;
use crate::mcp_client::McpClient;
use crate::mcp_client::host::start_call;
use crate::played_http::text;
use crate::verdict::{Outcome, Stop, ensure};

pub(in crate::mcp_client) const CHECKS: &[Check<McpClient>] = &[
    check!("ST-31", comments_are_ignored, HTTP, [
        "stops reading at a comment" => faults::misreads({
            let mut commented = false;
            move |answer| {
                commented |= matches!(&answer, Answer::Event(event) if !event.comments.is_empty());
                Some(answer).filter(|answer| !commented || !matches!(answer, Answer::Event(_)))
            }
        }),
        "takes a comment for a message" => faults::steps_fail(),
    ]),
    check!("ST-33", closed_stream_is_the_cancellation, HTTP, [
        "keeps the stream open" => faults::never_closes(),
        "sends a cancelled notification" => faults::adds_request(|request| {
            let id = request.message().unwrap_or_default()["id"].clone();
            let params = json!({"requestId": id});
            let message = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params});
            let mut post = request.clone();
            post.body = message.to_string().into_bytes();
            request.calls("tools/call").then_some(post)
        }),
    ]),
];

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
