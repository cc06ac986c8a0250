//! Streams that are resumed at other nodes.

use std::time::Duration;

use agentwire_store::{NodeId, StreamRun};
use agentwire_transport_http::server::EndpointConfig;
use futures::FutureExt;
use http::StatusCode;
use serde_json::json;
use tokio::time::Instant;

use super::super::script::{notification, request};
use super::super::time::piece;
use super::cluster::{Cluster, id, last_id, messages, rest};

#[tokio::test(start_paused = true)]
async fn a_client_resumes_a_stream_at_any_node() {
    let mut cluster = Cluster::start(3, EndpointConfig::new()).await;
    let session = cluster.open(0).await;
    let mut body = cluster.post(0, &session, &request(5, "wait", json!({}))).await.into_body();
    let primed = last_id(&piece(&mut body).await.unwrap());
    let never_sent = cluster.get(0, &session, Some(&primed.replace("-0", "-9"))).await;
    assert_eq!(never_sent.status(), StatusCode::BAD_REQUEST, "it ends no stream");
    drop(body);
    // It runs for longer than the other node waits, so the client has to reconnect.
    let started = Instant::now();
    let text = rest(cluster.get(1, &session, Some(&primed)).await).await;
    assert_eq!((text.as_str(), started.elapsed().as_secs()), ("retry: 100\n\n", 2));
    let mut followed = cluster.get(1, &session, Some(&primed)).await.into_body();
    cluster.post(0, &session, &notification("finish")).await;
    let text = piece(&mut followed).await.unwrap();
    assert_eq!(messages(&text), [json!({"jsonrpc": "2.0", "id": 5, "result": "late"})], "while it waits");
    assert_eq!(piece(&mut followed).await, None);
    for at in [1, 2, 0] {
        let text = rest(cluster.get(at, &session, Some(&primed)).await).await;
        assert_eq!(messages(&text), [json!({"jsonrpc": "2.0", "id": 5, "result": "late"})], "node {at}");
    }
    let unknown = cluster.get(1, &session, Some("999-0")).await;
    assert_eq!(unknown.status(), StatusCode::BAD_REQUEST);
}

/// Starts a stream at the first node, whose client leaves. Returns the id of its last event.
async fn left_stream(cluster: &mut Cluster, session: &str, request_id: u64) -> String {
    let mut body = cluster.post(0, session, &request(request_id, "wait", json!({}))).await.into_body();
    last_id(&piece(&mut body).await.unwrap())
}

#[tokio::test(start_paused = true)]
async fn responses_that_wait_for_other_nodes_are_limited() {
    // Where callers cannot be distinguished, the limit for all holds.
    let mut cluster = Cluster::start(2, EndpointConfig::new().follower_limit(2)).await;
    let session = cluster.open(0).await;
    let mut waiting = Vec::new();
    for number in 1..=2 {
        let primed = left_stream(&mut cluster, &session, number).await;
        let mut body = cluster.get(1, &session, Some(&primed)).await.into_body();
        assert!(piece(&mut body).now_or_never().is_none());
        waiting.push(body);
    }
    let primed = left_stream(&mut cluster, &session, 3).await;
    for is_free in [false, true] {
        let started = Instant::now();
        let text = rest(cluster.get(1, &session, Some(&primed)).await).await;
        assert_eq!((text.as_str(), started.elapsed() > Duration::from_secs(1)), ("retry: 100\n\n", is_free));
        waiting.pop();
    }
}

#[tokio::test(start_paused = true)]
async fn newest_of_the_responses_that_wait_for_a_stream_gets_it() {
    let mut cluster = Cluster::start(2, EndpointConfig::new()).await;
    let session = cluster.open(0).await;
    let primed = left_stream(&mut cluster, &session, 5).await;
    let mut bodies = Vec::new();
    for _ in 0..3 {
        let mut body = cluster.get(1, &session, Some(&primed)).await.into_body();
        assert!(piece(&mut body).now_or_never().is_none());
        bodies.push(body);
    }
    let mut newest = bodies.pop().unwrap();
    for mut body in bodies {
        assert_eq!(piece(&mut body).await.as_deref(), Some("retry: 100\n\n"));
        assert_eq!(piece(&mut body).await, None);
    }
    cluster.post(0, &session, &notification("finish")).await;
    let text = piece(&mut newest).await.unwrap();
    assert_eq!(messages(&text), [json!({"jsonrpc": "2.0", "id": 5, "result": "late"})]);
}

