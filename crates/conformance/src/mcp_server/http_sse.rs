//! Checks of servers: HTTP+SSE of the first revision, its stream and its endpoint for messages.

use std::time::Duration;

use serde_json::{Value, json};

use super::streamable_http::{LASTING, Session, unique, unique_tool};
use super::{Server, capabilities};
use crate::check::{Check, HTTP, SSE, check};
use crate::conversation::Conversation;
use crate::fault::{Fault, Incoming};
use crate::faults;
use crate::link::events::Event;
use crate::link::http::{HttpResponse, HttpTarget};
use crate::link::http_sse::endpoint_of;
use crate::verdict::{Outcome, Stop, ensure};

pub(super) const CHECKS: &[Check<Server>] = &[
    check!("SSE-01", get_opens_a_stream_and_post_takes_messages, SSE, [
        "opens no stream on GET" => faults::answer_status(|request| request.starts_with("GET"), 404),
        "takes no messages by POST" => faults::answer_status(|request| request.starts_with("POST"), 405),
    ]),
    check!("SSE-02", the_first_event_is_the_endpoint, SSE, [
        "names no endpoint" => edits_endpoint(|event| event.name = None),
        "sends a JSON object in place of a URI" => edits_endpoint(|event| event.data = json!({"uri": event.data}).to_string()),
        "sends something else first" => faults::in_response_to(|request| request.starts_with("GET"), |incoming| match incoming {
            Incoming::Head(head) => vec![Incoming::Head(head), Incoming::Forged(json!({"jsonrpc": "2.0", "method": "notifications/message"}))],
            other => vec![other],
        }),
    ]),
    check!("SSE-05", messages_are_on_the_stream, SSE, [
        "calls its events data" => faults::each_event(|mut event| {
            event.name = event.name.map(|name| if name == "message" { "data".to_owned() } else { name });
            vec![event]
        }),
        "answers in the response to the POST" => faults::in_response_to(|request| request.contains("\"ping\""), |incoming| match incoming {
            Incoming::Body { exchange, .. } => vec![Incoming::Body { exchange, bytes: br#"{"jsonrpc":"2.0","id":2,"result":{}}"#.to_vec() }],
            other => vec![other],
        }),
        "answers a POST with status 302" => faults::answer_status(|request| request.contains("\"ping\""), 302),
    ]),
    check!("SSE-08", an_unknown_session_is_refused, SSE, [
        "takes messages of no session" => faults::answer_status(|request| request.contains("\"sessionless\""), 202),
        "fails at an unknown session" => faults::answer_status(|request| request.contains("\"unknown-session\""), 500),
    ]),
    check!("SSE-11", the_session_ends_with_its_stream, SSE, [
        "takes messages after the end of the stream" => faults::answer_status(|request| request.contains("\"after-the-end\""), 202),
        "lets a call go on after the end of the stream" => faults::each_response(|message| {
            if message["id"] == "after" && message.get("result").is_some() {
                message["result"] = json!({"content": [{"type": "text", "text": "finished"}]});
            }
        }),
    ]),
    check!("SSE-13", a_malformed_message_gets_400, SSE, [
        "takes anything" => faults::answer_status(is_malformed, 202),
        "answers with status 500 to what is no JSON" => faults::answer_status(|request| request.ends_with("{\"jsonrpc\":"), 500),
    ]),
    check!("SSE-14", messages_reach_their_own_client, SSE, [
        "sends each response to every client" => faults::each_event(|event| {
            let other = match &event.data {
                data if data.contains("\"of-the-first\"") => "of-the-second",
                data if data.contains("\"of-the-second\"") => "of-the-first",
                _ => return vec![event],
            };
            let data = json!({"jsonrpc": "2.0", "id": other, "result": {}}).to_string();
            vec![event.clone(), Event { data, ..event }]
        }),
    ]),
    check!("SSE-15", everything_works, SSE, [
        "loses the response to a call" => faults::loses_response_to("tools/call"),
        "reports no progress" => faults::each_call("notifications/progress", |message| *message = Value::Null),
        "asks its client nothing" => faults::each_message(|message| {
            if message.get("id").is_some() && message.get("method").is_some() { *message = Value::Null }
        }),
    ]),
    check!("SSE-16", both_transports_are_served, HTTP, [
        "takes no messages of older clients" => faults::answer_status(|request| request.starts_with("POST") && request.contains("2024-11-05"), 404),
        "answers older clients nothing" => faults::each_response(|message| if message["id"] == "older" { *message = Value::Null }),
    ]),
];

fn is_malformed(request: &str) -> bool {
    ["{\"jsonrpc\":", "\n\n{\"a\":1}"].iter().any(|end| request.ends_with(end))
}

fn edits_endpoint(edit: fn(&mut Event)) -> Box<dyn Fault> {
    faults::each_event(move |mut event| {
        if event.name.as_deref() == Some("endpoint") {
            edit(&mut event);
        }
        vec![event]
    })
}

/// Opens a stream and reads where messages go.
pub(super) async fn opened(server: &Server) -> Outcome<(HttpResponse, HttpTarget)> {
    open_at(&server.http().await?).await
}

async fn open_at(target: &HttpTarget) -> Outcome<(HttpResponse, HttpTarget)> {
    let mut stream = target.request("GET").header("accept", "text/event-stream").send().await?;
    let endpoint = target.endpoint(&endpoint_of(&mut stream).await?)?;
    Ok((stream, endpoint))
}

fn initialize(server: &Server, id: &str) -> Value {
    let mut params = server.initialize(capabilities(server.revision()));
    params["protocolVersion"] = json!("2024-11-05");
    json!({"jsonrpc": "2.0", "id": id, "method": "initialize", "params": params})
}

fn ping(id: &str) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": "ping"})
}

/// Posts a message that the server has to take.
async fn post(endpoint: &HttpTarget, message: &Value) -> Outcome<HttpResponse> {
    let response = endpoint.request("POST").json(message).send().await?;
    let status = response.status();
    ensure!((200..300).contains(&status), format!("a status of 2xx for `{message}`"), "status {status}");
    Ok(response)
}

async fn get_opens_a_stream_and_post_takes_messages(server: Server) -> Outcome {
    let (mut stream, endpoint) = opened(&server).await?;
    post(&endpoint, &initialize(&server, "first")).await?;
    stream.response(&json!("first")).await.map(drop)
}

async fn the_first_event_is_the_endpoint(server: Server) -> Outcome {
    let target = server.http().await?;
    let mut stream = target.request("GET").header("accept", "text/event-stream").send().await?;
    let reference = endpoint_of(&mut stream).await?;
    let is_uri = !reference.is_empty()
        && reference.bytes().all(|byte| (0x21..0x7f).contains(&byte) && !b"\"<>\\^`{|}".contains(&byte));
    ensure!(is_uri, "a URI as the data of the endpoint event", "`{reference}`");
    target.at(&reference)?;
    Ok(())
}

async fn messages_are_on_the_stream(server: Server) -> Outcome {
    let (mut stream, endpoint) = opened(&server).await?;
    for message in [initialize(&server, "initialize"), ping("ping")] {
        let mut response = post(&endpoint, &message).await?;
        let body = response.bytes().await?;
        let is_message =
            serde_json::from_slice::<Value>(&body).is_ok_and(|body| body.get("jsonrpc").is_some());
        ensure!(
            !is_message,
            "no JSON-RPC message in the response to a POST",
            "`{}`",
            String::from_utf8_lossy(&body)
        );
        loop {
            let Some(event) = stream.event(endpoint.wait()).await? else {
                return Err(Stop::failed(format!("the response to `{message}`"), "the stream ended"));
            };
            let Ok(carried) = serde_json::from_str::<Value>(&event.data) else {
                ensure!(!event.is_message(), "JSON as the data of a message event", "`{}`", event.data);
                continue;
            };
            ensure!(
                event.is_message(),
                "an event of the type message for each message",
                "`{}`",
                event.to_text()
            );
            if carried["id"] == message["id"] {
                break;
            }
        }
    }
    Ok(())
}

/// An endpoint of a session that does not exist: the last letters and digits of a real one are others.
fn unknown_endpoint(endpoint: &HttpTarget) -> Outcome<HttpTarget> {
    let path = endpoint.path();
    let replaced: String = path.chars().rev().take_while(char::is_ascii_alphanumeric).map(|_| '0').collect();
    let kept = &path[..path.len() - replaced.len()];
    endpoint.at(&format!("{kept}{replaced}"))
}

async fn an_unknown_session_is_refused(server: Server) -> Outcome {
    let (_stream, endpoint) = opened(&server).await?;
    let (_other, second) = opened(&server).await?;
    if endpoint.path() == second.path() {
        return Err(Stop::not_applicable("the endpoint is the same for every session"));
    }
    let unknown = unknown_endpoint(&endpoint)?;
    if unknown.path() == endpoint.path() {
        return Err(Stop::not_applicable("the endpoint does not end with a session id"));
    }
    let status = unknown.request("POST").json(&ping("unknown-session")).send().await?.status();
    let expected = "a status of 4xx for a POST with an unknown session id";
    ensure!((400..500).contains(&status), expected, "status {status} for {}", unknown.path());
    if let Some((path, _)) = endpoint.path().split_once('?') {
        let status = endpoint.at(path)?.request("POST").json(&ping("sessionless")).send().await?.status();
        let expected = "a status of 4xx for a POST without a session id";
        ensure!((400..500).contains(&status), expected, "status {status} for {path}");
    }
    Ok(())
}

/// Calls a tool over a stream of its own: the result.
async fn call_aside(server: &Server, id: &str, tool: &Value) -> Outcome<Value> {
    let mut conversation = server.open().await?;
    conversation.start_as(json!(id), "tools/call", tool.clone()).await?;
    Ok(conversation.response(&json!(id)).await?["result"].take())
}

async fn the_session_ends_with_its_stream(server: Server) -> Outcome {
    let (mut stream, endpoint) = opened(&server).await?;
    post(&endpoint, &initialize(&server, "initialize")).await.map_err(Stop::while_preparing)?;
    stream.response(&json!("initialize")).await.map_err(Stop::while_preparing)?;
    post(&endpoint, &super::streamable_http::initialized()).await.map_err(Stop::while_preparing)?;
    let key = unique("ended")?;
    let mut running = None;
    if let (Ok(slow), Ok(marks)) =
        (unique_tool(&server, "lasting", &key), unique_tool(&server, "marks", &key))
    {
        let before = call_aside(&server, "before", &marks).await.map_err(Stop::while_preparing)?;
        let call = json!({"jsonrpc": "2.0", "id": "slow", "method": "tools/call", "params": slow});
        post(&endpoint, &call).await.map_err(Stop::while_preparing)?;
        // The call has to have begun.
        stream.event_or_silence(super::streamable_http::QUIET).await?;
        running = Some((marks, before));
    }
    drop(stream);
    let until = tokio::time::Instant::now() + endpoint.wait().min(Duration::from_secs(3));
    loop {
        let status = endpoint.request("POST").json(&ping("after-the-end")).send().await?.status();
        if (400..500).contains(&status) {
            break;
        }
        let expected = "a status of 4xx for a POST after the stream was closed";
        ensure!(tokio::time::Instant::now() < until, expected, "status {status}");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    if let Some((marks, before)) = running {
        // As long as the call would have taken, and a little more.
        tokio::time::sleep(LASTING).await;
        let after = call_aside(&server, "after", &marks).await?;
        ensure!(after == before, "no effect of a call whose stream was closed", "`{after}`");
    }
    Ok(())
}

async fn a_malformed_message_gets_400(server: Server) -> Outcome {
    let (_stream, endpoint) = opened(&server).await?;
    for body in ["{\"jsonrpc\":", "{\"a\":1}"] {
        let request = endpoint.request("POST").json(&Value::Null).body(body);
        let status = request.send().await?.status();
        ensure!(status == 400, format!("status 400 for the body `{body}`"), "status {status}");
    }
    Ok(())
}

async fn messages_reach_their_own_client(server: Server) -> Outcome {
    let (mut first, mut second) = (server.open().await?, server.open().await?);
    let pairs = [(&mut first, "of-the-first"), (&mut second, "of-the-second")];
    for (conversation, id) in pairs {
        conversation.start_as(json!(id), "ping", json!({})).await?;
    }
    for (conversation, id) in [(&mut first, "of-the-first"), (&mut second, "of-the-second")] {
        conversation.response(&json!(id)).await?;
        for arrived in conversation.listen(super::streamable_http::QUIET).await? {
            let is_foreign = arrived.message.get("method").is_none();
            ensure!(!is_foreign, "responses at the client that asked", "`{}` at another", arrived.message);
        }
    }
    Ok(())
}

async fn everything_works(server: Server) -> Outcome {
    server.needs("/tools").await?;
    let mut conversation = server.open().await?;
    conversation.ok("tools/list", json!({})).await?;
    let tool = server.any_tool(&mut conversation).await?;
    conversation.ok("tools/call", tool).await?;
    if let Ok(mut tool) = server.tool("progress") {
        tool["_meta"] = json!({"progressToken": "over-sse"});
        conversation.ok("tools/call", tool).await?;
        let reported = |message: &Value| message["params"]["progressToken"] == "over-sse";
        ensure!(conversation.queued().any(reported), "progress of a call on the stream", "none came");
    }
    if let Ok(tool) = server.tool("sampling") {
        asks_and_is_answered(&mut conversation, tool).await?;
    }
    Ok(())
}

async fn asks_and_is_answered(conversation: &mut Conversation, tool: Value) -> Outcome {
    let id = conversation.start("tools/call", tool).await?;
    conversation.response(&id).await.map_err(|stop| match stop {
        Stop::Failed(failure) => Stop::failed("a response to a tool that asks the client", failure.seen),
        other => other,
    })?;
    ensure!(!conversation.asked.is_empty(), "a request to the client on the stream", "none came");
    Ok(())
}

async fn both_transports_are_served(server: Server) -> Outcome {
    let target = server.http().await?;
    let older = target.at(&target.path().replace("/mcp", "/sse"))?;
    if older.path() == target.path() {
        return Err(Stop::not_applicable(
            "the URL names no path `/mcp`, beside which the older one would be",
        ));
    }
    let mut stream = older.request("GET").header("accept", "text/event-stream").send().await?;
    let Ok(reference) = endpoint_of(&mut stream).await else {
        return Err(Stop::not_applicable("the server offers no endpoint for clients of 2024-11-05"));
    };
    let endpoint = older.endpoint(&reference)?;
    post(&endpoint, &initialize(&server, "older")).await?;
    let response = stream.response(&json!("older")).await?;
    let version = response.pointer("/result/protocolVersion");
    ensure!(version.is_some(), "a result of initialize on the older transport", "`{response}`");
    let session = Session::open(&server).await?;
    session.works("newer").await?;
    session.end().await
}
