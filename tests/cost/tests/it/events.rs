//! The memory of streams: the limit is one of memory, not of text.

use agentwire_cost_tests::Meter;
use agentwire_store::StoreLimits;
use agentwire_transport::Packet;
use agentwire_transport_http::server::{EndpointConfig, MemoryEventStore};
use futures::{FutureExt, SinkExt, StreamExt};
use std::sync::Arc;
use std::task::{Context, Waker};
use tower_service::Service;

use super::http::{endpoint, post};

const LIMIT: usize = 4 << 20;

/// Short answers cost most beside their text.
#[tokio::test(flavor = "current_thread")]
async fn the_event_store_takes_no_more_than_its_limit() {
    let meter = Meter::lock();
    for length in [0, 50, 1000, 40_000] {
        let store =
            Arc::new(MemoryEventStore::new(&StoreLimits::new().session_events(LIMIT / 16).events(LIMIT)));
        let (mut endpoint, mut connections) = endpoint(EndpointConfig::new().event_store(Some(store)));
        let mut cx = Context::from_waker(Waker::noop());
        let text = "x".repeat(length);
        let (connections, cost) = meter.measure(|| {
            let mut served = Vec::new();
            for _ in 0..17 {
                let initialize = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25"}}"#;
                let mut opening = Box::pin(endpoint.call(post(None, initialize)));
                assert!(opening.poll_unpin(&mut cx).is_pending());
                let mut connection = connections.next().now_or_never().unwrap().unwrap();
                connection.next().now_or_never().unwrap().unwrap().unwrap();
                let answer = r#"{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-11-25"}}"#;
                connection.send(Packet::from_json(answer)).now_or_never().unwrap().unwrap();
                let response = opening.now_or_never().unwrap().unwrap();
                let session = response.headers()["mcp-session-id"].to_str().unwrap().to_owned();
                for _ in 0..LIMIT / 16 / (length + 300) * 3 / 2 {
                    let call = r#"{"jsonrpc":"2.0","id":1,"method":"x"}"#;
                    let mut calling = Box::pin(endpoint.call(post(Some(&session), call)));
                    let _ = calling.poll_unpin(&mut cx);
                    connection.next().now_or_never().unwrap().unwrap().unwrap();
                    let answer = format!(r#"{{"jsonrpc":"2.0","id":1,"result":"{text}"}}"#);
                    connection.send(Packet::from_json(&answer)).now_or_never().unwrap().unwrap();
                    calling.now_or_never().unwrap().unwrap();
                }
                served.push(connection);
            }
            served
        });
        // What the sessions take without events.
        let around = connections.len() * (8 << 10);
        assert!(cost.kept_bytes < LIMIT + around, "{cost:?} for texts of {length} bytes");
        assert!(cost.kept_bytes > LIMIT / 2, "{cost:?} for texts of {length} bytes");
    }
}