#[tokio::test(start_paused = true)]
async fn a_long_stream_is_resumed_in_pieces_without_a_gap() {
    let mut cluster = Cluster::start(2, EndpointConfig::new()).await;
    let session = cluster.open(0).await;
    let all = rest(cluster.post(0, &session, &request(1, "count", json!({"n": 6000}))).await).await;
    assert_eq!(messages(&all).len(), 6001);
    let first = all.lines().find_map(|line| line.strip_prefix("id: ")).unwrap();
    let again = rest(cluster.get(1, &session, Some(first)).await).await;
    assert_eq!(messages(&again), messages(&all));
}

#[tokio::test(start_paused = true)]
async fn node_that_takes_over_a_stream_fails_its_unanswered_requests() {
    let mut cluster = Cluster::start(3, EndpointConfig::new()).await;
    let session = cluster.open(0).await;
    let mut body = cluster.post(0, &session, &request("five", "wait", json!({}))).await.into_body();
    let primed = last_id(&piece(&mut body).await.unwrap());
    cluster.kill(0).await;
    let why = "interrupted: the node that ran this request has ended; the request may have been done";
    let error = json!({"jsonrpc": "2.0", "id": "five", "error": {"code": -32603, "message": why}});
    let first = rest(cluster.get(1, &session, Some(&primed)).await).await;
    assert_eq!(messages(&first), std::slice::from_ref(&error), "{first}");
    for at in [2, 1] {
        let again = rest(cluster.get(at, &session, Some(&primed)).await).await;
        assert_eq!(messages(&again), std::slice::from_ref(&error), "node {at}");
    }
}

/// The node dies just after its client has got an id.
#[tokio::test(start_paused = true)]
async fn first_id_of_a_stream_is_sent_once_the_store_has_the_stream() {
    // The first id is that of the event without data, or of the first notification in a revision without such events.
    for (revision, method) in [("2025-11-25", "wait"), ("2025-06-18", "ask")] {
        let mut cluster = Cluster::start(2, EndpointConfig::new()).await;
        let session = cluster.open_in(0, revision).await;
        cluster.faults.hold();
        let mut body = cluster.post(0, &session, &request(5, method, json!({}))).await.into_body();
        assert!(piece(&mut body).now_or_never().is_none(), "{revision}: the store may not have the stream");
        cluster.faults.release();
        let primed = last_id(&piece(&mut body).await.unwrap());
        cluster.kill(0).await;
        let text = rest(cluster.get(1, &session, Some(&primed)).await).await;
        let error = &messages(&text)[0]["error"];
        assert!(error["message"].as_str().unwrap().starts_with("interrupted: "), "{revision}: {text}");
    }
}

#[tokio::test(start_paused = true)]
async fn stream_that_the_store_has_not_begins_without_an_id() {
    let mut cluster = Cluster::start(1, EndpointConfig::new()).await;
    let session = cluster.open(0).await;
    cluster.faults.away(true);
    let mut body = cluster.post(0, &session, &request(5, "wait", json!({}))).await.into_body();
    let mut text = String::new();
    while !text.ends_with("\n\n") {
        text += &piece(&mut body).await.unwrap();
    }
    assert_eq!(text, "retry: 1000\ndata: \n\n");
    cluster.post(0, &session, &notification("finish")).await;
    assert_eq!(messages(&piece(&mut body).await.unwrap())[0]["result"], "late");
}

#[tokio::test(start_paused = true)]
async fn a_stream_whose_end_was_lost_is_ended_by_its_own_node() {
    let mut cluster = Cluster::start(2, EndpointConfig::new()).await;
    let session = cluster.open(0).await;
    let mut body = cluster.post(0, &session, &request(5, "wait", json!({}))).await.into_body();
    let primed = last_id(&piece(&mut body).await.unwrap());
    drop(body);
    cluster.faults.away(true);
    cluster.post(0, &session, &notification("finish")).await;
    cluster.faults.away(false);
    let text = rest(cluster.get(0, &session, Some(&primed)).await).await;
    assert_eq!(messages(&text)[0]["error"]["code"], -32603, "{text}");
}

#[tokio::test(start_paused = true)]
async fn stream_of_a_get_continues_at_the_node_of_the_client() {
    let mut cluster = Cluster::start(2, EndpointConfig::new()).await;
    let session = cluster.open(0).await;
    let mut body = cluster.get(0, &session, None).await.into_body();
    let primed = last_id(&piece(&mut body).await.unwrap());
    rest(cluster.post(0, &session, &request(1, "announce", json!({"at": 1}))).await).await;
    drop(body);
    let mut moved = cluster.get(1, &session, Some(&primed)).await.into_body();
    assert_eq!(messages(&piece(&mut moved).await.unwrap())[0]["params"]["at"], 1);
    rest(cluster.post(1, &session, &request(2, "announce", json!({"at": 2}))).await).await;
    let mut text = String::new();
    while messages(&text).is_empty() {
        text += &piece(&mut moved).await.unwrap();
    }
    assert_eq!(messages(&text)[0]["params"]["at"], 2);
}

