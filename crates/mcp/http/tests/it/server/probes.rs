//! Faults that servers in the field are known to have, each of which must not happen here. Most of what there is to say
//! of them stands where the feature is tested; here is the rest. The list is `tests/tests/it/probes.rs`.

use std::time::Duration;

use agentwire_transport::Packet;
use agentwire_transport_http::server::EndpointConfig;
use futures::{FutureExt, SinkExt, StreamExt};
use http::StatusCode;
use serde_json::{Value, json};

use super::script::{Server, notification, request};
use super::time::{call, open, piece};
use crate::connections::endpoint;

/// As long as the idle time of a session, ten times over.
const LONG: Duration = Duration::from_secs(6000);

const IDLE: Duration = Duration::from_secs(600);

#[tokio::test]
async fn a_body_over_the_limit_is_refused_in_json() {
    let server = Server::inline(EndpointConfig::new()).await;
    let client = server.open("2025-11-25").await;
    let long = request(9, "echo", json!({ "text": "x".repeat(4 << 20) }));
    let mut raw = server.raw().await;
    // The head is enough to refuse it.
    let head = format!(
        "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
         Accept: application/json, text/event-stream\r\nMcp-Session-Id: {}\r\nContent-Length: {}\r\n\r\n",
        client.session,
        long.len()
    );
    raw.write(head.as_bytes()).await;
    let head = raw.head().await;
    assert_eq!((head.status, head.header("content-type")), (413, Some("application/json")));
    let error: Value = serde_json::from_str(&raw.body(&head).await).unwrap();
    assert_eq!(error["jsonrpc"], "2.0", "{error}");
    assert!(error["error"]["code"].is_i64(), "{error}");
    assert!(error["error"]["message"].as_str().unwrap().contains("limit of 4194304 bytes"), "{error}");
    assert_eq!(client.post(&request(10, "echo", json!({}))).await.0, 200, "the session goes on");
}

#[tokio::test]
async fn an_answer_that_came_while_the_client_was_away_waits_for_it() {
    let server = Server::inline(EndpointConfig::new()).await;
    let client = server.open("2025-11-25").await;
    let mut call = client.call(&request(5, "wait", json!({}))).await;
    let last = call.next().await.unwrap().id.unwrap();
    drop(call);
    client.post(&notification("finish")).await;
    // What serves the session does one thing after the other: the answer has been given when this one is.
    assert_eq!(client.post(&request(6, "echo", json!({}))).await.0, 200);
    for _ in 0..2 {
        let events = client.resume(Some(&last)).await.unwrap().rest().await;
        let answers: Vec<_> = events.iter().map(|event| event.json()["result"].clone()).collect();
        assert_eq!(answers, [json!("late")]);
    }
}

#[tokio::test(start_paused = true)]
async fn a_session_with_a_call_under_way_is_not_idle() {
    let (mut endpoint, mut connections) = endpoint(EndpointConfig::new().idle(IDLE).stream_time(None));
    let (session, mut connection) = open(&mut endpoint, &mut connections).await;
    let _driver = tokio::spawn(async move { connections.next().await.is_none() });
    let headers = [("mcp-session-id", session.as_str())];
    for stays in [true, false] {
        let response = call(&mut endpoint, "POST", &headers, &request(1, "slow", json!({}))).await;
        assert_eq!(response.status(), StatusCode::OK);
        let mut body = response.into_body();
        let first = piece(&mut body).await.unwrap();
        connection.next().await.unwrap().unwrap();
        // Whether the client listens or has lost its stream: the call goes on.
        let body = stays.then_some(body);
        tokio::time::sleep(LONG).await;
        assert!(connection.next().now_or_never().is_none(), "the session has ended: {stays}");
        connection.send(Packet::from_json(r#"{"jsonrpc":"2.0","id":1,"result":"done"}"#)).await.unwrap();
        let mut body = match body {
            Some(body) => body,
            None => {
                let last = first.split_once("id: ").unwrap().1.lines().next().unwrap();
                let headers = [headers[0], ("last-event-id", last)];
                call(&mut endpoint, "GET", &headers, "").await.into_body()
            }
        };
        let mut text = String::new();
        while !text.contains("\"done\"") {
            text += &piece(&mut body).await.expect("the answer comes before the end");
        }
    }
    // Without one, it is idle, and a client that comes too late has to begin again.
    tokio::time::sleep(LONG).await;
    assert!(connection.next().await.is_none());
    let late = call(&mut endpoint, "POST", &headers, &request(2, "echo", json!({}))).await;
    assert_eq!(late.status(), StatusCode::NOT_FOUND);
}

/// Also while what served it is still at work on something.
#[tokio::test(start_paused = true)]
async fn a_session_that_was_ended_is_not_found_at_once() {
    let (mut endpoint, mut connections) = endpoint(EndpointConfig::new());
    let (session, mut connection) = open(&mut endpoint, &mut connections).await;
    let _driver = tokio::spawn(async move { connections.next().await.is_none() });
    let headers = [("mcp-session-id", session.as_str())];
    let running = call(&mut endpoint, "POST", &headers, &request(1, "slow", json!({}))).await;
    connection.next().await.unwrap().unwrap();
    assert_eq!(call(&mut endpoint, "DELETE", &headers, "").await.status(), StatusCode::NO_CONTENT);
    let late = call(&mut endpoint, "POST", &headers, &request(2, "echo", json!({}))).await;
    assert_eq!(late.status(), StatusCode::NOT_FOUND);
    drop((running, connection));
}
