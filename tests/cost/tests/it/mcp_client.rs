//! The cost of a hostile MCP server for a client with default limits.

use agentwire_cost_tests::{Cost, Meter};
use agentwire_mcp_client::{BoxError, Client, ConnectionError, Era, RemoteServer};
use agentwire_transport::{Packet, duplex};
use futures::{SinkExt, StreamExt};

const MIB: usize = 1024 * 1024;

/// Runs `main` against a server that gives `result` to every request but `initialize`, and any number of pages where `result`
/// has the place `CURSOR`. Gives what it gave, and what both sides together cost.
fn measure<R>(
    meter: &Meter,
    result: &str,
    main: impl AsyncFnOnce(RemoteServer) -> Result<R, BoxError>,
) -> (Result<R, ConnectionError>, Cost) {
    measure_client(meter, Client::default(), result, main)
}

/// The same for this client.
fn measure_client<R>(
    meter: &Meter,
    client: Client,
    result: &str,
    main: impl AsyncFnOnce(RemoteServer) -> Result<R, BoxError>,
) -> (Result<R, ConnectionError>, Cost) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime");
    meter.measure(|| {
        runtime.block_on(async {
            let (near, mut far) = duplex(1);
            let server = async {
                let mut count = 0;
                while let Some(Ok(packet)) = far.next().await {
                    let Some(text) = packet.into_json() else { continue };
                    let Some(id) = text.split("\"id\":").nth(1).and_then(|rest| rest.split(',').next()) else {
                        continue;
                    };
                    count += 1;
                    let result = match text.contains("\"initialize\"") {
                        true => {
                            r#"{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"x","version":"1"}}"#
                                .to_owned()
                        }
                        false => result.replace("CURSOR", &count.to_string()),
                    };
                    let answer = Packet::from_json(&format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#));
                    if far.send(answer).await.is_err() {
                        break;
                    }
                }
            };
            tokio::join!(client.era(Era::Legacy).connect(near, async |server| main(server).await), server).0
        })
    })
}

fn tools(count: usize, schema: &str) -> String {
    let tool = format!(r#"{{"name":"t","inputSchema":{schema}}}"#);
    format!(r#"{{"tools":[{}],"nextCursor":"CURSOR"}}"#, vec![tool; count].join(","))
}

/// Pages without end, each of 9 MiB of schemas that take most memory as trees.
#[test]
fn tools_whose_schemas_take_most_memory_as_trees() {
    let meter = Meter::lock();
    let objects = vec![r#"{"":0}"#; 30_000].join(",");
    let page = tools(43, &format!(r#"{{"x":[{objects}]}}"#));
    let (warn, warnings) = std::sync::mpsc::channel();
    let client = Client::default().on_warning(move |warning| warn.send(warning.to_string()).unwrap());
    let (listed, cost) =
        measure_client(&meter, client, &page, async |server| Ok(server.tools().collect().await?.len()));
    assert_eq!(listed.expect("the list ends before the page that is too much"), 43);
    let warnings: Vec<_> = warnings.try_iter().collect();
    assert!(warnings.iter().any(|why| why.contains("Pages::byte_limit")), "{warnings:?}");
    assert!(cost.peak_bytes < 80 * MIB && cost.peak_per_byte(page.len()) < 12.0, "{cost:?}");
}

/// A million tools in a page of 31 MiB.
#[test]
fn more_tools_than_anybody_wants() {
    let meter = Meter::lock();
    let page = tools(1_000_000, "{}");
    let (listed, cost) = measure(&meter, &page, async |server| Ok(server.tools().collect().await?.len()));
    let why = listed.expect_err("there are too many").message();
    assert!(why.contains("Pages::byte_limit"), "{why}");
    assert!(cost.peak_per_byte(page.len()) < 6.0, "{cost:?}");
    let page = tools(400_000, "{}");
    let (listed, cost) = measure(&meter, &page, async |server| Ok(server.tools().collect().await?.len()));
    let why = listed.expect_err("there are too many").message();
    assert!(why.contains("Pages::item_limit"), "{why}");
    assert!(cost.peak_per_byte(page.len()) < 6.0, "{cost:?}");
}

/// 28 MiB of content blocks of an unknown kind, which would take most memory as trees.
#[test]
fn a_result_that_takes_most_memory_as_a_tree() {
    let meter = Meter::lock();
    let result =
        format!(r#"{{"content":[{}]}}"#, vec![r#"{"type":"x","":{"":{"":0}}}"#; 1_000_000].join(","));
    let (called, cost) = measure(&meter, &result, async |server| Ok(server.call_tool("t", ()).await?));
    let why = called.expect_err("it is too large").message();
    assert!(why.contains("Client::value_limit"), "{why}");
    assert!(cost.peak_per_byte(result.len()) < 6.0, "{cost:?}");
}
