//! Faults that servers in the field are known to have, each of which must not happen here. Most of what there is to say
//! of them stands where the feature is tested; here is the rest. The list is `tests/tests/it/probes.rs`.

use std::borrow::Cow;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use agentwire_mcp_server::{Context, NoArguments, Server};
use agentwire_test_support::net::{Head, Raw};
use agentwire_transport_http::server::{AnswerForm, Endpoint, EndpointConfig, serve};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tokio::time::sleep;

use crate::raw::{MODERN, NEWEST, alone, code_of, with_session};
use crate::subject::subject;

#[tokio::test]
async fn a_panic_is_answered_over_http_in_every_form() {
    for form in [AnswerForm::Events, AnswerForm::Json] {
        let web = Web::start(&subject(), EndpointConfig::new().legacy_answer(form)).await;
        let session = web.open().await;
        let panic = json!({ "name": "panic" });
        let answer = web.ask(Some(&session), "tools/call", panic.clone()).await;
        assert_eq!((answer.head.status, code_of(&answer.message()), answer.id()), (200, -32603, json!("q")));
        let echo = json!({ "name": "echo", "arguments": { "text": "hi" } });
        let answer = web.ask(Some(&session), "tools/call", echo).await;
        assert_eq!(answer.message()["result"]["content"][0]["text"], "hi", "the session goes on");

        let answer = web.ask(None, "tools/call", alone(panic)).await;
        assert_eq!((code_of(&answer.message()), answer.id()), (-32603, json!("q")));
    }
}

#[tokio::test]
async fn a_stream_that_nobody_reads_holds_up_its_session_for_a_bounded_time() {
    let said = Arc::new(AtomicUsize::new(0));
    let counted = said.clone();
    let server = subject().tool("flood", "Never stop talking", move |_: NoArguments, cx: Context| {
        let said = counted.clone();
        async move {
            let words = "x".repeat(1000);
            for step in 1_u32.. {
                cx.progress(step.into(), None, Some(&words)).await.expect("progress can be said");
                said.fetch_add(1, Ordering::Relaxed);
                tokio::task::yield_now().await;
            }
        }
    });
    let web =
        Web::start(&server, EndpointConfig::new().stall(Duration::from_secs(1)).event_store(None)).await;
    let session = web.open().await;
    let flood = json!({ "name": "flood", "arguments": {}, "_meta": { "progressToken": 1 } });
    let lazy = web.send(Some(&session), "flood", "tools/call", flood).await;
    // Until the buffers of the sockets are full, which shows only in that no more is sent.
    let mut before = 0;
    while before == 0 || before != said.load(Ordering::Relaxed) {
        before = said.load(Ordering::Relaxed);
        sleep(Duration::from_millis(100)).await;
    }
    for _ in 0..20 {
        let echo =
            web.ask(Some(&session), "tools/call", json!({ "name": "echo", "arguments": { "text": "hi" } }));
        assert_eq!(echo.await.message()["result"]["content"][0]["text"], "hi");
    }
    drop(lazy);
}

