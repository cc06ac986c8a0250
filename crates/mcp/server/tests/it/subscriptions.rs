//! Notifications of changes: in a session, and on `subscriptions/listen`.

use std::sync::Arc;

use agentwire_mcp_server::{Context, NoArguments, Server, ServerPrompt, ServerResource, ServerTool};
use serde_json::{Value, json};

use crate::raw::{NEWEST, Raw, alone, code_of, with_raw, with_session};
use crate::subject::subject;

/// One that has something of every kind, and news of its resources.
fn watched() -> Server {
    subject().resource_updates()
}

fn change_tools(server: &Server) {
    server.add_tool(ServerTool::new("late", "Late", async |_: NoArguments, _cx| "now"));
}

fn change_prompts(server: &Server) {
    server.add_prompt(ServerPrompt::new("late", "Late", async |_: NoArguments, _cx| "now"));
}

fn change_resources(server: &Server) {
    server.add_resource(ServerResource::new("memo:///late", "late", async || "now"));
}

async fn listen(raw: &mut Raw, id: impl Into<Value>, filter: Value) -> Value {
    let id = id.into();
    raw.request(id.clone(), "subscriptions/listen", alone(json!({ "notifications": filter }))).await;
    let mut first = raw.next().await;
    assert_eq!(first["method"], "notifications/subscriptions/acknowledged");
    assert_eq!(first["params"]["_meta"], json!({ "io.modelcontextprotocol/subscriptionId": id }));
    first["params"]["notifications"].take()
}

/// The next message is that notification, on that subscription.
async fn hears(raw: &mut Raw, id: impl Into<Value>, method: &str, mut params: Value) {
    params["_meta"] = json!({ "io.modelcontextprotocol/subscriptionId": id.into() });
    assert_eq!(raw.next().await, json!({ "jsonrpc": "2.0", "method": method, "params": params }));
}

