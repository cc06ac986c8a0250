//! Limits on loads of sessions, and sessions that the service does not restore.

use std::time::Duration;

use agentwire_store::SessionId;
use agentwire_transport_http::server::EndpointConfig;
use http::{Response, StatusCode};
use serde_json::json;

use super::super::script::{initialize, request};
use super::super::time::call;
use super::cluster::{Cluster, with_principals};

/// A time that suffices for everything that does not wait for the store, and is shorter than the wait for a place.
const A_WHILE: Duration = Duration::from_millis(500);

fn status<B>(response: Response<B>) -> u16 {
    response.status().as_u16()
}

/// One caller names sessions that do not exist. The sessions of another are loaded at the same time.
#[tokio::test(start_paused = true)]
async fn a_caller_has_a_share_of_the_loads() {
    let mut cluster = Cluster::start(2, with_principals().load_limit(16).caller_session_limit(32)).await;
    let ann = ("authorization", "Bearer ann");
    let opened = cluster.call(0, "POST", &[ann], &initialize("2025-11-25")).await;
    let session = opened.headers()["mcp-session-id"].to_str().unwrap().to_owned();
    cluster.faults.stall(true);
    let echo = request(1, "echo", json!({}));
    let mut guesses = Vec::new();
    for _ in 0..100 {
        let guess = SessionId::random().unwrap().to_string();
        let headers = [("authorization", "Bearer eve"), ("mcp-session-id", &*guess)];
        guesses.push(tokio::spawn(call(&mut cluster.replicas[1].endpoint, "POST", &headers, &echo)));
    }
    let own = [ann, ("mcp-session-id", &*session)];
    let own = tokio::spawn(call(&mut cluster.replicas[1].endpoint, "POST", &own, &echo));
    tokio::time::sleep(A_WHILE).await;
    assert!(!own.is_finished(), "it is being loaded");
    cluster.faults.stall(false);
    assert_eq!(status(own.await.unwrap()), 200);
    let mut statuses = Vec::new();
    for guess in guesses {
        statuses.push(status(guess.await.unwrap()));
    }
    // Two are looked for at once, 32 wait for a place, and the others are refused.
    let count = |wanted| statuses.iter().filter(|status| **status == wanted).count();
    assert_eq!((count(404), count(503)), (34, 66), "{statuses:?}");
}

#[tokio::test(start_paused = true)]
async fn a_request_does_not_wait_for_a_place_for_long() {
    let mut cluster = Cluster::start(2, EndpointConfig::new().load_limit(2)).await;
    let mut sessions = Vec::new();
    for _ in 0..3 {
        sessions.push(cluster.open(0).await);
    }
    cluster.faults.stall(true);
    let echo = request(1, "echo", json!({}));
    let mut calls: Vec<_> = sessions
        .iter()
        .map(|session| {
            let headers = [("mcp-session-id", session.as_str())];
            tokio::spawn(call(&mut cluster.replicas[1].endpoint, "POST", &headers, &echo))
        })
        .collect();
    let refused = calls.pop().unwrap().await.unwrap();
    assert_eq!(refused.headers()["retry-after"], "1");
    assert_eq!(status(refused), 503);
    cluster.faults.stall(false);
    for call in calls {
        assert_eq!(status(call.await.unwrap()), 200);
    }
    assert_eq!(cluster.echo(1, &sessions[2]).await, StatusCode::OK);
}

/// The session continues at another node, so its client must not open a new one.
#[tokio::test(start_paused = true)]
async fn session_that_is_not_restored_in_time_gets_503_and_not_404() {
    let mut cluster = Cluster::start(2, EndpointConfig::new()).await;
    let params = json!({"protocolVersion": "2025-11-25", "capabilities": {"once": true}});
    let opened = cluster.call(0, "POST", &[], &request(0, "initialize", params)).await;
    let session = opened.headers()["mcp-session-id"].to_str().unwrap().to_owned();
    assert_eq!(cluster.echo(0, &session).await, StatusCode::OK);
    assert_eq!(cluster.echo(1, &session).await, StatusCode::SERVICE_UNAVAILABLE);
    assert_eq!(cluster.echo(0, &session).await, StatusCode::OK);
}

/// The revision, which decides whether batches are allowed, is known once the session is loaded.
#[tokio::test(start_paused = true)]
async fn a_batch_waits_until_its_session_is_loaded() {
    let mut cluster = Cluster::start(2, EndpointConfig::new()).await;
    let params = json!({"protocolVersion": "2025-03-26", "capabilities": {"once": true}});
    let opened = cluster.call(0, "POST", &[], &request(0, "initialize", params)).await;
    let session = opened.headers()["mcp-session-id"].to_str().unwrap().to_owned();
    assert_eq!(cluster.echo(0, &session).await, StatusCode::OK);
    let headers = [("mcp-session-id", session.as_str())];
    let echo = request(1, "echo", json!({}));
    let first = tokio::spawn(call(&mut cluster.replicas[1].endpoint, "POST", &headers, &echo));
    tokio::time::sleep(A_WHILE).await;
    let cancel = json!([{"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 9}}]);
    let batch = cluster.post(1, &session, &cancel.to_string()).await;
    assert_eq!((status(batch), status(first.await.unwrap())), (503, 503));
}
