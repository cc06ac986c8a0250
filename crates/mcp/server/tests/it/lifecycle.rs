//! The handshake, and the capabilities after it.

use std::borrow::Cow;
use std::sync::Arc;

use agentwire_jsonrpc::{RawJson, Request, RequestMethod};
use agentwire_mcp_server::schema::{
    CreateMessageRequest, Downgrade, ElicitRequest, ElicitUrlRequest, HasMeta, JsonSchema, SamplingMessage,
    Tool, ToolResultContent,
};
use agentwire_mcp_server::{Context, NoArguments, Server};
use agentwire_transport::{Duplex, Exchange, MessageSource, Packet, Service};
use serde_json::{Value, json};

use crate::raw::{NEWEST, REVISIONS, Raw, alone, code_of, with_raw, with_session};
use crate::subject::subject;

#[tokio::test(start_paused = true)]
async fn lif_03_and_09_a_known_version_is_answered_with_itself() {
    for revision in REVISIONS {
        let answer = with_raw(&subject(), async |raw| raw.greet(revision).await).await;
        let result = &answer["result"];
        assert_eq!(result["protocolVersion"], revision);
        assert_eq!(result["serverInfo"], json!({ "name": "subject", "version": "1.0.0" }));
        assert_eq!(result["instructions"], "Call add.");
        let list_changed = json!({ "listChanged": true });
        assert_eq!(
            result["capabilities"],
            json!({
                "tools": list_changed, "resources": list_changed, "prompts": list_changed, "logging": {},
            })
        );
    }
}

#[tokio::test(start_paused = true)]
async fn lif_10_an_unknown_version_is_answered_with_the_newest() {
    for asked in ["1999-01-01", "2026-07-28", "zzz"] {
        let answer = with_raw(&subject(), async |raw| raw.initialize(asked).await).await;
        assert_eq!(answer["result"]["protocolVersion"], NEWEST);
    }
}