#[tokio::test(start_paused = true)]
async fn sub_01_and_03_only_requested_changes_are_notified() {
    let server = watched();
    with_raw(&server, async |raw| {
        let filter = json!({ "toolsListChanged": true, "resourceSubscriptions": ["memo:///motto"] });
        assert_eq!(listen(raw, 1, filter.clone()).await, filter);
        change_prompts(&server);
        change_resources(&server);
        server.resource_updated("memo:///gone");
        raw.hears_nothing().await;
        change_tools(&server);
        hears(raw, 1, "notifications/tools/list_changed", json!({})).await;
        server.resource_updated("memo:///motto");
        hears(raw, 1, "notifications/resources/updated", json!({ "uri": "memo:///motto" })).await;
        raw.hears_nothing().await;
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_function_tells_of_changes_itself() {
    let change = async |_: NoArguments, cx: Context| {
        cx.resource_updated("memo:///motto");
        cx.resources_changed();
        "changed"
    };
    let server = watched().tool("change", "Change the motto", change);
    with_raw(&server, async |raw| {
        let filter = json!({ "resourcesListChanged": true, "resourceSubscriptions": ["memo:///motto"] });
        assert_eq!(listen(raw, 1, filter.clone()).await, filter);
        raw.request(2, "tools/call", alone(json!({ "name": "change" }))).await;
        assert_eq!(raw.next().await["id"], 2);
        hears(raw, 1, "notifications/resources/list_changed", json!({})).await;
        hears(raw, 1, "notifications/resources/updated", json!({ "uri": "memo:///motto" })).await;
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn sub_01_unsupported_notifications_are_left_out_of_the_filter() {
    let everything = json!({
        "toolsListChanged": true, "promptsListChanged": true, "resourcesListChanged": true,
        "resourceSubscriptions": ["memo:///motto"], "taskIds": ["1"],
    });
    with_raw(&Server::new("empty", "1"), async |raw| {
        assert_eq!(listen(raw, 1, everything.clone()).await, json!({}));
    })
    .await;
    with_raw(&subject(), async |raw| {
        let honoured =
            json!({ "toolsListChanged": true, "promptsListChanged": true, "resourcesListChanged": true });
        assert_eq!(listen(raw, 1, everything.clone()).await, honoured, "it has no news of single resources");
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn sub_02_and_04_each_subscription_bears_its_own_id_with_its_type() {
    let server = watched();
    with_raw(&server, async |raw| {
        for id in [json!(42), json!("42"), json!("s-1")] {
            listen(raw, id.clone(), json!({ "promptsListChanged": true })).await;
            change_prompts(&server);
            hears(raw, id.clone(), "notifications/prompts/list_changed", json!({})).await;
            // The next one has the place to itself.
            raw.notify("notifications/cancelled", json!({ "requestId": id })).await;
        }
        listen(raw, 1, json!({ "toolsListChanged": true })).await;
        listen(raw, 2, json!({ "resourcesListChanged": true })).await;
        change_resources(&server);
        hears(raw, 2, "notifications/resources/list_changed", json!({})).await;
        change_tools(&server);
        hears(raw, 1, "notifications/tools/list_changed", json!({})).await;
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn sub_05_cancelled_or_dropped_subscription_gets_no_more_notifications() {
    let server = watched();
    with_raw(&server, async |raw| {
        listen(raw, 1, json!({ "toolsListChanged": true })).await;
        listen(raw, 2, json!({ "toolsListChanged": true })).await;
        raw.notify("notifications/cancelled", json!({ "requestId": 1 })).await;
        raw.abandon(2).await;
        raw.result_of("tools/list", alone(json!({}))).await;
        change_tools(&server);
        raw.hears_nothing().await;
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn sub_06_the_server_ends_one_with_a_result() {
    let server = watched();
    let ended = |id: Value| {
        json!({ "jsonrpc": "2.0", "id": id, "result": {
            "resultType": "complete",
            "_meta": {
                "io.modelcontextprotocol/subscriptionId": id,
                "io.modelcontextprotocol/serverInfo": { "name": "subject", "version": "1.0.0" },
            },
        } })
    };
    with_raw(&server, async |raw| {
        listen(raw, "a", json!({ "toolsListChanged": true })).await;
        change_tools(&server);
        server.close_subscriptions();
        hears(raw, "a", "notifications/tools/list_changed", json!({})).await;
        assert_eq!(raw.next().await, ended(json!("a")));
        // Another can be opened, and its end does not keep a client waiting that leaves.
        listen(raw, 7, json!({ "toolsListChanged": true })).await;
        let asked = tokio::time::Instant::now();
        raw.leave().await;
        assert_eq!(raw.next().await, ended(json!(7)));
        raw.hears_the_end().await;
        assert_eq!(asked.elapsed(), std::time::Duration::ZERO);
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn shutdown_ends_a_subscription_at_once() {
    let (stop, stopped) = futures::channel::oneshot::channel::<()>();
    let server = watched().shutdown(async { _ = stopped.await });
    with_raw(&server, async |raw| {
        listen(raw, 1, json!({ "toolsListChanged": true })).await;
        let begun = tokio::time::Instant::now();
        drop(stop);
        assert_eq!(raw.next().await["result"]["resultType"], "complete");
        raw.hears_the_end().await;
        assert_eq!(begun.elapsed(), std::time::Duration::ZERO);
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn sub_09_and_10_an_empty_filter_is_acknowledged_and_that_is_all() {
    let server = watched();
    with_raw(&server, async |raw| {
        let more = json!({ "progressToken": 1, "io.modelcontextprotocol/logLevel": "debug" });
        let params = crate::raw::alone_with(json!({ "notifications": {} }), more);
        raw.request(1, "subscriptions/listen", params).await;
        assert_eq!(raw.next().await["params"]["notifications"], json!({}));
        change_tools(&server);
        server.resource_updated("memo:///motto");
        raw.hears_nothing().await;
        assert_eq!(
            raw.refusal_of("subscriptions/listen", alone(json!({}))).await,
            -32602,
            "no filter at all"
        );
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn repeated_change_is_reported_once() {
    let server = watched();
    with_raw(&server, async |raw| {
        listen(raw, 1, json!({ "toolsListChanged": true, "resourceSubscriptions": ["x:a", "x:b"] })).await;
        for _ in 0..10_000 {
            change_tools(&server);
            server.resource_updated("x:b");
            server.resource_updated("x:a");
        }
        hears(raw, 1, "notifications/tools/list_changed", json!({})).await;
        for uri in ["x:a", "x:b"] {
            hears(raw, 1, "notifications/resources/updated", json!({ "uri": uri })).await;
        }
        raw.hears_nothing().await;
    })
    .await;
}

#[tokio::test]
async fn changes_come_from_any_thread() {
    let server = Arc::new(watched());
    with_raw(&server, async |raw| {
        listen(raw, 1, json!({ "toolsListChanged": true })).await;
        let other = server.clone();
        let changed = tokio::task::spawn_blocking(move || change_tools(&other));
        hears(raw, 1, "notifications/tools/list_changed", json!({})).await;
        changed.await.expect("it does not panic");
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn session_is_notified_of_resources_that_it_subscribed_to() {
    let server = watched();
    with_session(&server, NEWEST, async |raw| {
        server.resource_updated("memo:///motto");
        assert_eq!(raw.result_of("resources/subscribe", json!({ "uri": "memo:///motto" })).await, json!({}));
        let unknown = raw.ask("resources/subscribe", json!({ "uri": "memo:///none" })).await;
        assert_eq!(code_of(&unknown), -32002);
        server.resource_updated("memo:///gone");
        server.resource_updated("memo:///motto");
        let params = json!({ "uri": "memo:///motto" });
        assert_eq!(
            raw.next().await,
            json!({ "jsonrpc": "2.0", "method": "notifications/resources/updated", "params": params })
        );
        assert_eq!(raw.result_of("resources/unsubscribe", params).await, json!({}));
        server.resource_updated("memo:///motto");
        raw.hears_nothing().await;
    })
    .await;
}

/// Like a subscription: a repeated change before the client has read the first is reported once.
#[tokio::test(start_paused = true)]
async fn a_session_that_does_not_read_makes_nothing_grow() {
    let server = watched();
    with_session(&server, NEWEST, async |raw| {
        raw.result_of("resources/subscribe", json!({ "uri": "memo:///motto" })).await;
        for _ in 0..1000 {
            server.resource_updated("memo:///motto");
            change_tools(&server);
            tokio::task::yield_now().await;
        }
        raw.request("last", "ping", json!({})).await;
        let mut told = Vec::new();
        loop {
            let message = raw.next().await;
            if message["id"] == "last" {
                break;
            }
            told.push(message);
        }
        // What the transport holds, and one of each that waits.
        assert!((2..=20).contains(&told.len()), "{} notifications", told.len());
        assert!(told.iter().any(|told| told["params"]["uri"] == "memo:///motto"));
        raw.hears_nothing().await;
    })
    .await;
}

/// Resources at all URIs that begin with `x:`.
fn many() -> Server {
    watched().resource_template(
        "x:{+id}",
        "x",
        async |_: std::collections::BTreeMap<String, String>, _cx| "x",
    )
}

#[tokio::test(start_paused = true)]
async fn a_session_watches_so_many_resources_and_no_more() {
    let subscribe = |number: usize| json!({ "uri": format!("x:{number}") });
    with_session(&many(), NEWEST, async |raw| {
        for number in (0..1000).chain(0..1000) {
            raw.result_of("resources/subscribe", subscribe(number)).await;
        }
        let refused = raw.ask("resources/subscribe", subscribe(1000)).await;
        assert_eq!(code_of(&refused), -32602);
        let why = refused["error"]["message"].as_str().expect("a text");
        assert!(why.contains("1000") && why.contains("SubscriptionLimits::uris"), "{why}");
        raw.result_of("resources/unsubscribe", subscribe(7)).await;
        raw.result_of("resources/subscribe", subscribe(1000)).await;
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn the_uris_that_a_client_watches_have_so_many_bytes_and_no_more() {
    let subscribe = |number: usize| json!({ "uri": format!("x:{number}{}", "y".repeat(100_000)) });
    let server = many();
    with_session(&server, NEWEST, async |raw| {
        for number in 0..10 {
            raw.result_of("resources/subscribe", subscribe(number)).await;
        }
        let refused = raw.ask("resources/subscribe", subscribe(10)).await;
        let why = refused["error"]["message"].as_str().expect("a text");
        assert!(why.contains("1048576") && why.contains("SubscriptionLimits::client_bytes"), "{why}");
        raw.result_of("resources/unsubscribe", subscribe(7)).await;
        raw.result_of("resources/subscribe", subscribe(10)).await;
        // Another client is served at the same time.
        with_session(&server, NEWEST, async |other| {
            other.result_of("resources/subscribe", subscribe(11)).await;
        })
        .await;
    })
    .await;
    // What a session held is free when it is over.
    for _ in 0..20 {
        with_session(&server, NEWEST, async |raw| {
            for number in 0..10 {
                raw.result_of("resources/subscribe", subscribe(number)).await;
            }
        })
        .await;
    }
}

#[tokio::test(start_paused = true)]
async fn one_subscription_names_so_many_resources_and_no_more() {
    let server = many();
    let uris = |count: usize| (0..count).map(|number| format!("x:{number}")).collect::<Vec<_>>();
    with_raw(&server, async |raw| {
        listen(raw, 1, json!({ "resourceSubscriptions": uris(1000) })).await;
        for (filter, named) in [
            (json!({ "resourceSubscriptions": uris(1001) }), "SubscriptionLimits::uris"),
            (
                json!({ "resourceSubscriptions": ["x:".to_owned() + &"y".repeat(1 << 20)] }),
                "SubscriptionLimits::client_bytes",
            ),
        ] {
            let refused = raw.ask("subscriptions/listen", alone(json!({ "notifications": filter }))).await;
            let why = refused["error"]["message"].as_str().expect("a text");
            assert!(code_of(&refused) == -32602 && why.contains(named), "{why}");
        }
        server.resource_updated("x:999");
        hears(raw, 1, "notifications/resources/updated", json!({ "uri": "x:999" })).await;
    })
    .await;
}
