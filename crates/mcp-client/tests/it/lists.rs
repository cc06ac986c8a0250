use agentwire_mcp_client::{CallError, Client};
use futures::TryStreamExt;
use serde_json::{Value, json};

use crate::mock::{Mock, with_server};

async fn page(mock: &mut Mock, cursor: Option<&str>, names: &[&str], next: Option<&str>) {
    let request = mock.expect("tools/list").await;
    assert_eq!(request["params"].get("cursor").and_then(Value::as_str), cursor);
    let tools: Vec<_> =
        names.iter().map(|name| json!({ "name": name, "inputSchema": { "type": "object" } })).collect();
    let mut result = json!({ "tools": tools });
    if let Some(next) = next {
        result["nextCursor"] = next.into();
    }
    mock.answer(&request, result).await;
}

#[tokio::test(start_paused = true)]
async fn pag_01_02_and_03_cursors_go_back_as_they_came_until_there_is_none() {
    let long = "ü→".repeat(1000);
    let script = async |mut mock: Mock| {
        page(&mut mock, None, &["a", "b"], Some("")).await;
        page(&mut mock, Some(""), &[], Some(&long)).await;
        page(&mut mock, Some(&long), &["c"], None).await;
        mock.expect_end().await;
    };
    let (result, ()) = with_server(Client::default(), script, async |server| {
        let names: Vec<_> = server.tools().map_ok(|tool| tool.name).try_collect().await?;
        Ok(names)
    })
    .await;
    assert_eq!(result.unwrap(), ["a", "b", "c"]);
}

#[tokio::test(start_paused = true)]
async fn pages_are_asked_for_as_they_are_needed() {
    let script = async |mut mock: Mock| {
        page(&mut mock, None, &["a"], Some("2")).await;
        mock.expect("ping").await;
    };
    let (result, ()) = with_server(Client::default(), script, async |server| {
        let mut tools = server.tools();
        let first = tools.try_next().await?.map(|tool| tool.name);
        let _server_leaves = server.ping().await;
        Ok(first)
    })
    .await;
    assert_eq!(result.unwrap().as_deref(), Some("a"));
}

#[tokio::test(start_paused = true)]
async fn pag_06_a_circle_ends_with_an_error() {
    let script = async |mut mock: Mock| {
        page(&mut mock, None, &["a"], Some("again")).await;
        page(&mut mock, Some("again"), &["a"], Some("again")).await;
        mock.expect_end().await;
    };
    let (result, ()) = with_server(Client::default(), script, async |server| {
        let mut tools = server.tools();
        assert!(tools.try_next().await?.is_some());
        let error = tools.try_next().await.unwrap_err();
        assert!(matches!(error, CallError::NotAllowed { .. }), "{error}");
        assert!(tools.try_next().await?.is_none(), "the stream has ended");
        Ok(())
    })
    .await;
    result.unwrap();
}

#[tokio::test(start_paused = true)]
async fn pag_06_pages_without_end_end_at_the_limit() {
    let script = async |mut mock: Mock| {
        page(&mut mock, None, &["a"], Some("1")).await;
        page(&mut mock, Some("1"), &["b"], Some("2")).await;
        page(&mut mock, Some("2"), &["c"], Some("3")).await;
        mock.expect_end().await;
    };
    let (result, ()) = with_server(Client::default(), script, async |server| {
        let error = server.tools().page_limit(3).collect().await.unwrap_err();
        assert!(error.to_string().contains('3'), "{error}");
        Ok(())
    })
    .await;
    result.unwrap();
}
