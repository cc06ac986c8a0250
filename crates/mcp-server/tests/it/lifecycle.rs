//! The handshake, and what is offered after it.

use agentwire_mcp_server::{NoArguments, Server};
use serde_json::json;

use crate::raw::{NEWEST, REVISIONS, code_of, with_raw, with_session};
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
        assert_eq!(raw.refusal_of("tools/list", json!({})).await, -32600);
        assert_eq!(raw.refusal_of("tools/call", json!({ "name": "echo" })).await, -32600);
        // Clients that speak newer revisions, too, probe with methods that are unknown here.
        assert_eq!(raw.refusal_of("server/discover", json!({})).await, -32601);
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
fn a_connection_can_be_spawned() {
    fn is_send<T: Send>(_: &T) {}
    let (near, _far) = agentwire_transport::duplex(1);
    is_send(&subject().serve(near));
}
