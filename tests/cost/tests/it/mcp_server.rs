//! The cost of one hostile client for an MCP server with default limits.

use agentwire_cost_tests::{Cost, Meter};
use agentwire_mcp_server::{Context, NoArguments, Server};
use agentwire_transport::{Duplex, Packet, duplex};
use futures::{SinkExt, StreamExt};

const MIB: usize = 1024 * 1024;

fn server() -> Server {
    Server::new("subject", "1")
        .validate(true)
        .resource_updates()
        .resource_template(
            "x:{+id}",
            "x",
            async |_: std::collections::BTreeMap<String, String>, _: Context| "x",
        )
        .tool("nothing", "Do nothing", async |_: NoArguments, _: Context| "done")
}

struct Client(Duplex);

impl Client {
    async fn send(&mut self, text: &str) {
        self.0.send(Packet::from_json(text)).await.expect("the server listens");
    }

    /// A request, and the text of its answer.
    async fn ask(&mut self, method: &str, params: &str) -> String {
        self.send(&format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{params}}}"#)).await;
        let packet = self.0.next().await.expect("the server is there").expect("no fault");
        packet.into_json().expect("a message")
    }

    async fn initialize(&mut self) {
        let params =
            r#"{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"x","version":"1"}}"#;
        self.ask("initialize", params).await;
        self.send(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#).await;
    }
}

/// Runs `main` as the client of a session. Gives what it gave, and what both sides together cost.
fn measure<R>(meter: &Meter, main: impl AsyncFnOnce(&mut Client) -> R) -> (R, Cost) {
    measure_with(meter, server(), main)
}

fn measure_with<R>(meter: &Meter, server: Server, main: impl AsyncFnOnce(&mut Client) -> R) -> (R, Cost) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime");
    meter.measure(|| {
        runtime.block_on(async {
            let (near, far) = duplex(16);
            let client = async {
                let mut client = Client(near);
                client.initialize().await;
                main(&mut client).await
            };
            let (result, served) = tokio::join!(client, server.serve(far));
            served.expect("a client that leaves in good order is not a fault");
            result
        })
    })
}

/// 3,000 URIs of 10 KB in one session.
#[test]
fn a_session_that_subscribes_without_end() {
    let meter = Meter::lock();
    let tail = "y".repeat(10_000);
    let (refused, cost) = measure(&meter, async |client| {
        let mut refused = 0;
        for number in 0..3_000 {
            let answer = client.ask("resources/subscribe", &format!(r#"{{"uri":"x:{number}{tail}"}}"#)).await;
            refused += usize::from(answer.contains("SubscriptionLimits::client_bytes"));
        }
        refused
    });
    assert!(refused > 2_800 && cost.peak_bytes < 4 * MIB, "{refused} refused, {cost:?}");
}

/// 100 requests that listen to 1,000 URIs of 900 bytes each. What listens holds its URIs once.
#[test]
fn requests_that_listen_to_all_that_may_be() {
    let meter = Meter::lock();
    let tail = "y".repeat(900);
    let uris: Vec<_> = (0..1000).map(|number| format!(r#""x:{number}{tail}""#)).collect();
    let meta = r#"{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":
        {"name":"x","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}"#;
    let params =
        format!(r#"{{"notifications":{{"resourceSubscriptions":[{}]}},"_meta":{meta}}}"#, uris.join(","));
    let (answers, cost) = measure(&meter, async |client| {
        let mut answers = Vec::new();
        for number in 0..100 {
            let text = format!(
                r#"{{"jsonrpc":"2.0","id":{number},"method":"subscriptions/listen","params":{params}}}"#
            );
            client.send(&text).await;
            let packet = client.0.next().await.expect("the server is there").expect("no fault");
            answers.push(packet.into_json().expect("a message").contains("\"error\""));
        }
        answers
    });
    assert!(!answers[0] && answers.iter().filter(|refused| **refused).count() >= 90);
    assert!(cost.peak_bytes < 24 * MIB, "{cost:?}");
}

/// 4 MiB of the JSON that takes most memory as a tree: one object of one empty key for each seven bytes.
fn tiny_objects(count: usize) -> String {
    format!("[{}]", vec![r#"{"":0}"#; count].join(","))
}

/// Arguments that are held against a schema, and what else of a request may be kept as a tree.
#[test]
fn requests_whose_json_takes_most_memory_as_a_tree() {
    let meter = Meter::lock();
    let objects = tiny_objects(600_000);
    for (method, params) in [
        ("tools/call", format!(r#"{{"name":"nothing","arguments":{{"x":{objects}}}}}"#)),
        ("tools/call", format!(r#"{{"name":"nothing","_meta":{{"x":{objects}}}}}"#)),
        ("resources/subscribe", format!(r#"{{"uri":"x:a","_meta":{{"x":{objects}}}}}"#)),
        ("logging/setLevel", format!(r#"{{"level":"info","x":{objects}}}"#)),
        ("completion/complete", format!(r#"{{"ref":{objects}}}"#)),
    ] {
        let size = params.len();
        let (answer, cost) = measure(&meter, async |client| client.ask(method, &params).await);
        assert!(cost.peak_per_byte(size) < 8.0, "{method}: {cost:?}");
        assert!(answer.contains("limit") || answer.contains("-32601"), "{method}: {answer}");
    }
}

/// The longest text that is held against a schema: it takes no more memory than the limit.
#[test]
fn arguments_just_below_the_limit() {
    let meter = Meter::lock();
    let params = format!(r#"{{"name":"nothing","arguments":{{"x":{}}}}}"#, tiny_objects(36_000));
    let (answer, cost) = measure(&meter, async |client| client.ask("tools/call", &params).await);
    assert!(answer.contains("\"isError\":true") && !answer.contains("limit"), "{answer}");
    assert!(cost.peak_bytes < 36 * MIB, "{cost:?}");
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Anything {
    #[allow(dead_code, reason = "it is there to be decoded")]
    x: serde_json::Value,
}

/// A tool whose own type holds a tree of values, on a server that does not validate.
#[test]
fn arguments_that_a_tool_decodes_into_a_tree() {
    let meter = Meter::lock();
    let server = server().validate(false).tool("anything", "Take it", async |_: Anything, _: Context| "done");
    for (count, is_refused) in [(600_000, true), (36_000, false)] {
        let params = format!(r#"{{"name":"anything","arguments":{{"x":{}}}}}"#, tiny_objects(count));
        let (answer, cost) =
            measure_with(&meter, server.clone(), async |client| client.ask("tools/call", &params).await);
        assert_eq!(answer.contains("Server::value_limit"), is_refused, "{answer}");
        assert!(cost.peak_bytes < 48 * MIB, "{cost:?}");
    }
}
