//! Checks of servers: HTTP+SSE of the first revision, its stream and its endpoint for messages.

use serde_json::{Value, json};

use super::streamable_http::{QUIET, Session, events_until};
use super::{Server, capabilities};
use crate::check::{Check, HTTP, SSE, check};
use crate::link::events::Event;
use crate::link::http::{HttpResponse, HttpTarget};
use crate::link::http_sse::endpoint_of;
use crate::verdict::{Outcome, Stop, ensure};

pub(super) const CHECKS: &[Check<Server>] = &[
    check!(get_opens_a_stream_and_post_takes_messages, SSE),
    check!(the_endpoint_event_has_a_uri, SSE),
    check!(messages_are_on_the_stream, SSE),
    check!(messages_reach_their_own_client, SSE),
    check!(both_transports_are_served, HTTP),
];

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

/// Posts a message to an endpoint that has to be there.
async fn post(endpoint: &HttpTarget, message: &Value) -> Outcome<HttpResponse> {
    let response = endpoint.request("POST").json(message).send().await?;
    let status = response.status();
    let expected = format!("an endpoint that takes messages by POST at {}", endpoint.path());
    ensure!(![404, 405, 501].contains(&status), expected, "status {status}");
    Ok(response)
}

async fn get_opens_a_stream_and_post_takes_messages(server: Server) -> Outcome {
    let target = server.http().await?;
    let mut stream = target.request("GET").header("accept", "text/event-stream").send().await?;
    ensure!(
        stream.status() == 200 && stream.is_stream(),
        "an event stream in response to GET",
        "status {} and {:?}",
        stream.status(),
        stream.header("content-type")
    );
    let reference = endpoint_of(&mut stream).await.map_err(Stop::while_preparing)?;
    let endpoint = target.endpoint(&reference).map_err(Stop::while_preparing)?;
    post(&endpoint, &initialize(&server, "first")).await.map(drop)
}

async fn the_endpoint_event_has_a_uri(server: Server) -> Outcome {
    let target = server.http().await?;
    let stream = target.request("GET").header("accept", "text/event-stream").send().await;
    let mut stream = stream.map_err(Stop::while_preparing)?;
    if stream.status() != 200 || !stream.is_stream() {
        return Err(Stop::inconclusive(format!("GET opens no stream: status {}", stream.status())));
    }
    let is_endpoint = |event: &Event| event.name.as_deref() == Some("endpoint");
    let events = events_until(&mut stream, target.wait(), is_endpoint).await?;
    let endpoint = events.iter().find(|event| is_endpoint(event));
    let seen = || format!("the events {:?}", events.iter().map(Event::to_text).collect::<Vec<_>>());
    let endpoint = endpoint.ok_or_else(|| Stop::failed("an endpoint event on a new stream", seen()))?;
    let reference = &endpoint.data;
    let is_uri = !reference.is_empty()
        && reference.bytes().all(|byte| (0x21..0x7f).contains(&byte) && !b"\"<>\\^`{|}".contains(&byte));
    ensure!(is_uri, "a URI as the data of the endpoint event", "`{reference}`");
    target.at(reference).map(drop)
}

async fn messages_are_on_the_stream(server: Server) -> Outcome {
    let (mut stream, endpoint) = opened(&server).await.map_err(Stop::while_preparing)?;
    for message in [initialize(&server, "initialize"), ping("ping")] {
        let mut response = post(&endpoint, &message).await.map_err(Stop::while_preparing)?;
        let body = response.bytes().await.map_err(Stop::while_preparing)?;
        let is_message =
            serde_json::from_slice::<Value>(&body).is_ok_and(|body| body.get("jsonrpc").is_some());
        ensure!(
            !is_message,
            "no JSON-RPC message in the response to a POST",
            "`{}`",
            String::from_utf8_lossy(&body)
        );
        loop {
            let Some(event) = stream.event(endpoint.wait()).await.map_err(Stop::while_preparing)? else {
                return Err(Stop::inconclusive(format!(
                    "the stream ended without the response to `{message}`"
                )));
            };
            let Ok(carried) = serde_json::from_str::<Value>(&event.data) else {
                ensure!(!event.is_message(), "JSON as the data of a message event", "`{}`", event.data);
                continue;
            };
            ensure!(
                event.is_message() || carried.get("jsonrpc").is_none(),
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

async fn messages_reach_their_own_client(server: Server) -> Outcome {
    let (mut first, mut second) = (server.open().await?, server.open().await?);
    let pairs = [(&mut first, "of-the-first"), (&mut second, "of-the-second")];
    for (conversation, id) in pairs {
        conversation.start_as(json!(id), "ping", json!({})).await?;
    }
    let pairs =
        [(&mut first, "of-the-first", "of-the-second"), (&mut second, "of-the-second", "of-the-first")];
    for (conversation, id, other) in pairs {
        conversation.response(&json!(id)).await.map_err(Stop::while_preparing)?;
        let expected = "no response to the request of another client";
        conversation.silence(QUIET, expected, |message| message["id"] != other).await?;
    }
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
    let stream = older.request("GET").header("accept", "text/event-stream").send().await;
    let mut stream = stream.map_err(Stop::while_preparing)?;
    let Ok(reference) = endpoint_of(&mut stream).await else {
        return Err(Stop::not_applicable("the server offers no endpoint for clients of 2024-11-05"));
    };
    let endpoint = older.endpoint(&reference)?;
    post(&endpoint, &initialize(&server, "older")).await?;
    let response = stream.response(&json!("older")).await?;
    let version = response.pointer("/result/protocolVersion");
    ensure!(version.is_some(), "a result of initialize on the older transport", "`{response}`");
    let session = Session::open(&server).await?;
    session.works("newer").await.map_err(Stop::while_preparing)?;
    session.end().await
}
