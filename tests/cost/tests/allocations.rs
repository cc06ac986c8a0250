//! How many allocations a call of an MCP client takes. A binary of its own, because it counts by another allocator.

use std::alloc::System;

use agentwire_mcp_client::{BoxError, Client, Era, Next, RawCall, RemoteServer, Retry, from_fn};
use agentwire_transport::{Duplex, Packet, duplex};
use futures::{SinkExt, StreamExt};
use serde_json::json;
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

const CALLS: usize = 200;

const INITIALIZED: &str =
    r#"{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"x","version":"1"}}"#;
const DISCOVERED: &str = r#"{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},"ttlMs":0,"cacheScope":"private"}"#;
const CALLED: &str = r#"{"resultType":"complete","content":[]}"#;

/// Answers every request.
async fn serve(mut transport: Duplex) {
    while let Some(Ok(packet)) = transport.next().await {
        let Some(text) = packet.into_json() else { continue };
        let Some(id) = text.split("\"id\":").nth(1).and_then(|rest| rest.split(',').next()) else { continue };
        let result = match () {
            () if text.contains("\"initialize\"") => INITIALIZED,
            () if text.contains("server/discover") => DISCOVERED,
            () => CALLED,
        };
        let answer = Packet::from_json(&format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#));
        if transport.send(answer).await.is_err() {
            return;
        }
    }
}

/// Allocations of one plain call, those of its transport and of its server included.
fn allocations(client: Client) -> f64 {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime");
    runtime.block_on(async {
        let (near, far) = duplex(1);
        let main = async |server: RemoteServer| {
            let call = async || server.call_tool("echo", json!({ "text": "hello" })).await;
            call().await?;
            let region = Region::new(&INSTRUMENTED_SYSTEM);
            for _ in 0..CALLS {
                call().await?;
            }
            let change = region.change();
            Ok::<_, BoxError>((change.allocations + change.reallocations) as f64 / CALLS as f64)
        };
        tokio::join!(client.connect(near, main), serve(far)).0.expect("the calls succeed")
    })
}

/// The stack costs a call of a session nothing and a call of a modern server one allocation; each layer of the user costs one
/// more. With generic code for each request in place of the stack, the first two took 17.32 and 18.34. The progress token, by
/// which progress extends the time-out of a call, costs one.
#[test]
fn a_layer_costs_one_allocation_and_no_layer_none() {
    let modern = |client: Client| client.era(Era::Modern);
    let plain = || Client::default().era(Era::Legacy);
    // A layer that passes every call on.
    let passing =
        |client: Client| client.layer(from_fn(async |call: RawCall, next: Next| next.call(call).await));
    let rows = [
        (allocations(plain()), 18.4),
        (allocations(passing(plain())), 19.4),
        (allocations(passing(passing(plain()))), 20.4),
        (allocations(modern(plain())), 19.4),
        (allocations(modern(passing(plain()))), 20.4),
        // What it keeps of the call for another try is shared.
        (allocations(plain().layer(Retry::idempotent(3))), 19.4),
    ];
    for (allocations, most) in rows {
        assert!(allocations <= most, "{allocations} instead of {most}: {rows:?}");
    }
}
