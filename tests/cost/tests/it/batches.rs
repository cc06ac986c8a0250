//! A batch in one POST: its ids are compared with each other and with those that are unanswered.

use std::future::poll_fn;
use std::task::{Context, Poll};

use agentwire_cost_tests::Meter;
use agentwire_store::{Clock, Node, StoreLimits, Stores};
use agentwire_transport::Packet;
use agentwire_transport_http::server::{Connection, Endpoint, EndpointConfig};
use futures::{FutureExt, SinkExt, StreamExt};
use http::StatusCode;
use tower_service::Service;

use super::http::{Connections, endpoint, post};

/// A session of the revision that has batches.
async fn open(endpoint: &mut Endpoint, connections: &mut Connections) -> (String, Connection) {
    let initialize =
        r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-03-26"}}"#;
    let mut response = Box::pin(endpoint.call(post(None, initialize)));
    assert!(poll_fn(|cx| Poll::Ready(response.poll_unpin(cx))).await.is_pending());
    let mut connection = connections.next().await.unwrap();
    connection.next().await.unwrap().unwrap();
    let answer = r#"{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-03-26"}}"#;
    connection.send(Packet::from_json(answer)).await.unwrap();
    let response = response.await.unwrap();
    (response.headers()["mcp-session-id"].to_str().unwrap().to_owned(), connection)
}

/// 1000 requests under ids of the length that makes 4 MiB of them. They differ at the end only, and have escapes, so
/// that it takes longest to see it.
fn batch_of_long_ids() -> String {
    let padding = "\\u0041".repeat(165);
    let padding = padding.as_str();
    let requests: Vec<_> =
        (0..1000).map(|at| format!(r#"{{"jsonrpc":"2.0","id":"{padding}{at}","method":"x"}}"#)).collect();
    format!("[{}]", requests.join(","))
}

#[tokio::test(flavor = "current_thread")]
async fn the_ids_of_a_batch_are_looked_at_once() {
    let meter = Meter::lock();
    let (mut endpoint, mut connections) = endpoint(EndpointConfig::new().inbox_limit(1).stream_limit(10_000));
    let (session, mut connection) = open(&mut endpoint, &mut connections).await;
    let body = batch_of_long_ids();
    let reference = meter.reference(body.as_bytes());
    let mut cx = Context::from_waker(std::task::Waker::noop());

    // Comparing each id with each other costs 1,800 times the reference and more.
    // The first fills the inbox, so that the others wait, and are woken again and again.
    let (first, cost) =
        meter.measure(|| Box::pin(endpoint.call(post(Some(&session), body.clone()))).poll_unpin(&mut cx));
    assert!(cost.cpu_ratio(reference) < 300.0, "{cost:?}, reference {reference:?}");
    let Poll::Pending = first else { panic!("the answers are waited for") };
    let other = body.replace(r#""id":""#, r#""id":"other-"#);
    let mut waiting = Box::pin(endpoint.call(post(Some(&session), other)));
    let ((), cost) =
        meter.measure(|| (0..100).for_each(|_| assert!(waiting.poll_unpin(&mut cx).is_pending())));
    assert!(cost.cpu_ratio(reference) < 300.0, "{cost:?}, reference {reference:?}");

    // What is in there twice is found, in the batch and in the session.
    let twice = body.replacen(r#"\u00410","#, r#"\u00411","#, 1);
    let refused = Box::pin(endpoint.call(post(Some(&session), twice))).poll_unpin(&mut cx);
    let Poll::Ready(Ok(response)) = refused else { panic!("it is refused at once") };
    assert_eq!(response.status(), StatusCode::BAD_REQUEST);
    connection.next().await.unwrap().unwrap();
    let mut again = Box::pin(endpoint.call(post(Some(&session), body)));
    let Poll::Ready(Ok(response)) = again.poll_unpin(&mut cx) else { panic!("it is refused at once") };
    assert_eq!(response.status(), StatusCode::BAD_REQUEST);
}

#[tokio::test(flavor = "current_thread")]
async fn the_uris_of_subscriptions_are_looked_at_once() {
    let meter = Meter::lock();
    let node = Node::join(Stores::memory(&StoreLimits::new(), &Clock::system())).await.unwrap();
    let (mut endpoint, mut connections) = endpoint(EndpointConfig::new().node(node).stream_limit(10_000));
    let (session, _connection) = open(&mut endpoint, &mut connections).await;
    let padding = "A".repeat(1000);
    let subscribe = |at| {
        let uri = format!("{padding}{at}");
        format!(r#"{{"jsonrpc":"2.0","id":{at},"method":"resources/subscribe","params":{{"uri":"{uri}"}}}}"#)
    };
    let body = format!("[{}]", (0..1000).map(subscribe).collect::<Vec<_>>().join(","));
    let reference = meter.reference(body.as_bytes());
    let mut cx = Context::from_waker(std::task::Waker::noop());
    let (refused, cost) =
        meter.measure(|| Box::pin(endpoint.call(post(Some(&session), body))).poll_unpin(&mut cx));
    let Poll::Ready(Ok(response)) = refused else { panic!("it is refused at once") };
    assert_eq!(response.status(), StatusCode::TOO_MANY_REQUESTS, "more than a session may have");
    assert!(cost.cpu_ratio(reference) < 300.0, "{cost:?}, reference {reference:?}");
}
