//! The stream on which a server answers a request.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::Instant;

use super::{posted, request};
use crate::check::{Check, HTTP, check};
use crate::link::http::HttpResponse;
use crate::mcp_server::Server;
use crate::mcp_server::features::SILENCE;
use crate::verdict::{Outcome, Stop, ensure};

pub(in crate::mcp_server) const CHECKS: &[Check<Server>] = &[
    check!(streams_are_those_of_their_request, HTTP),
    check!(server_sends_no_requests, HTTP),
    check!(stream_ends_after_the_response, HTTP),
    check!(streams_are_not_buffered, HTTP),
    check!(closed_stream_gets_no_messages, HTTP),
    check!(closed_stream_stops_the_work, HTTP),
];

pub(crate) const TOKEN: &str = "conformance";
pub(crate) const ACKNOWLEDGED: &str = "notifications/subscriptions/acknowledged";
pub(crate) const UPDATED: &str = "notifications/resources/updated";
/// The least time that a call takes which a busy server can stop before its effect.
const STOP_TIME: Duration = Duration::from_millis(300);

/// The response to a call that reports progress under a token, which is its id as well.
async fn reporting(server: &Server, token: &str) -> Outcome<HttpResponse> {
    let mut message = request(server, "tools/call", server.tool("progress")?);
    message["id"] = json!(token);
    message["params"]["_meta"]["progressToken"] = json!(token);
    posted(server, &message).await?.send().await.map_err(Stop::while_preparing)
}

async fn streams_are_those_of_their_request(server: Server) -> Outcome {
    let mut streams = Vec::new();
    for token in ["first", "second"] {
        streams.push((token, reporting(&server, token).await?));
    }
    let mut reports = 0;
    for (token, mut stream) in streams {
        if !stream.is_stream() {
            continue;
        }
        while let Some(event) = stream.event(server.setting.wait).await.map_err(Stop::while_preparing)? {
            let Ok(message) = serde_json::from_str::<Value>(&event.data) else { continue };
            if message.get("method").is_none() {
                break;
            }
            if message["method"] == "notifications/progress" {
                reports += 1;
                let expected = format!("progress of the token {token} on the stream of the request with it");
                ensure!(message["params"]["progressToken"] == token, expected, "`{message}`");
            }
        }
    }
    if reports == 0 {
        Err(Stop::not_applicable("the server reports no progress on the streams"))
    } else {
        Ok(())
    }
}

async fn server_sends_no_requests(server: Server) -> Outcome {
    server.needs("/tools").await?;
    let mut conversation = server.open().await?;
    let mut tools: Vec<Value> =
        ["asks", "samples", "lists_roots"].iter().filter_map(|role| server.tool(role).ok()).collect();
    if tools.is_empty() {
        tools.push(server.any_tool(&mut conversation).await?);
    }
    for tool in tools {
        let response = conversation.request("tools/call", tool).await;
        let request = conversation.asked.first();
        ensure!(request.is_none(), "no request from the server", "`{}`", request.unwrap_or(&Value::Null));
        response.map_err(Stop::while_preparing)?;
    }
    Ok(())
}

async fn stream_ends_after_the_response(server: Server) -> Outcome {
    let mut stream = reporting(&server, TOKEN).await?;
    if !stream.is_stream() {
        return Err(Stop::not_applicable("the server answers without a stream"));
    }
    stream.response(&json!(TOKEN)).await.map_err(Stop::while_preparing)?;
    let wait = server.setting.wait;
    let until = Instant::now() + wait;
    while Instant::now() < until {
        match stream.event_or_silence(wait).await? {
            Some(None) => return Ok(()),
            Some(Some(_)) => {}
            None => break,
        }
    }
    let seen = format!("it is open {} ms later", wait.as_millis());
    Err(Stop::failed("the end of the stream after the response", seen))
}

async fn streams_are_not_buffered(server: Server) -> Outcome {
    let listen = json!({"notifications": {"toolsListChanged": true}});
    let listen = posted(&server, &request(&server, "subscriptions/listen", listen)).await?;
    let mut responses = vec![listen.send().await.map_err(Stop::while_preparing)?];
    if server.tool("progress").is_ok() {
        responses.push(reporting(&server, TOKEN).await?);
    }
    responses.retain(HttpResponse::is_stream);
    if responses.is_empty() {
        return Err(Stop::not_applicable("the server answers without a stream"));
    }
    for response in &responses {
        let header = response.header("x-accel-buffering");
        ensure!(
            header.is_some_and(|value| value.eq_ignore_ascii_case("no")),
            "X-Accel-Buffering: no in the head of an event stream",
            "{header:?}"
        );
    }
    Ok(())
}

async fn closed_stream_gets_no_messages(server: Server) -> Outcome {
    server.tool("progress")?;
    let mut conversation = server.open().await?;
    let filter = json!({"notifications": {"toolsListChanged": true}});
    let id = conversation.start("subscriptions/listen", filter).await?;
    let is_first = |message: &Value| message["method"] == ACKNOWLEDGED || message["id"] == id;
    conversation
        .wanted("an answer to subscriptions/listen", is_first)
        .await
        .map_err(Stop::while_preparing)?;
    let stream = reporting(&server, TOKEN).await?;
    if !stream.is_stream() {
        return Err(Stop::not_applicable("the server answers without a stream"));
    }
    drop(stream);
    conversation
        .silence(SILENCE, "no message for a request whose stream is closed", |message| {
            message["params"]["progressToken"] != TOKEN && message["id"] != TOKEN
        })
        .await
}

async fn closed_stream_stops_the_work(server: Server) -> Outcome {
    let uri = server.setting.role("updates_late")?["uri"].clone();
    let message = request(&server, "tools/call", server.tool("updates_late")?);
    let filter = json!({"notifications": {"resourceSubscriptions": [uri]}});
    let is_update = |message: &Value| message["method"] == UPDATED && message["params"]["uri"] == uri;

    // A call that is waited for shows how long the work takes.
    let mut first = server.open().await?;
    first.start("subscriptions/listen", filter.clone()).await?;
    first.call(ACKNOWLEDGED).await.map_err(Stop::while_preparing)?;
    let begun = Instant::now();
    let mut waited = posted(&server, &message).await?.send().await.map_err(Stop::while_preparing)?;
    first.wanted("the update", is_update).await.map_err(Stop::while_preparing)?;
    let takes = begun.elapsed();
    if takes < STOP_TIME {
        return Err(Stop::inconclusive("the call is too short to be stopped before its effect"));
    }
    waited.response(&json!(super::ID)).await.map_err(Stop::while_preparing)?;
    drop(first);

    let mut second = server.open().await?;
    second.start("subscriptions/listen", filter).await?;
    second.call(ACKNOWLEDGED).await.map_err(Stop::while_preparing)?;
    let post = posted(&server, &message).await?;
    // Without a head there is no stream yet; the connection is closed all the same.
    let _closed = tokio::time::timeout(takes / 4, post.send()).await;
    let what = "no effect of a call whose stream was closed";
    second.silence(takes + SILENCE, what, |message| !is_update(message)).await
}
