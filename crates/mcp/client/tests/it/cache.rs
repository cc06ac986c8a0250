//! Results that the cache answers without a request. Since 2026-07-28.

use std::time::Duration;

use agentwire_mcp_client::schema::{CallToolRequest, ListToolsRequest, Meta, Root, SubscriptionFilter};
use agentwire_mcp_client::{BoxError, Cache, Client, RemoteServer};
use serde_json::{Value, json};
use tokio::time::advance;

use crate::mock::{Mock, with_modern};

fn tools(names: &[&str], ttl: i64, scope: &str) -> Value {
    let tools: Vec<_> =
        names.iter().map(|name| json!({ "name": name, "inputSchema": { "type": "object" } })).collect();
    json!({ "resultType": "complete", "tools": tools, "ttlMs": ttl, "cacheScope": scope })
}

fn text(text: &str) -> Value {
    let contents = json!([{ "uri": "x:", "text": text }]);
    json!({ "resultType": "complete", "contents": contents, "ttlMs": 60_000, "cacheScope": "private" })
}

async fn names(server: &RemoteServer) -> Result<String, BoxError> {
    let tools = server.tools().collect().await?;
    Ok(tools.into_iter().map(|tool| tool.name).collect::<Vec<_>>().join(" "))
}

/// The client sends only the end of its requests.
async fn end(mut mock: Mock) {
    while let Some(message) = mock.next().await {
        assert_eq!(message["method"], "notifications/cancelled", "{message}");
    }
}

/// Acknowledges the client's own subscription, and returns its id.
async fn listened(mock: &mut Mock) -> Value {
    let request = mock.expect("subscriptions/listen").await;
    let params = json!({
        "notifications": request["params"]["notifications"],
        "_meta": { "io.modelcontextprotocol/subscriptionId": request["id"] },
    });
    mock.notify("notifications/subscriptions/acknowledged", params).await;
    request["id"].clone()
}

async fn answer(mock: &mut Mock, method: &str, result: Value) {
    let request = mock.expect(method).await;
    mock.answer(&request, result).await;
}

#[tokio::test(start_paused = true)]
async fn cac_03_pages_are_fresh_for_their_time_and_no_longer() {
    let script = async |mut mock: Mock| {
        listened(&mut mock).await;
        for round in 0..2 {
            let mut first = tools(&["a"], 10_000, "private");
            first["nextCursor"] = "2".into();
            answer(&mut mock, "tools/list", first).await;
            if round == 0 {
                // Each page has a time of its own.
                answer(&mut mock, "tools/list", tools(&["b"], 60_000, "private")).await;
            }
        }
        for ttl in [0, -1] {
            answer(
                &mut mock,
                "prompts/list",
                json!({ "resultType": "complete", "prompts": [], "ttlMs": ttl, "cacheScope": "public" }),
            )
            .await;
        }
        end(mock).await;
    };
    let client = Client::default().cache(Cache::new());
    let (result, ()) = with_modern(client, script, async |server: RemoteServer| {
        for wait in [0, 9_999, 1] {
            advance(Duration::from_millis(wait)).await;
            assert_eq!(names(&server).await?, "a b");
        }
        for _ in 0..2 {
            server.prompts().collect().await?;
        }
        Ok(())
    })
    .await;
    result.unwrap();
}

#[tokio::test(start_paused = true)]
async fn without_a_cache_everything_is_asked_for() {
    let script = async |mut mock: Mock| {
        for _ in 0..2 {
            answer(&mut mock, "tools/list", tools(&["a"], 10_000, "public")).await;
        }
        end(mock).await;
    };
    let (result, ()) = with_modern(Client::default(), script, async |server: RemoteServer| {
        names(&server).await?;
        names(&server).await
    })
    .await;
    result.unwrap();
}

#[tokio::test(start_paused = true)]
async fn change_during_a_request_makes_its_result_stale() {
    let script = async |mut mock: Mock| {
        let id = listened(&mut mock).await;
        let about = json!({ "_meta": { "io.modelcontextprotocol/subscriptionId": id } });
        let changed = "notifications/tools/list_changed";
        answer(&mut mock, "tools/list", tools(&["old"], 60_000, "private")).await;
        answer(&mut mock, "resources/read", text("old")).await;
        // Reported before the answer to this, and so after it was found out.
        let call = mock.expect("tools/call").await;
        mock.notify(changed, about.clone()).await;
        mock.answer(&call, json!({ "resultType": "complete", "content": [] })).await;
        let list = mock.expect("tools/list").await;
        mock.notify(changed, about).await;
        mock.answer(&list, tools(&["between"], 60_000, "private")).await;
        answer(&mut mock, "tools/list", tools(&["new"], 60_000, "private")).await;

        let id = listened(&mut mock).await;
        let update = json!({ "uri": "x:/a", "_meta": { "io.modelcontextprotocol/subscriptionId": id } });
        mock.notify("notifications/resources/updated", update).await;
        let call = mock.expect("tools/call").await;
        mock.answer(&call, json!({ "resultType": "complete", "content": [] })).await;
        answer(&mut mock, "resources/read", text("new")).await;
        end(mock).await;
    };
    let client = Client::default().cache(Cache::new());
    let (result, ()) = with_modern(client, script, async |server: RemoteServer| {
        // The client's own subscription comes first.
        tokio::task::yield_now().await;
        for _ in 0..2 {
            assert_eq!(names(&server).await?, "old");
            server.read_resource("x:").await?;
        }
        server.call_tool("x", ()).await?;
        assert_eq!(names(&server).await?, "between");
        for _ in 0..2 {
            assert_eq!(names(&server).await?, "new");
            server.read_resource("x:").await?;
        }
        let filter = SubscriptionFilter::default().resource_subscriptions(vec!["x:/a".to_owned()]);
        let _subscription = server.listen(filter).await?;
        server.call_tool("x", ()).await?;
        server.read_resource("x:").await?;
        Ok(())
    })
    .await;
    result.unwrap();
}