#[tokio::test(start_paused = true)]
async fn lif_07_before_the_handshake_everything_is_answered_and_nothing_ends() {
    with_raw(&subject(), async |raw| {
        raw.ping().await;
        // Neither part of a session nor a request that names its client.
        for method in ["tools/list", "tools/call", "server/discover", "subscriptions/listen"] {
            assert_eq!(raw.refusal_of(method, json!({ "name": "echo" })).await, -32602, "{method}");
        }
        assert_eq!(raw.refusal_of("tools/dance", json!({})).await, -32601);
        raw.notify("notifications/whatever", json!({})).await;
        assert_eq!(raw.refusal_of("initialize", json!({ "protocolVersion": 1 })).await, -32602);
        raw.greet(NEWEST).await;
        assert!(raw.result_of("tools/list", json!({})).await["tools"].is_array());
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn lif_06_nothing_is_said_before_initialized() {
    let server = subject();
    with_raw(&server, async |raw| {
        raw.initialize(NEWEST).await;
        server.remove_tool("echo");
        raw.hears_nothing().await;
        raw.notify("notifications/initialized", json!({})).await;
        raw.ping().await;
        server.remove_tool("add");
        assert_eq!(raw.next().await["method"], "notifications/tools/list_changed");
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn lif_13_what_the_client_cannot_do_is_not_asked() {
    with_session(&subject(), NEWEST, async |raw| {
        let result = raw.call("ask_roots", json!({})).await;
        assert_eq!(result["isError"], true);
        assert!(result["content"][0]["text"].as_str().unwrap().contains("roots/list"), "{result}");
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_tool_may_ask_the_client_and_wait() {
    with_raw(&subject(), async |raw| {
        let params = json!({
            "protocolVersion": NEWEST,
            "capabilities": { "roots": {} },
            "clientInfo": { "name": "raw", "version": "1" },
        });
        raw.ask("initialize", params).await;
        raw.notify("notifications/initialized", json!({})).await;
        raw.request(1, "tools/call", json!({ "name": "ask_roots" })).await;
        let asked = raw.next().await;
        assert_eq!(asked["method"], "roots/list");
        raw.send(
            json!({ "jsonrpc": "2.0", "id": asked["id"], "result": { "roots": [{ "uri": "file:///a" }] } }),
        )
        .await;
        assert_eq!(raw.next().await["result"]["content"][0]["text"], "1 roots of raw");
    })
    .await;
}

/// A tool asks a client of that revision and with those capabilities: `asked`, or why it was not.
async fn asks<M>(request: M, revision: &str, capabilities: Value) -> String
where
    M: RequestMethod + Downgrade + HasMeta + Clone + Send + Sync + 'static,
{
    let server =
        Server::new("asking", "1").tool("ask", "Ask the client", move |_: NoArguments, cx: Context| {
            let request = request.clone();
            async move {
                match cx.client().call(request).await {
                    Ok(_) => "asked".to_owned(),
                    Err(error) => error.to_string(),
                }
            }
        });
    with_raw(&server, async |raw| {
        let info = json!({ "name": "raw", "version": "1" });
        let params = json!({ "protocolVersion": revision, "capabilities": capabilities, "clientInfo": info });
        raw.ask("initialize", params).await;
        raw.notify("notifications/initialized", json!({})).await;
        raw.request(1, "tools/call", json!({ "name": "ask" })).await;
        let mut message = raw.next().await;
        if message["method"].is_string() {
            let result = json!({ "action": "cancel", "role": "assistant", "model": "m",
                "content": { "type": "text", "text": "" } });
            raw.send(json!({ "jsonrpc": "2.0", "id": message["id"], "result": result })).await;
            message = raw.next().await;
        }
        message["result"]["content"][0]["text"].as_str().expect("the tool's text").to_owned()
    })
    .await
}

#[tokio::test(start_paused = true)]
async fn a_page_is_only_for_clients_that_know_of_pages() {
    let page = ElicitRequest::Url(ElicitUrlRequest::new("m", "https://example.com").elicitation_id("1"));
    let unnamed = ElicitRequest::url("m", "https://example.com");
    let able = json!({ "elicitation": { "form": {}, "url": {} } });
    for (request, revision, capabilities, expected) in [
        (&page, NEWEST, able.clone(), "asked"),
        (&page, NEWEST, json!({ "elicitation": { "form": {} } }), "`elicitation.url`"),
        (&page, NEWEST, json!({ "elicitation": {} }), "`elicitation.url`"),
        (&page, "2025-06-18", able.clone(), "`ElicitUrlRequest`"),
        (&unnamed, NEWEST, able, "`elicitation_id`"),
    ] {
        let came = asks(request.clone(), revision, capabilities).await;
        assert!(came.contains(expected), "{revision}: {came} instead of {expected}");
    }
}

#[tokio::test(start_paused = true)]
async fn tools_in_sampling_are_only_for_clients_that_know_of_them() {
    let tool = Tool::new("add", JsonSchema::any_object());
    let offers = CreateMessageRequest::new(vec![SamplingMessage::user("1 + 1?")], 9).tools(vec![tool]);
    let used = SamplingMessage::user(ToolResultContent::new("1", Vec::new()));
    let goes_on = CreateMessageRequest::new(vec![used], 9);
    let able = json!({ "sampling": { "tools": {} } });
    for (request, revision, capabilities, expected) in [
        (&offers, NEWEST, able.clone(), "asked"),
        (&offers, NEWEST, json!({ "sampling": {} }), "`sampling.tools`"),
        (&offers, "2025-06-18", able.clone(), "`sampling.tools`"),
        (&goes_on, "2025-06-18", able, "`ToolResultContent`"),
    ] {
        let came = asks(request.clone(), revision, capabilities).await;
        assert!(came.contains(expected), "{revision}: {came} instead of {expected}");
    }
}

#[tokio::test(start_paused = true)]
async fn lif_15_what_is_not_offered_is_not_found() {
    with_session(&Server::new("empty", "1"), NEWEST, async |raw| {
        for method in [
            "tools/list",
            "tools/call",
            "resources/list",
            "resources/read",
            "resources/templates/list",
            "prompts/list",
            "prompts/get",
            "logging/setLevel",
            "completion/complete",
            "resources/subscribe",
            "server/discover",
            "subscriptions/listen",
        ] {
            assert_eq!(raw.refusal_of(method, json!({})).await, -32601, "{method}");
        }
        raw.ping().await;
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn lif_20_a_second_handshake_changes_nothing() {
    with_session(&subject(), "2024-11-05", async |raw| {
        let again = raw.initialize(NEWEST).await;
        assert_eq!(code_of(&again), -32600);
        let tools = raw.result_of("tools/list", json!({})).await;
        assert!(tools["tools"][0].get("title").is_none(), "still the old revision: {tools}");
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn one_server_has_many_clients_and_tells_each() {
    let server = subject();
    with_session(&server, NEWEST, async |first| {
        with_session(&server, "2024-11-05", async |second| {
            first.ping().await;
            second.ping().await;
            let another =
                agentwire_mcp_server::ServerTool::new("late", "Late", async |_: NoArguments, _cx| "now");
            server.add_tool(another);
            for raw in [first, second] {
                assert_eq!(raw.next().await["method"], "notifications/tools/list_changed");
                assert_eq!(raw.call("late", json!({})).await["content"][0]["text"], "now");
            }
        })
        .await;
    })
    .await;
}

#[test]
fn a_connection_holds_its_transport_once_and_little_else() {
    let (near, _far) = agentwire_transport::duplex(1);
    let transport = size_of_val(&near);
    let future = size_of_val(&subject().serve(near));
    assert!(future - transport < 640, "{future} bytes, of which {transport} are the transport");
}

#[tokio::test(start_paused = true)]
async fn shutdown_ends_a_server_in_memory() {
    let (stop, stopped) = futures::channel::oneshot::channel::<()>();
    let server = subject().shutdown(async { _ = stopped.await });
    with_session(&server, NEWEST, async |raw| {
        raw.request(1, "tools/call", json!({ "name": "deaf" })).await;
        raw.ping().await;
        drop(stop);
        tokio::task::yield_now().await;
        assert_eq!(raw.ask("ping", json!({})).await["error"]["message"], "the server is shutting down");
        // It has had the time to end.
        assert_eq!(raw.next().await["id"], 1);
        raw.hears_the_end().await;
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn shutdown_refuses_requests_without_a_connection() {
    let (stop, stopped) = futures::channel::oneshot::channel::<()>();
    let server = subject().shutdown(async { _ = stopped.await });
    let discover = async || {
        let params = RawJson::encode(&alone(json!({}))).unwrap();
        let request = Request::new(1_u64, "server/discover", Some(params));
        let (exchange, _notifications) = Exchange::new(request, None, 1 << 16);
        Service::<Duplex>::exchange(&server, exchange).await.outcome
    };
    discover().await.unwrap();
    drop(stop);
    assert_eq!(discover().await.unwrap_err().message, "the server is shutting down");
}

#[tokio::test(start_paused = true)]
async fn shutdown_ends_a_subscription_without_a_connection() {
    let (stop, stopped) = futures::channel::oneshot::channel::<()>();
    let server = subject().shutdown(async { _ = stopped.await });
    let params = RawJson::encode(&alone(json!({ "notifications": { "toolsListChanged": true } }))).unwrap();
    let request = Request::new(1_u64, "subscriptions/listen", Some(params));
    let (exchange, _notifications) = Exchange::new(request, None, 1 << 16);
    let mut answered = Box::pin(Service::<Duplex>::exchange(&server, exchange));
    assert!(futures::poll!(&mut answered).is_pending());
    drop(stop);
    assert!(answered.await.outcome.is_ok());
}

#[test]
fn a_connection_can_be_spawned() {
    fn is_send<T: Send>(_: &T) {}
    let (near, _far) = agentwire_transport::duplex(1);
    is_send(&subject().serve(near));
}

/// The client at one address.
#[derive(Debug)]
struct Neighbor;

impl MessageSource for Neighbor {
    fn header(&self, _name: &str) -> Option<Cow<'_, [u8]>> {
        None
    }

    fn sender(&self) -> Option<Cow<'_, str>> {
        Some("address 192.0.2.1".into())
    }
}

async fn introduce(raw: &mut Raw, name: &str) -> Value {
    let params = json!({
        "protocolVersion": NEWEST,
        "capabilities": { "experimental": { "deep": { "er": [1, 2, 3] } } },
        "clientInfo": { "name": name, "version": "1" },
    });
    let request = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params });
    let mut packet = Packet::from_json(&request.to_string());
    if let Packet::Frame { source, .. } = &mut packet {
        *source = Some(Arc::new(Neighbor));
    }
    raw.give(packet).await;
    raw.next().await
}

/// It is kept for as long as a session, of which one client may open many.
#[tokio::test(start_paused = true)]
async fn description_of_a_client_is_counted_over_its_sessions() {
    let server = subject().value_limit(16 << 10);
    let is_refused = |answer: &Value| {
        assert!(
            answer["error"]["message"].as_str().is_none_or(|why| why.contains("value_limit")),
            "{answer}"
        );
        answer["error"]["code"] == -32602
    };
    let short = "a".repeat(5000);
    with_raw(&server, async |raw| {
        assert!(is_refused(&introduce(raw, &"a".repeat(16 << 10)).await));
        assert!(!is_refused(&introduce(raw, &short).await), "a refusal ends nothing");
        with_raw(&server, async |second| assert!(is_refused(&introduce(second, &short).await))).await;
    })
    .await;
    with_raw(&server, async |third| assert!(!is_refused(&introduce(third, &short).await))).await;
}

#[tokio::test(start_paused = true)]
async fn a_progress_token_over_the_limit_is_refused_by_name() {
    with_session(&subject(), NEWEST, async |raw| {
        let call =
            |token: String| json!({ "name": "add", "arguments": { "a": 1, "b": 2 }, "_meta": { "progressToken": token } });
        let answer = raw.ask("tools/call", call("t".repeat(1023))).await;
        assert_eq!(answer["error"]["code"], -32602, "{answer}");
        let why = answer["error"]["message"].as_str().unwrap();
        assert!(why.contains("progressToken") && why.contains("1024"), "{why}");
        assert!(raw.ask("tools/call", call("t".repeat(1022))).await["result"].is_object());
    })
    .await;
}
