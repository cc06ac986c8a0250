//! Streams that are cut and resumed.

use std::sync::Arc;

use agentwire_store::StoreLimits;
use agentwire_transport_http::server::{EndpointConfig, MemoryEventStore};
use serde_json::json;

use super::raw::Event;
use super::script::{Server, notification, request};

fn place(event: &Event) -> serde_json::Value {
    event.json()["params"]["at"].clone()
}

#[tokio::test]
async fn a_stream_goes_on_after_the_last_event_that_was_read() {
    let server = Server::inline(EndpointConfig::new()).await;
    for revision in ["2025-03-26", "2025-11-25"] {
        let client = server.open(revision).await;
        // Another stream with the same kind of events, which must not be mixed in.
        client.call(&request(1, "count", json!({"n": 20}))).await.rest().await;
        let mut call = client.call(&request(2, "count", json!({"n": 10}))).await;
        let mut last = call.next().await.unwrap();
        while last.data.is_empty() || place(&last) != 4 {
            last = call.next().await.unwrap();
        }
        drop(call);
        for _ in 0..2 {
            let events = client.resume(last.id.as_deref()).await.unwrap().rest().await;
            let places: Vec<_> = events[..6].iter().map(place).collect();
            assert_eq!(places, (5..=10).map(serde_json::Value::from).collect::<Vec<_>>());
            assert_eq!(events[6].json()["result"], "counted");
            assert_eq!(events.len(), 7);
        }
    }
}

#[tokio::test]
async fn a_stream_that_still_runs_has_one_reader_and_goes_on_live() {
    let server = Server::inline(EndpointConfig::new()).await;
    let client = server.open("2025-11-25").await;
    let mut first = client.call(&request(5, "wait", json!({}))).await;
    let primed = first.next().await.unwrap();
    let mut second = client.resume(primed.id.as_deref()).await.unwrap();
    assert_eq!(first.next().await, None, "whoever comes back replaces the connection that was lost");
    client.post(&notification("finish")).await;
    assert_eq!(second.next().await.unwrap().json()["result"], "late");
    assert_eq!(second.next().await, None);
}

#[tokio::test]
async fn the_stream_of_a_get_is_resumed_with_what_came_meanwhile() {
    let server = Server::inline(EndpointConfig::new()).await;
    let client = server.open("2025-11-25").await;
    let mut listening = client.get().await;
    client.call(&request(1, "announce", json!({"at": 1}))).await.rest().await;
    listening.next().await.unwrap();
    let read = listening.next().await.unwrap();
    client.call(&request(2, "announce", json!({"at": 2}))).await.rest().await;
    drop(listening);
    client.call(&request(3, "announce", json!({"at": 3}))).await.rest().await;
    let mut resumed = client.resume(read.id.as_deref()).await.unwrap();
    assert_eq!(place(&resumed.next().await.unwrap()), 2);
    assert_eq!(place(&resumed.next().await.unwrap()), 3);
    client.call(&request(4, "announce", json!({"at": 4}))).await.rest().await;
    assert_eq!(place(&resumed.next().await.unwrap()), 4);
}

#[tokio::test]
async fn unknown_stream_is_not_resumed() {
    let server =
        Server::inline(EndpointConfig::new().event_store(Some(Arc::new(MemoryEventStore::new(
            &StoreLimits::new().session_events(0).events(0),
        )))))
        .await;
    let client = server.open("2025-11-25").await;
    client.call(&request(1, "count", json!({"n": 1}))).await.rest().await;
    for id in ["2-1", "99-0", "x", "1-", "-1", "99999999999999999999-0", &"i".repeat(8000)] {
        assert_eq!(client.resume(Some(id)).await.err(), Some(400), "{id}");
    }
    let mut running = client.call(&request(2, "wait", json!({}))).await;
    running.next().await.unwrap();
    assert_eq!(client.resume(Some("3-7")).await.err(), Some(400), "an event that was never sent");
    assert!(client.resume(Some("")).await.is_ok(), "no id is not a resumption");
    let other = server.open("2025-11-25").await;
    assert_eq!(other.resume(Some("3-0")).await.err(), Some(400), "a stream of another session");
}