/// A client without an id loses the outstanding results of a response that ends.
#[tokio::test(start_paused = true)]
async fn stream_without_an_id_ends_by_age_only_without_unanswered_requests() {
    let age = Duration::from_secs(5);
    let mut cluster = Cluster::start(1, EndpointConfig::new().stream_time(Some(age))).await;
    let session = cluster.open(0).await;
    cluster.faults.away(true);
    let listening = cluster.get(0, &session, None).await;
    let mut body = cluster.post(0, &session, &request(5, "wait", json!({}))).await.into_body();
    let begun = tokio::time::Instant::now();
    assert!(!rest(listening).await.contains("id: "));
    assert!(begun.elapsed() < 4 * age, "{:?}", begun.elapsed());
    tokio::time::sleep(4 * age).await;
    cluster.post(0, &session, &notification("finish")).await;
    let mut text = String::new();
    while messages(&text).is_empty() {
        text += &piece(&mut body).await.expect("it goes on");
    }
    assert_eq!((&messages(&text)[0]["result"], text.contains("id: ")), (&json!("late"), false), "{text}");
}

#[tokio::test(start_paused = true)]
async fn stream_continues_at_a_node_that_has_lost_its_lease() {
    let mut cluster = Cluster::start(2, EndpointConfig::new()).await;
    let session = cluster.open(0).await;
    let mut body = cluster.post(0, &session, &request(5, "wait", json!({}))).await.into_body();
    let primed = last_id(&piece(&mut body).await.unwrap());
    let node = cluster.replicas[0].node.id();
    cluster.leases.expire(node);
    let renewed = async {
        while !cluster.stores.nodes.is_alive(node).await.unwrap() {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(60), renewed).await.unwrap();
    let elsewhere = rest(cluster.get(1, &session, Some(&primed)).await).await;
    assert!(messages(&elsewhere).is_empty(), "it is not taken over: {elsewhere}");
    let mut resumed = cluster.get(0, &session, Some(&primed)).await.into_body();
    cluster.post(0, &session, &notification("finish")).await;
    assert_eq!(messages(&piece(&mut resumed).await.unwrap())[0]["result"], "late");
}

/// The store was away for longer than all leases. The node that resumes the stream has its own again, and the other not yet.
#[tokio::test(start_paused = true)]
async fn a_stream_is_not_taken_over_because_the_store_was_away() {
    let mut cluster = Cluster::start(1, EndpointConfig::new()).await;
    let session = cluster.open(0).await;
    let runs = StreamRun::new(NodeId::new(1), vec![5_u64.into()]);
    cluster.stores.events.begin(id(&session), 900, runs).wait().await.unwrap();
    cluster.leases.interrupt();
    let node = cluster.replicas[0].node.id();
    while !cluster.stores.nodes.is_alive(node).await.unwrap() {
        tokio::task::yield_now().await;
    }
    let early = rest(cluster.get(0, &session, Some("900-0")).await).await;
    assert!(messages(&early).is_empty() && early.contains("retry: "), "{early}");
    cluster.leases.settle();
    let late = rest(cluster.get(0, &session, Some("900-0")).await).await;
    assert_eq!(
        (&messages(&late)[0]["id"], &messages(&late)[0]["error"]["code"]),
        (&json!(5), &json!(-32603))
    );
}

#[tokio::test(start_paused = true)]
async fn a_stream_that_runs_here_is_resumed_while_the_store_is_away() {
    let mut cluster = Cluster::start(2, EndpointConfig::new()).await;
    let session = cluster.open(0).await;
    let mut body = cluster.post(0, &session, &request(5, "wait", json!({}))).await.into_body();
    let primed = last_id(&piece(&mut body).await.unwrap());
    cluster.faults.away(true);
    let mut resumed = cluster.get(0, &session, Some(&primed)).await;
    assert_eq!(resumed.status(), StatusCode::OK);
    assert_eq!(cluster.get(0, &session, Some("999-0")).await.status(), StatusCode::SERVICE_UNAVAILABLE);
    cluster.post(0, &session, &notification("finish")).await;
    assert_eq!(messages(&piece(resumed.body_mut()).await.unwrap())[0]["result"], "late");
}