#[tokio::test(start_paused = true)]
async fn cac_04_what_depends_on_more_than_its_parameters_is_not_kept() {
    let script = async |mut mock: Mock| {
        listened(&mut mock).await;
        for _ in 0..2 {
            let wanted = json!({ "resultType": "input_required", "inputRequests": { "k": { "method": "roots/list" } } });
            answer(&mut mock, "resources/read", wanted).await;
            answer(&mut mock, "resources/read", text("asked")).await;
        }
        for _ in 0..2 {
            answer(&mut mock, "tools/list", tools(&[], 60_000, "public")).await;
        }
        let call =
            json!({ "resultType": "complete", "content": [], "ttlMs": 60_000, "cacheScope": "public" });
        for _ in 0..2 {
            answer(&mut mock, "tools/call", call.clone()).await;
        }
        // A list that is refused is no longer what it was.
        answer(&mut mock, "tools/list", tools(&["a"], 60_000, "public")).await;
        let page = mock.expect("tools/list").await;
        mock.refuse(&page, json!({ "code": -32602, "message": "no such cursor" })).await;
        answer(&mut mock, "tools/list", tools(&["b"], 60_000, "public")).await;
        end(mock).await;
    };
    let client = Client::default().cache(Cache::new()).roots(vec![Root::new("file:///repo")]);
    let (result, ()) = with_modern(client, script, async |server: RemoteServer| {
        tokio::task::yield_now().await;
        for _ in 0..2 {
            server.read_resource("x:").await?;
        }
        for _ in 0..2 {
            let about = Meta::from_iter([("example.com/user".to_owned(), json!(1))]);
            server.call(ListToolsRequest::default().meta(about)).await?;
        }
        for _ in 0..2 {
            server.call(CallToolRequest::new("x")).await?;
        }
        assert_eq!(names(&server).await?, "a");
        assert!(server.call(ListToolsRequest::default().cursor("gone")).await.is_err());
        assert_eq!(names(&server).await?, "b");
        Ok(())
    })
    .await;
    result.unwrap();
}

#[tokio::test(start_paused = true)]
async fn only_what_is_public_goes_from_one_connection_to_another_and_only_where_that_is_asked_for() {
    for (cache, scope, is_shared) in [
        (Cache::shared(), "public", true),
        (Cache::shared(), "private", false),
        (Cache::shared(), "tomorrow", false),
        (Cache::new(), "public", false),
    ] {
        let client = Client::default().cache(cache.clone());
        for (tool, expected) in [("one", "one"), ("two", if is_shared { "one" } else { "two" })] {
            let script = async |mut mock: Mock| {
                listened(&mut mock).await;
                if tool == expected {
                    answer(&mut mock, "tools/list", tools(&[tool], 60_000, scope)).await;
                }
                answer(&mut mock, "tools/call", json!({ "resultType": "complete", "content": [] })).await;
                end(mock).await;
            };
            let main = async |server: RemoteServer| {
                tokio::task::yield_now().await;
                names(&server).await?;
                server.call_tool("x", ()).await?;
                names(&server).await
            };
            let (result, ()) = with_modern(client.clone(), script, main).await;
            assert_eq!(result.unwrap(), expected, "{scope} {cache:?}");
        }
        assert_eq!(
            format!("{cache:?}").contains("bytes: 0,"),
            !is_shared,
            "nothing is left that nobody may see"
        );
        cache.clear();
        assert!(format!("{cache:?}").contains("bytes: 0,"));
    }
}

#[tokio::test(start_paused = true)]
async fn entry_that_is_stale_soonest_makes_room() {
    let read = |uri: &str, ttl: u64| {
        let contents = json!([{ "uri": uri, "text": "x".repeat(1000) }]);
        json!({ "resultType": "complete", "contents": contents, "ttlMs": ttl, "cacheScope": "private" })
    };
    let script = async |mut mock: Mock| {
        listened(&mut mock).await;
        for (uri, ttl) in [("a:", 5_000), ("b:", 9_000), ("c:", 8_000), ("a:", 5_000)] {
            let request = mock.expect("resources/read").await;
            assert_eq!(request["params"]["uri"], uri);
            mock.answer(&request, read(uri, ttl)).await;
        }
        end(mock).await;
    };
    // For two.
    let client = Client::default().cache(Cache::new().limit(3000));
    let (result, ()) = with_modern(client, script, async |server: RemoteServer| {
        tokio::task::yield_now().await;
        for uri in ["a:", "b:", "a:", "c:", "b:", "c:", "a:"] {
            server.read_resource(uri).await?;
        }
        Ok(())
    })
    .await;
    result.unwrap();
}
