//! A result is in the store before a client reads it.

use std::time::Duration;

use agentwire_transport_http::server::EndpointConfig;
use futures::FutureExt;
use serde_json::json;

use super::super::script::{notification, request};
use super::super::time::piece;
use super::cluster::{Cluster, last_id, messages, rest};

/// A time that suffices for everything that does not wait for the store, on a paused clock.
const A_WHILE: Duration = Duration::from_secs(1);

#[tokio::test(start_paused = true)]
async fn result_waits_until_it_is_stored_and_notifications_do_not() {
    let mut cluster = Cluster::start(1, EndpointConfig::new()).await;
    let session = cluster.open(0).await;
    cluster.faults.hold();
    let mut body = cluster.post(0, &session, &request(1, "count", json!({"n": 3}))).await.into_body();
    assert!(tokio::time::timeout(A_WHILE, piece(&mut body)).await.is_err(), "the stream is not stored");
    cluster.faults.release_first();
    let mut text = String::new();
    while messages(&text).len() < 3 {
        text += &piece(&mut body).await.unwrap();
    }
    assert!(!text.contains("counted"), "{text}");
    assert!(tokio::time::timeout(A_WHILE, piece(&mut body)).await.is_err());
    cluster.faults.release();
    let result = piece(&mut body).await.unwrap();
    assert_eq!(messages(&result), [json!({"jsonrpc": "2.0", "id": 1, "result": "counted"})]);
    assert_eq!(last_id(&result), format!("{}-4", last_id(&text).split_once('-').unwrap().0));
    assert_eq!(piece(&mut body).await, None);
}

#[tokio::test(start_paused = true)]
async fn response_with_one_result_begins_once_the_result_is_stored() {
    let mut cluster = Cluster::start(1, EndpointConfig::new()).await;
    let session = cluster.open(0).await;
    for (method, params) in [("echo", json!({"said": 1})), ("large", json!({"n": 100_000}))] {
        cluster.faults.hold();
        let asked = request(1, method, params);
        let mut answering = Box::pin(cluster.post(0, &session, &asked));
        assert!(tokio::time::timeout(A_WHILE, &mut answering).await.is_err(), "{method}");
        drop(answering);
        cluster.faults.release();
    }
    cluster.faults.hold();
    let endpoint = &mut cluster.replicas[0].endpoint;
    let headers = [("mcp-session-id", session.as_str())];
    let mut answering = Box::pin(super::super::time::call(
        endpoint,
        "POST",
        &headers,
        &request(2, "echo", json!({"said": 2})),
    ));
    assert!((&mut answering).now_or_never().is_none());
    cluster.faults.release();
    let text = rest(answering.await).await;
    assert_eq!(messages(&text), [json!({"jsonrpc": "2.0", "id": 2, "result": {"said": 2}})]);
    assert!(text.contains("id: "), "{text}");
}

/// A client that has an id of a stream finds it when it resumes the stream, so one that the store has not got has none: neither before
/// its events nor in one of them.
#[tokio::test(start_paused = true)]
async fn a_stream_that_is_not_stored_has_no_ids() {
    let mut cluster = Cluster::start(1, EndpointConfig::new()).await;
    let session = cluster.open(0).await;
    let methods =
        [("echo", json!({"said": 1}), 1), ("large", json!({"n": 100_000}), 1), ("count", json!({"n": 3}), 4)];
    for (method, params, count) in methods {
        let asked = request(1, method, params);
        let stored = rest(cluster.post(0, &session, &asked).await).await;
        cluster.faults.away(true);
        let lost = rest(cluster.post(0, &session, &asked).await).await;
        cluster.faults.away(false);
        assert_eq!(messages(&stored).len(), count, "{method}");
        assert_eq!(messages(&stored), messages(&lost), "{method}");
        let with_ids = |text: &str| text.lines().filter(|line| line.starts_with("id: ")).count();
        assert_eq!((with_ids(&stored), with_ids(&lost)), (count + 1, 0), "{method}");
    }
}

/// The store is away while a stream begins, and later between its events: none has an id before the store has the stream. Then each has
/// one, because a store that was away may have the event nevertheless, and would give it again to a client that resumes before it.
#[tokio::test(start_paused = true)]
async fn stream_has_ids_again_once_the_store_is_back() {
    let mut cluster = Cluster::start(1, EndpointConfig::new()).await;
    for (away_at, without_ids) in [(vec![0], 0..1), (vec![2], 0..0), (vec![0, 1, 3], 0..2)] {
        let session = cluster.open(0).await;
        cluster.faults.away(away_at.contains(&0));
        let mut body = cluster.get(0, &session, None).await.into_body();
        let mut texts = vec![piece(&mut body).await.unwrap()];
        for at in 1..5 {
            cluster.faults.away(away_at.contains(&at));
            rest(cluster.post(0, &session, &request(at, "announce", json!({"at": at}))).await).await;
            let mut text = piece(&mut body).await.unwrap();
            while messages(&text).is_empty() {
                text += &piece(&mut body).await.unwrap();
            }
            assert_eq!(messages(&text)[0]["params"]["at"], at);
            texts.push(text);
        }
        for (at, text) in texts.iter().enumerate() {
            assert_eq!(text.contains("id: "), !without_ids.contains(&at), "{away_at:?}: {text}");
        }
    }
}

/// The node may die before the store has it, and then the client would get another answer.
#[tokio::test(start_paused = true)]
async fn answer_that_the_store_may_not_have_has_no_id() {
    let mut cluster = Cluster::start(1, EndpointConfig::new()).await;
    let session = cluster.open(0).await;
    let mut body = cluster.post(0, &session, &request(5, "wait", json!({}))).await.into_body();
    assert!(piece(&mut body).await.unwrap().contains("id: "));
    cluster.faults.away(true);
    cluster.post(0, &session, &notification("finish")).await;
    let text = piece(&mut body).await.unwrap();
    assert_eq!((&messages(&text)[0]["result"], text.contains("id: ")), (&json!("late"), false), "{text}");
}

/// An answer above the limit of an event is not stored. Where nothing else of its stream is, that cannot be resumed.
#[tokio::test(start_paused = true)]
async fn result_too_large_for_the_store_is_sent_without_an_id() {
    let mut cluster = Cluster::start(1, EndpointConfig::new().event_limit(1000)).await;
    let session = cluster.open(0).await;
    for n in [2000, 100_000] {
        let text = rest(cluster.post(0, &session, &request(1, "large", json!({"n": n}))).await).await;
        assert_eq!(messages(&text)[0]["result"].as_str().unwrap().len(), n);
        assert!(text.starts_with("data: "), "{}", &text[..100]);
    }
}

#[tokio::test(start_paused = true)]
async fn a_stream_that_another_node_has_taken_over_is_cut() {
    let mut cluster = Cluster::start(2, EndpointConfig::new()).await;
    let session = cluster.open(0).await;
    let mut body = cluster.post(0, &session, &request(5, "wait", json!({}))).await.into_body();
    let primed = piece(&mut body).await.unwrap();
    cluster.kill(0).await;
    let resumed = rest(cluster.get(1, &session, Some(&last_id(&primed))).await).await;
    assert_eq!(messages(&resumed)[0]["error"]["code"], -32603, "{resumed}");
    // The first node was only slow. Its events come too late.
    cluster.post(0, &session, &notification("finish")).await;
    assert_eq!(piece(&mut body).await, None);
}
