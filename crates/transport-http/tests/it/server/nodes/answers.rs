//! Answers and cancels of a client that come to another node than the one that waits for them.

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
async fn an_answer_finds_the_node_that_has_asked() {
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
    // The node itself takes it as well; and what names no node stays.
    for (at, id) in [(1, asked), (2, json!("s-9"))] {
        assert_eq!(cluster.post(at, &session, &answer(&id)).await.status(), StatusCode::ACCEPTED);
    }
    cluster.hears(1, &Heard::Answer("s-1".into())).await;
    cluster.hears(2, &Heard::Answer("s-9".into())).await;
    let gone = cluster.post(2, &session, &answer(&json!("00000000000000ff-7"))).await;
    assert_eq!(gone.status(), StatusCode::SERVICE_UNAVAILABLE);
    assert_eq!(gone.headers()["retry-after"], "1");
}

#[tokio::test(start_paused = true)]
async fn a_cancel_finds_the_node_that_runs_the_request() {
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
