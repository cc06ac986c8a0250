//! Checks of clients: Streamable HTTP, and what every POST of it has.

pub(super) mod failures;
pub(super) mod sessions;
pub(super) mod streams;

use std::time::Duration;

use serde_json::{Value, json};

use super::McpClient;
use super::host::{Host, start_call, start_call_of};
use crate::check::{Check, HTTP, audit, check};
use crate::fault::ClientRequest;
use crate::link::events::Event;
use crate::link::played_http::{EventStream, Exchange, requests_in, text};
use crate::trace::Trace;
use crate::verdict::{Outcome, Stop, ensure};

pub(super) const CHECKS: &[Check<McpClient>] = &[
    audit!(each_message_has_a_post, HTTP),
    audit!(posts_accept_both_kinds, HTTP),
    audit!(bodies_are_single_messages, HTTP),
    check!(both_kinds_of_answers_are_read, HTTP),
    check!(cancellation_has_a_post, HTTP),
    check!(get_accepts_event_streams, HTTP),
    check!(session_outlives_a_refused_get, HTTP),
    check!(concurrent_streams_are_told_apart, HTTP),
    check!(requests_are_answered_on_each_stream, HTTP),
];

/// The POSTs of a client, of which there have to be some.
fn posts(trace: &Trace) -> Outcome<Vec<ClientRequest>> {
    let is_post = |request: &ClientRequest| request.method == "POST" && request.target == "/mcp";
    some(requests_in(trace).into_iter().filter(is_post))
}

/// An audit without a message to look at is inconclusive.
pub(super) fn some<T>(found: impl Iterator<Item = T>) -> Outcome<Vec<T>> {
    let found: Vec<T> = found.collect();
    if found.is_empty() { Err(Stop::not_applicable("the client sent no such request")) } else { Ok(found) }
}

fn each_message_has_a_post(_: &McpClient, trace: &Trace) -> Outcome {
    for request in posts(trace)? {
        ensure!(
            request.message().is_some(),
            "one JSON-RPC message as the body of each POST",
            "{}",
            text(&request)
        );
    }
    Ok(())
}

fn posts_accept_both_kinds(_: &McpClient, trace: &Trace) -> Outcome {
    for request in posts(trace)? {
        let lists = |kind: &str| accepts(&request, kind);
        ensure!(
            lists("application/json") && lists("text/event-stream"),
            "application/json and text/event-stream in the Accept header of each POST",
            "{}",
            text(&request)
        );
    }
    Ok(())
}

/// Whether one of the Accept headers lists a media type.
fn accepts(request: &ClientRequest, kind: &str) -> bool {
    let values =
        request.headers.iter().filter(|(name, _)| name == "accept").flat_map(|(_, value)| value.split(','));
    values
        .map(|value| value.split(';').next().unwrap_or_default().trim())
        .any(|value| value.eq_ignore_ascii_case(kind))
}

fn bodies_are_single_messages(_: &McpClient, trace: &Trace) -> Outcome {
    for request in posts(trace)? {
        ensure!(
            request.message().is_none_or(|message| !message.is_array()),
            "one message as the body of each POST, and no array",
            "{}",
            text(&request)
        );
    }
    Ok(())
}

async fn both_kinds_of_answers_are_read(client: McpClient) -> Outcome {
    // Every other answer is an event stream; the first is one in the second round.
    for first in [false, true] {
        let (mut driver, mut host) = client.host().await?;
        let step = driver.start("list_tools", json!({})).await?;
        let (mut streams, mut is_answered) = (first, false);
        for method in ["initialize", "tools/list"] {
            if method == "initialize" && !client.revision().is_legacy() {
                continue;
            }
            let call = host.call(method).await;
            // The client that comes so far has read the answer to its first request.
            let call = if is_answered { call? } else { call.map_err(Stop::while_preparing)? };
            is_answered = true;
            if streams {
                answer_by_stream(&mut host, call).await?
            } else {
                host.answer(call).await?
            }
            streams = !streams;
        }
        host.ok(&mut driver, step).await?;
    }
    Ok(())
}

/// Answers a request by an event stream of a form that the specification of server-sent events allows.
async fn answer_by_stream(host: &mut Host, mut call: Exchange) -> Outcome {
    let request = call.request.message().unwrap_or_default();
    let response = host.response(&request);
    let session = host.session.filter(|_| request["method"] == "initialize");
    let headers: Vec<(&str, &str)> = session.map(|session| ("mcp-session-id", session)).into_iter().collect();
    let stream = call.stream(&headers)?;
    stream.bytes(b": the beginning\r\n\r\n").await?;
    let comment = Event { comments: vec!["still at work".into()], ..Event::default() };
    stream.event(&comment).await?;
    let lines = serde_json::to_string_pretty(&response).unwrap_or_default();
    stream
        .event(&Event { name: Some("message".into()), data: lines, has_data: true, ..Event::default() })
        .await?;
    stream.end();
    Ok(())
}

async fn cancellation_has_a_post(client: McpClient) -> Outcome {
    let (mut driver, mut host) = client.host().await?;
    host.connect(&mut driver).await?;
    let step = start_call(&mut driver).await?;
    let _call = host.call("tools/call").await.map_err(Stop::while_preparing)?;
    driver.start("cancel", json!({"of": step.number()})).await?;
    let cancelled = host.call("notifications/cancelled").await?;
    host.answer(cancelled).await
}

