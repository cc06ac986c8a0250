//! Limits that no other file is about: each has a number, and keeps it.

use std::time::Duration;

use agentwire_transport_http::server::EndpointConfig;
use serde_json::json;

use super::raw::parse_events;
use super::script::{Server, initialize, notification, request};

#[tokio::test]
async fn connections_over_the_limit_wait_for_their_turn() {
    let server = Server::inline_with(EndpointConfig::new(), |serve| serve.connection_limit(2)).await;
    let client = server.open("2025-11-25").await;
    // Both are in use.
    let (one, mut two) = (client.get().await, client.get().await);
    let mut three = server.raw().await;
    three.send("POST", &[], &initialize("2025-11-25")).await;
    let early = tokio::time::timeout(Duration::from_millis(200), three.stream.readable()).await;
    assert!(early.is_err(), "the third was served beside two");
    assert_eq!(two.next().await.unwrap().data, "");
    drop(one);
    assert_eq!(three.head().await.status, 200);
}

/// A connection that waits for a request is closed for one that has something to say.
#[tokio::test]
async fn a_connection_that_waits_makes_room_for_another() {
    let server = Server::inline_with(EndpointConfig::new(), |serve| serve.connection_limit(2)).await;
    let (mut one, mut two) = (server.raw().await, server.raw().await);
    for raw in [&mut one, &mut two] {
        assert_eq!(raw.exchange("POST", &[], &initialize("2025-11-25")).await.0.status, 200);
    }
    let mut three = server.raw().await;
    assert_eq!(three.exchange("POST", &[], &initialize("2025-11-25")).await.0.status, 200);
    assert_eq!(one.read().await, 0, "the one that has waited longest");
    assert_eq!(two.exchange("POST", &[], &initialize("2025-11-25")).await.0.status, 200);
}

#[tokio::test]
async fn a_batch_has_so_many_messages_at_most() {
    let server = Server::inline(EndpointConfig::new().batch_limit(3)).await;
    let client = server.open("2025-03-26").await;
    let batch = |n: usize| format!("[{}]", vec![notification("x"); n].join(","));
    assert_eq!(client.post(&batch(3)).await.0, 202);
    let (status, body) = client.post(&batch(4)).await;
    assert_eq!((status, body.contains("limit of 3")), (400, true), "{body}");
}

#[tokio::test]
async fn an_event_over_the_limit_is_sent_and_not_kept() {
    let server = Server::inline(EndpointConfig::new().event_limit(1000)).await;
    let client = server.open("2025-11-25").await;
    for (id, size, kept) in [(1, 500, true), (2, 5000, false), (3, 100_000, false)] {
        let events = client.call(&request(id, "large", json!({"n": size}))).await.rest().await;
        assert_eq!(events.last().unwrap().json()["result"].as_str().unwrap().len(), size);
        let mut ids = events.iter().filter_map(|event| event.id.as_deref());
        match ids.next() {
            Some(first) => {
                assert_eq!(client.resume(Some(first)).await.unwrap().rest().await.len(), 1);
                assert!(kept);
            }
            None => assert!(!kept, "an id of what is not kept is of no use"),
        }
    }
}

#[tokio::test]
async fn a_body_may_be_as_long_as_the_limit() {
    let server = Server::inline(EndpointConfig::new().body_limit(300)).await;
    let body = initialize("2025-11-25");
    let padded = |to: usize| format!("{body}{}", " ".repeat(to - body.len()));
    let (status, answer) = server.exchange("POST", &[], &padded(300)).await;
    assert_eq!((status, parse_events(&answer).len()), (200, 1));
    let (status, answer) = server.exchange("POST", &[], &padded(301)).await;
    assert_eq!((status, answer.contains("limit of 300 bytes")), (413, true), "{answer}");
}
