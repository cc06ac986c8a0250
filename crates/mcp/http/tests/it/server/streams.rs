//! The stream of each message.

use std::collections::HashSet;

use agentwire_transport_http::server::EndpointConfig;
use serde_json::json;

use super::script::{Heard, Server, notification, request};

#[tokio::test]
async fn a_stream_of_2025_11_25_begins_with_an_id_and_ends_after_the_answer() {
    let server = Server::inline(EndpointConfig::new()).await;
    let client = server.open("2025-11-25").await;
    let mut ids = HashSet::new();
    for id in 1..4 {
        let events = client.call(&request(id, "count", json!({"n": 2}))).await.rest().await;
        assert_eq!(events.len(), 4);
        assert_eq!((events[0].data.as_str(), events[0].retry.as_deref()), ("", Some("1000")));
        assert!(events[1..].iter().all(|event| event.retry.is_none()));
        assert_eq!(events[2].json()["params"]["at"], 2);
        assert_eq!(events[3].json()["result"], "counted");
        for event in events {
            assert!(ids.insert(event.id.unwrap()), "ids are unique in the session");
        }
    }
    let mut listening = client.get().await;
    let first = listening.next().await.unwrap();
    assert!(ids.insert(first.id.unwrap()) && first.data.is_empty());
}

#[tokio::test]
async fn older_revisions_get_no_event_without_data() {
    let server = Server::inline(EndpointConfig::new()).await;
    for revision in ["2025-03-26", "2025-06-18"] {
        let client = server.open(revision).await;
        let events = client.call(&request(1, "count", json!({"n": 1}))).await.rest().await;
        assert_eq!(events.len(), 2, "{events:?}");
        assert!(events.iter().all(|event| event.id.is_some() && !event.data.is_empty()));
    }
}

#[tokio::test]
async fn without_a_store_events_have_no_ids() {
    let server = Server::inline(EndpointConfig::new().event_store(None)).await;
    let client = server.open("2025-11-25").await;
    let events = client.call(&request(1, "count", json!({"n": 1}))).await.rest().await;
    assert_eq!(events.len(), 2);
    assert!(events.iter().all(|event| event.id.is_none()));
    assert_eq!(client.resume(Some("1-1")).await.err(), Some(400));
}

#[tokio::test]
async fn message_of_no_request_goes_to_exactly_one_get_stream() {
    let server = Server::inline(EndpointConfig::new()).await;
    let client = server.open("2025-06-18").await;
    let mut listening = [client.get().await, client.get().await];
    for at in 0..5 {
        let call = client.call(&request(at, "announce", json!({"at": at}))).await.rest().await;
        assert_eq!(call.len(), 1, "only its answer: {call:?}");
    }
    for at in 0..5 {
        assert_eq!(listening[0].next().await.unwrap().json()["params"]["at"], at);
    }
    // The first has gone, so the second takes over; it has nothing of what the first had.
    let [first, mut second] = listening;
    drop(first);
    loop {
        client.call(&request(9, "announce", json!({"at": "next"}))).await.rest().await;
        // The client cannot know whether the server has noticed that the first has gone.
        let heard = tokio::time::timeout(std::time::Duration::from_millis(50), second.next()).await;
        if let Ok(event) = heard {
            assert_eq!(event.unwrap().json()["params"]["at"], "next");
            break;
        }
    }
}

#[tokio::test]
async fn while_no_get_stream_is_open_the_newest_is_kept() {
    let server = Server::inline(EndpointConfig::new().high_water(600)).await;
    let client = server.open("2025-06-18").await;
    for at in 0..20 {
        client.post(&request(at, "announce", json!({"at": at}))).await;
    }
    client.post(&notification("x")).await;
    let mut listening = client.get().await;
    let first = listening.next().await.unwrap().json()["params"]["at"].as_u64().unwrap();
    assert!(first > 5, "the oldest has gone: {first}");
    for at in first + 1..20 {
        assert_eq!(listening.next().await.unwrap().json()["params"]["at"], at);
    }
}

#[tokio::test]
async fn concurrent_requests_have_a_stream_each() {
    let server = Server::inline(EndpointConfig::new()).await;
    let client = server.open("2025-11-25").await;
    let calls = (1..=10).map(|id| {
        let client = &client;
        async move { client.call(&request(id, "count", json!({"n": id}))).await.rest().await }
    });
    for (at, events) in futures::future::join_all(calls).await.into_iter().enumerate() {
        assert_eq!(events.len(), at + 3);
        assert_eq!(events.last().unwrap().json()["id"], at + 1);
    }
}

#[tokio::test]
async fn in_a_session_leaving_is_no_cancelling_but_cancelling_is() {
    let mut server = Server::inline(EndpointConfig::new()).await;
    let port = server.port;
    let (headers, event) = {
        let client = server.open("2025-11-25").await;
        let mut call = client.call(&request(5, "wait", json!({}))).await;
        let event = call.next().await.unwrap();
        drop(call);
        // The handler is not notified, and goes on.
        assert_eq!(client.post(&notification("finish")).await.0, 202);
        let mut resumed = client.resume(event.id.as_deref()).await.unwrap();
        assert_eq!(resumed.next().await.unwrap().json()["result"], "late");

        let mut call = client.call(&request(6, "wait", json!({}))).await;
        call.next().await.unwrap();
        let cancel =
            json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 6}});
        client.post(&cancel.to_string()).await;
        assert_eq!(call.rest().await, [], "the stream ends, because no answer will come");
        (client.session.clone(), event)
    };
    assert!(port > 0 && !headers.is_empty() && event.id.is_some());
    server.hears(&Heard::Message("notifications/cancelled".to_owned())).await;
    assert!(server.heard.try_recv().is_err(), "nothing was abandoned");
}

#[tokio::test]
async fn delete_ends_the_streams_of_the_session() {
    let server = Server::inline(EndpointConfig::new()).await;
    let client = server.open("2025-11-25").await;
    let mut streams = [client.get().await, client.call(&request(1, "wait", json!({}))).await];
    for stream in &mut streams {
        stream.next().await.unwrap();
    }
    assert_eq!(server.exchange("DELETE", &client.headers(), "").await.0, 204);
    for stream in &mut streams {
        assert_eq!(stream.next().await, None);
    }
}
