//! Notifications that the services of all nodes send reach a client once, on one stream.

use std::time::Duration;

use agentwire_store::BusMessage;
use agentwire_transport_http::server::{Body, EndpointConfig};
use http::{Response, StatusCode};
use serde_json::{Value, json};

use super::super::script::request;
use super::super::time::piece;
use super::cluster::{Cluster, messages, rest};

/// A time that suffices for messages between nodes, on a paused clock.
const A_WHILE: Duration = Duration::from_millis(100);

impl Cluster {
    /// Makes the services of some nodes report a change for every client.
    async fn change(&mut self, nodes: &[usize], session: &str, number: u64) {
        for at in nodes {
            let changed = request(number, "change", json!({ "number": number }));
            rest(self.post(*at, session, &changed).await).await;
        }
    }

    /// Opens a GET of the client, and waits until other nodes know it.
    async fn listening(&mut self, at: usize, session: &str) -> Response<Body> {
        let stream = self.get(at, session, None).await;
        tokio::time::sleep(A_WHILE).await;
        stream
    }
}

/// The numbers of the changes that a stream reports within a while.
async fn reported(stream: &mut Response<Body>) -> Vec<Value> {
    let mut text = String::new();
    while let Ok(Some(piece)) = tokio::time::timeout(A_WHILE, piece(stream.body_mut())).await {
        text += &piece;
    }
    messages(&text).iter().map(|message| message["params"]["number"].clone()).collect()
}

#[tokio::test(start_paused = true)]
async fn change_is_reported_on_the_newest_stream_only() {
    let mut cluster = Cluster::start(3, EndpointConfig::new()).await;
    let session = cluster.open(0).await;
    let mut second = cluster.listening(1, &session).await;
    let mut third = cluster.listening(2, &session).await;
    for number in 1..=3 {
        cluster.change(&[0, 1, 2], &session, number).await;
    }
    assert_eq!(reported(&mut third).await, [1, 2, 3]);
    assert_eq!(reported(&mut second).await, [0; 0]);
    let mut first = cluster.listening(0, &session).await;
    assert_eq!(reported(&mut first).await, [0; 0], "nothing has changed since");
    cluster.change(&[2, 1, 0], &session, 4).await;
    assert_eq!(reported(&mut first).await, [4]);
    assert_eq!(reported(&mut third).await, [0; 0]);
}

#[tokio::test(start_paused = true)]
async fn message_kept_at_one_node_is_sent_at_another() {
    let mut cluster = Cluster::start(3, EndpointConfig::new()).await;
    let session = cluster.open(0).await;
    cluster.change(&[1, 0, 2], &session, 1).await;
    let mut stream = cluster.listening(1, &session).await;
    assert_eq!(reported(&mut stream).await, [1]);
    drop(stream);
    cluster.change(&[0, 1, 2], &session, 2).await;
    let mut stream = cluster.listening(2, &session).await;
    assert_eq!(reported(&mut stream).await, [2]);
}

#[tokio::test(start_paused = true)]
async fn an_older_stream_delivers_once_the_newer_one_is_closed() {
    let mut cluster = Cluster::start(2, EndpointConfig::new()).await;
    let session = cluster.open(0).await;
    let mut older = cluster.listening(0, &session).await;
    let newer = cluster.listening(1, &session).await;
    drop(newer);
    cluster.change(&[0, 1], &session, 1).await;
    // The nodes agree at the next tick.
    tokio::time::sleep(Duration::from_secs(2)).await;
    cluster.change(&[0, 1], &session, 2).await;
    assert_eq!(reported(&mut older).await, [1, 2]);
}

#[tokio::test(start_paused = true)]
async fn an_older_stream_delivers_though_the_end_of_the_newer_one_was_refused_or_lost() {
    for is_lost in [false, true] {
        let mut cluster = Cluster::start(2, EndpointConfig::new()).await;
        let session = cluster.open(0).await;
        let mut older = cluster.listening(0, &session).await;
        let mut newer = cluster.listening(1, &session).await;
        // Both are open: that messages may be lost changes nothing.
        cluster.replicas.iter().for_each(|replica| replica.node.announce(BusMessage::Anything));
        cluster.change(&[0, 1], &session, 0).await;
        tokio::time::sleep(A_WHILE).await;
        cluster.change(&[0, 1], &session, 1).await;
        let both = (reported(&mut older).await, reported(&mut newer).await);
        assert_eq!(both, (vec![], vec![json!(0), json!(1)]));
        cluster.faults.lose_messages(is_lost);
        cluster.faults.refuse_messages(!is_lost);
        drop(newer);
        tokio::time::sleep(Duration::from_secs(2)).await;
        cluster.change(&[0, 1], &session, 2).await;
        cluster.faults.lose_messages(false);
        cluster.faults.refuse_messages(false);
        if is_lost {
            cluster.replicas[1].node.announce(BusMessage::Anything);
        }
        tokio::time::sleep(Duration::from_secs(2)).await;
        cluster.change(&[0, 1], &session, 3).await;
        assert_eq!(reported(&mut older).await, [2, 3], "lost: {is_lost}");
    }
}

#[tokio::test(start_paused = true)]
async fn end_of_a_node_neither_loses_nor_repeats_a_change() {
    let mut cluster = Cluster::start(3, EndpointConfig::new()).await;
    let session = cluster.open(0).await;
    cluster.change(&[1], &session, 1).await;
    let stream = cluster.listening(0, &session).await;
    // This node loads the session now.
    assert_eq!(cluster.echo(2, &session).await, StatusCode::OK);
    let shutdown = tokio::spawn(cluster.replicas[0].endpoint.shutdown(A_WHILE));
    tokio::time::sleep(A_WHILE).await;
    drop(stream);
    shutdown.await.unwrap();
    cluster.change(&[1, 2], &session, 2).await;
    let mut moved = cluster.listening(1, &session).await;
    assert_eq!(reported(&mut moved).await, [2]);
    let mut other = cluster.listening(2, &session).await;
    assert_eq!(reported(&mut other).await, [0; 0]);
    cluster.change(&[1, 2], &session, 3).await;
    assert_eq!((reported(&mut moved).await, reported(&mut other).await), (vec![], vec![json!(3)]));
}