/// Whether a request asks the endpoint for the stream of messages that belong to no request.
fn is_stream(request: &ClientRequest) -> bool {
    request.method == "GET" && request.target == "/mcp"
}

/// Waits for the GET of a client that has connected; one that opens no stream is not bound.
async fn listens(host: &mut Host) -> Outcome<Exchange> {
    let get = host.within(Duration::from_secs(1), is_stream).await?;
    get.ok_or_else(|| Stop::not_applicable("the client opens no stream with GET"))
}

async fn get_accepts_event_streams(client: McpClient) -> Outcome {
    let (mut driver, mut host) = client.host().await?;
    let _step = driver.start("list_tools", json!({})).await?;
    let initialized = host.call("notifications/initialized").await.map_err(Stop::while_preparing)?;
    host.answer(initialized).await?;
    // It may have come earlier, and has its answer then.
    if !host.seen.iter().any(is_stream) {
        let get = listens(&mut host).await?;
        host.answer(get).await?;
    }
    for get in host.seen.iter().filter(|request| is_stream(request)) {
        ensure!(
            accepts(get, "text/event-stream"),
            "text/event-stream in the Accept header of each GET",
            "{}",
            text(get)
        );
    }
    Ok(())
}

async fn session_outlives_a_refused_get(client: McpClient) -> Outcome {
    let (mut driver, mut host) = client.host().await?;
    host.listen_refusal = Some(405);
    let step = driver.start("list_tools", json!({})).await?;
    let list = match host.call("tools/list").await {
        Ok(list) => list,
        // Without a GET before it, the silence has another cause.
        Err(stop) if host.seen.iter().any(is_stream) => return Err(stop),
        Err(stop) => return Err(stop.while_preparing()),
    };
    if !host.seen.iter().any(is_stream) {
        let get = listens(&mut host).await?;
        host.answer(get).await?;
    }
    // The client knows of the refusal before it gets its list.
    host.serve(Duration::from_millis(100)).await?;
    host.answer(list).await?;
    host.ok(&mut driver, step).await?;
    if driver.takes_steps() {
        let step = start_call(&mut driver).await?;
        host.ok(&mut driver, step).await?;
    }
    Ok(())
}

async fn concurrent_streams_are_told_apart(client: McpClient) -> Outcome {
    let (mut driver, mut host) = client.host().await?;
    if !driver.takes_steps() {
        return Err(Stop::not_applicable("one process of the client makes one call"));
    }
    host.connect(&mut driver).await?;
    let mut calls = Vec::new();
    for text in ["one", "two"] {
        let step = start_call_of(&mut driver, "echo", json!({"text": text})).await?;
        let wanted = |request: &ClientRequest| request.calls("tools/call");
        let Some(mut call) = host.within(Duration::from_secs(1), wanted).await? else {
            return Err(Stop::not_applicable("the client makes one call at a time"));
        };
        let stream = call.stream(&[])?;
        let id = call.request.message().unwrap_or_default()["id"].clone();
        calls.push((step, stream, id, text));
    }
    if calls[0].2 == calls[1].2 {
        return Err(Stop::inconclusive("two requests have one id, which another requirement judges"));
    }
    while let Some((step, stream, id, text)) = calls.pop() {
        let result = json!({"content": [{"type": "text", "text": format!("answer {text}")}]});
        stream.message(&json!({"jsonrpc": "2.0", "id": id, "result": result})).await?;
        stream.end();
        let outcome = host.ok(&mut driver, step).await?.to_string();
        ensure!(
            outcome.contains(&format!("answer {text}")),
            format!("the answer {text} as the outcome of the call {text}"),
            "`{outcome}`"
        );
    }
    Ok(())
}

async fn requests_are_answered_on_each_stream(client: McpClient) -> Outcome {
    let (mut driver, mut host) = client.host().await?;
    let _step = driver.start("list_tools", json!({})).await?;
    let mut list = host.call("tools/list").await.map_err(Stop::while_preparing)?;
    let stream = list.stream(&[])?;
    let on_post = answers_ping(&mut host, &stream, "on-post").await?;
    if host.streams.is_empty()
        && let Some(get) = host.within(Duration::from_millis(500), |request| request.method == "GET").await?
    {
        host.answer(get).await?;
    }
    if !on_post {
        return Err(Stop::inconclusive(
            "the client answers no ping on the stream of a POST, which PNG-01 judges",
        ));
    }
    let Some(listening) = host.streams.pop() else { return Ok(()) };
    let on_get = answers_ping(&mut host, &listening, "on-get").await?;
    ensure!(on_get, "a response to a ping on each stream", "no response to the ping on the GET stream");
    Ok(())
}

/// Whether a client answers a ping on a stream.
async fn answers_ping(host: &mut Host, stream: &EventStream, id: &str) -> Outcome<bool> {
    let ping = json!({"jsonrpc": "2.0", "id": id, "method": "ping"});
    stream.message(&ping).await.map_err(Stop::while_preparing)?;
    let is_answer = |message: &Value| message["id"] == id && message.get("method").is_none();
    let wanted = |request: &ClientRequest| request.message().is_some_and(|message| is_answer(&message));
    match host.until("a response to a ping", wanted).await {
        Ok(answer) => host.answer(answer).await.map(|()| true),
        Err(Stop::Failed(_)) => Ok(false),
        Err(stop) => Err(stop),
    }
}
