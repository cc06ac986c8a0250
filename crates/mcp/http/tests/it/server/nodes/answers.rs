//! Responses and cancellations of a client that arrive at another node than the one that waits for them.

use std::time::Duration;

use agentwire_store::NodeId;
use agentwire_transport_http::server::EndpointConfig;
use http::StatusCode;
use serde_json::{Value, json};

use super::super::script::{Heard, request};
use super::super::time::piece;
use super::cluster::{Cluster, messages};

fn answer(id: &Value) -> String {
    json!({"jsonrpc": "2.0", "id": id, "result": {"roots": []}}).to_string()
}

#[tokio::test(start_paused = true)]
async fn response_reaches_the_node_that_sent_the_request() {
    let mut cluster = Cluster::start(3, EndpointConfig::new()).await;
    let session = cluster.open(0).await;
    let mut body = cluster.post(1, &session, &request(1, "ask", json!({}))).await.into_body();
    let mut text = String::new();
    while messages(&text).is_empty() {
        text += &piece(&mut body).await.unwrap();
    }
    let asked = messages(&text)[0]["id"].clone();
    assert_eq!(asked, format!("{}-\"s-1\"", cluster.replicas[1].node.id()));
    let taken = cluster.post(2, &session, &answer(&asked)).await;
    assert_eq!(taken.status(), StatusCode::ACCEPTED);
    assert_eq!(messages(&piece(&mut body).await.unwrap())[0]["result"], "asked");
    cluster.hears(1, &Heard::Answer("s-1".into())).await;
    assert!(!cluster.heard(2).iter().any(|heard| matches!(heard, Heard::Answer(_))));
    // The node itself accepts it as well, and an id without a node is unchanged.
    for (at, id) in [(1, asked), (2, json!("s-9"))] {
        assert_eq!(cluster.post(at, &session, &answer(&id)).await.status(), StatusCode::ACCEPTED);
    }
    cluster.hears(1, &Heard::Answer("s-1".into())).await;
    cluster.hears(2, &Heard::Answer("s-9".into())).await;
}

#[tokio::test(start_paused = true)]
async fn response_for_a_dead_node_is_accepted_once_its_death_is_known() {
    let mut cluster = Cluster::start(2, EndpointConfig::new()).await;
    let session = cluster.open(0).await;
    // The node lives and does not subscribe, like one that has lost its connection to the store.
    let dead = NodeId::new(0xff);
    let lease = cluster.stores.nodes.join(dead).await.unwrap();
    let id = json!(format!("{dead}-7"));
    let token = json!({"progressToken": &id, "progress": 1});
    let progress = json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": token});
    let messages = [answer(&id), progress.to_string()];
    for settled in [true, false] {
        for message in &messages {
            let refused = cluster.post(1, &session, message).await;
            assert_eq!(refused.status(), StatusCode::SERVICE_UNAVAILABLE);
            assert_eq!(refused.headers()["retry-after"], "1");
        }
        if settled {
            // The store was away, so no node knows which others live.
            cluster.leases.interrupt();
            drop(lease.release().await);
            tokio::time::sleep(Duration::from_secs(1)).await;
        }
    }
    cluster.leases.settle();
    cluster.heard(1);
    for message in &messages {
        assert_eq!(cluster.post(1, &session, message).await.status(), StatusCode::ACCEPTED);
    }
    assert_eq!(cluster.echo(1, &session).await, StatusCode::OK);
    assert_eq!(cluster.heard(1), [Heard::Message("echo".into())]);
}

/// In a revision without batches.
#[tokio::test(start_paused = true)]
async fn refused_batch_is_not_forwarded() {
    let mut cluster = Cluster::start(2, EndpointConfig::new()).await;
    let session = cluster.open(0).await;
    let mut body = cluster.post(0, &session, &request(9, "wait", json!({}))).await.into_body();
    piece(&mut body).await.unwrap();
    cluster.heard(0);
    let cancel = json!([{"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 9}}]);
    // The first loads the session.
    for _ in 0..2 {
        let refused = cluster.post(1, &session, &cancel.to_string()).await;
        assert_eq!(refused.status(), StatusCode::BAD_REQUEST);
    }
    assert_eq!(cluster.echo(0, &session).await, StatusCode::OK);
    assert_eq!(cluster.heard(0), [Heard::Message("echo".into())]);
}

#[tokio::test(start_paused = true)]
async fn cancellation_reaches_the_node_that_runs_the_request() {
    let mut cluster = Cluster::start(3, EndpointConfig::new()).await;
    let session = cluster.open(0).await;
    let mut body = cluster.post(1, &session, &request(9, "wait", json!({}))).await.into_body();
    piece(&mut body).await.unwrap();
    let cancel = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 9}});
    let taken = cluster.post(2, &session, &cancel.to_string()).await;
    assert_eq!(taken.status(), StatusCode::ACCEPTED);
    cluster.hears(1, &Heard::Message("notifications/cancelled".into())).await;
    assert_eq!(piece(&mut body).await, None);
    for at in [0, 2] {
        let heard = cluster.heard(at);
        assert!(!heard.contains(&Heard::Message("notifications/cancelled".into())), "{heard:?}");
    }
}