#[tokio::test(start_paused = true)]
async fn an_id_is_free_again_after_its_request_was_cancelled() {
    with_session(&subject(), NEWEST, async |raw| {
        for _ in 0..3 {
            raw.request(7, "tools/call", json!({ "name": "deaf" })).await;
            raw.notify("notifications/cancelled", json!({ "requestId": 7 })).await;
            raw.ping().await;
        }
        raw.request(7, "tools/call", json!({ "name": "echo", "arguments": { "text": "mine" } })).await;
        let answer = raw.next().await;
        assert_eq!((&answer["id"], &answer["result"]["content"][0]["text"]), (&json!(7), &json!("mine")));
        raw.hears_nothing().await;
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn of_two_equal_ids_the_second_is_refused_and_the_first_is_answered() {
    let server = subject().tool("slow", "Take a while", async |_: NoArguments, _| {
        sleep(Duration::from_secs(2)).await;
        "done"
    });
    with_session(&server, NEWEST, async |raw| {
        raw.request(7, "tools/call", json!({ "name": "slow" })).await;
        raw.request(7, "tools/call", json!({ "name": "echo", "arguments": { "text": "second" } })).await;
        let (refused, answered) = (raw.next().await, raw.next().await);
        assert_eq!((&refused["id"], code_of(&refused)), (&json!(7), -32600));
        assert_eq!((&answered["id"], &answered["result"]["content"][0]["text"]), (&json!(7), &json!("done")));
        raw.hears_nothing().await;
    })
    .await;
}

/// The client has sent all its messages, and still reads.
#[tokio::test(start_paused = true)]
async fn running_calls_are_answered_after_the_input_ends_however_long_they_take() {
    let server = subject().tool("nap", "Take so many milliseconds", async |Nap { milliseconds }: Nap, _| {
        sleep(Duration::from_millis(milliseconds)).await;
        "rested"
    });
    for (milliseconds, in_time) in [(900, true), (20_000, false)] {
        with_session(&server, NEWEST, async |raw| {
            raw.request(
                7,
                "tools/call",
                json!({ "name": "nap", "arguments": { "milliseconds": milliseconds } }),
            )
            .await;
            raw.leave().await;
            let answer = raw.next().await;
            assert_eq!(answer["id"], 7);
            if in_time {
                assert_eq!(answer["result"]["content"][0]["text"], "rested");
            } else {
                assert_eq!(code_of(&answer), -32603);
            }
            raw.hears_the_end().await;
        })
        .await;
    }
}

#[derive(Deserialize, JsonSchema)]
struct Nap {
    milliseconds: u64,
}

/// Counts how often its schema is made.
#[derive(Deserialize)]
struct Counted {}

static SCHEMAS: AtomicUsize = AtomicUsize::new(0);

impl JsonSchema for Counted {
    fn schema_name() -> Cow<'static, str> {
        "Counted".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        SCHEMAS.fetch_add(1, Ordering::Relaxed);
        json_schema!({ "type": "object" })
    }
}

#[tokio::test(start_paused = true)]
async fn offered_items_are_assembled_once_and_not_for_each_call() {
    let number = |n: usize| format!("tool-{n:03}");
    let server = (0..98).fold(Server::new("many", "1"), |server, n| {
        server.tool(number(n), "One of many", async |_: Counted, _| "done")
    });
    let before = SCHEMAS.load(Ordering::Relaxed);
    assert!(before >= 98);
    for _ in 0..3 {
        with_session(&server, NEWEST, async |raw| {
            for n in 0..98 {
                assert_eq!(raw.call(&number(n), json!({})).await["content"][0]["text"], "done");
            }
            assert!(!raw.result_of("tools/list", json!({})).await["tools"].as_array().unwrap().is_empty());
        })
        .await;
    }
    assert_eq!(SCHEMAS.load(Ordering::Relaxed), before);
}

/// A server on a port of its own.
struct Web {
    address: SocketAddr,
    serving: JoinHandle<()>,
}

impl Web {
    async fn start(server: &Server, config: EndpointConfig) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let server = server.clone();
        let endpoint = Endpoint::serving(config, server);
        Self { address, serving: tokio::spawn(async move { serve(listener, endpoint).await }) }
    }

    /// Opens a session and returns its id.
    async fn open(&self) -> String {
        let client = json!({ "name": "raw", "version": "1" });
        let params = json!({ "protocolVersion": NEWEST, "capabilities": {}, "clientInfo": client });
        let answer = self.ask(None, "initialize", params).await;
        answer.head.header("mcp-session-id").expect("a session").to_owned()
    }

    /// Sends a request on a connection of its own.
    async fn send(&self, session: Option<&str>, id: &str, method: &str, params: Value) -> Raw {
        let modern = params["_meta"].get("io.modelcontextprotocol/protocolVersion").is_some();
        let name = params["name"].as_str().unwrap_or_default();
        let headers = match session {
            Some(session) => vec![("MCP-Protocol-Version", NEWEST), ("Mcp-Session-Id", session)],
            None if modern => {
                vec![("MCP-Protocol-Version", MODERN), ("Mcp-Method", method), ("Mcp-Name", name)]
            }
            None => Vec::new(),
        };
        let body = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }).to_string();
        let mut raw = Raw::mcp(self.address.port()).await;
        raw.send("POST", &headers, &body).await;
        raw
    }

    /// A request and the whole of its response.
    async fn ask(&self, session: Option<&str>, method: &str, params: Value) -> Answer {
        let (head, body) = self.send(session, "q", method, params).await.response().await;
        Answer { head, body }
    }
}

impl Drop for Web {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

struct Answer {
    head: Head,
    body: String,
}

impl Answer {
    /// The last message, which is all of a body of JSON, or the data of the last event.
    fn message(&self) -> Value {
        let mut lines = self.body.lines().filter_map(|line| {
            let line = line.strip_prefix("data: ").unwrap_or(line);
            line.starts_with('{').then(|| serde_json::from_str(line).expect("JSON"))
        });
        lines.next_back().unwrap_or_else(|| panic!("no message: {:?}{}", self.head, self.body))
    }

    fn id(&self) -> Value {
        self.message()["id"].clone()
    }
}
