use std::sync::{Arc, Mutex};

use agentwire_jsonrpc::RequestMethod;
use agentwire_mcp_client::schema::{
    Downgrade, HasMeta, ListPromptsRequest, ListResourceTemplatesRequest, ListResourcesRequest,
    ListToolsRequest, Paginated,
};
use agentwire_mcp_client::{CallError, Client, Pages, RemoteServer, Warning};
use futures::TryStreamExt;
use serde::Serialize;
use serde_json::{Value, json};

use crate::mock::{Mock, with_modern, with_server};

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

/// The names of a list's tools, and the warnings.
async fn names_and_warnings<S>(script: impl AsyncFnOnce(Mock) -> S) -> (Vec<String>, Vec<String>) {
    names_and_warnings_of(script, |tools| tools).await
}

/// The same, of a list with other limits.
async fn names_and_warnings_of<S>(
    script: impl AsyncFnOnce(Mock) -> S,
    limit: impl FnOnce(Pages<ListToolsRequest>) -> Pages<ListToolsRequest>,
) -> (Vec<String>, Vec<String>) {
    let warnings: Arc<Mutex<Vec<String>>> = Arc::default();
    let heard = warnings.clone();
    let client = Client::default().on_warning(move |warning| heard.lock().unwrap().push(warning.to_string()));
    let main = async |server: RemoteServer| {
        Ok(limit(server.tools()).collect().await?.into_iter().map(|tool| tool.name).collect::<Vec<_>>())
    };
    let (names, _) = with_server(client, script, main).await;
    let warnings = warnings.lock().unwrap().clone();
    (names.unwrap(), warnings)
}

#[tokio::test(start_paused = true)]
async fn pag_06_cycle_of_cursors_keeps_the_items_and_warns() {
    let script = async |mut mock: Mock| {
        page(&mut mock, None, &["a"], Some("2")).await;
        page(&mut mock, Some("2"), &["b"], Some("3")).await;
        page(&mut mock, Some("3"), &["c"], Some("2")).await;
        mock.expect_end().await;
    };
    let (names, warnings) = names_and_warnings(script).await;
    assert_eq!(names, ["a", "b", "c"]);
    assert_eq!(
        warnings,
        ["tools/list: the list ends after 3 pages, because the server's cursors form a cycle"]
    );
}

#[tokio::test(start_paused = true)]
async fn page_of_a_server_that_ignores_its_cursor_counts_once() {
    let script = async |mut mock: Mock| {
        page(&mut mock, None, &["a", "b"], Some("again")).await;
        page(&mut mock, Some("again"), &["a", "b"], Some("again")).await;
        mock.expect_end().await;
    };
    let (names, warnings) = names_and_warnings(script).await;
    assert_eq!((names.join(" "), warnings.len()), ("a b".into(), 1));
}

#[tokio::test(start_paused = true)]
async fn empty_cursor_that_repeats_is_the_end_of_a_list_in_a_session() {
    let script = async |mut mock: Mock| {
        page(&mut mock, None, &["a"], Some("")).await;
        page(&mut mock, Some(""), &["a"], Some("")).await;
        mock.expect_end().await;
    };
    let (names, warnings) = names_and_warnings(script).await;
    assert_eq!((names.join(" "), warnings), ("a".into(), vec![]));
}

#[tokio::test(start_paused = true)]
async fn unreadable_cursor_ends_a_list_with_a_warning() {
    let script = async |mut mock: Mock| {
        let request = mock.expect("tools/list").await;
        let tool = json!({ "name": "a", "inputSchema": [], "annotations": 7 });
        mock.answer(&request, json!({ "tools": [tool], "nextCursor": 7 })).await;
        mock.expect_end().await;
    };
    let (names, warnings) = names_and_warnings(script).await;
    assert_eq!(names, ["a"]);
    assert!(
        warnings.iter().any(|warning| warning.starts_with("tools/list: left out: nextCursor: ")),
        "{warnings:?}"
    );
    assert!(
        warnings
            .iter()
            .any(|warning| warning.starts_with(r#"tools/list: left out: tools["a"].annotations: "#)),
        "{warnings:?}"
    );
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
        let mut tools = server.tools().page_limit(3);
        for name in ["a", "b", "c"] {
            assert_eq!(tools.try_next().await?.map(|tool| tool.name).as_deref(), Some(name));
        }
        let error = tools.try_next().await.unwrap_err();
        assert!(error.to_string().contains("Pages::page_limit"), "{error}");
        assert!(tools.try_next().await?.is_none(), "the stream has ended");
        Ok(())
    })
    .await;
    result.unwrap();
}

/// The pages so far are kept, after a warning.
#[tokio::test(start_paused = true)]
async fn failure_of_a_later_page_ends_a_list_that_is_collected() {
    type Answer = fn(&Value) -> Value;
    let answers: [(Answer, &str); 5] = [
        (|id| json!({ "id": id, "error": { "code": -32603, "message": "no\u{1b}" } }), "no"),
        (|id| json!({ "id": id, "result": { "tools": 7 } }), "there is no array `tools`"),
        (|id| json!({ "id": id, "result": 7 }), "tools/list"),
        (|id| json!({ "id": id, "result": { "tools": ["x".repeat(2000)] } }), "Pages::byte_limit"),
        (|id| json!({ "id": id, "result": { "tools": [{}, {}, {}, {}, {}] } }), "Pages::item_limit"),
    ];
    for (answer, why) in answers {
        let script = async move |mut mock: Mock| {
            page(&mut mock, None, &["a", "b"], Some("1")).await;
            let request = mock.expect("tools/list").await;
            let mut answer = answer(&request["id"]);
            answer["jsonrpc"] = json!("2.0");
            mock.send(answer).await;
            mock.expect_end().await;
        };
        let (names, warnings) =
            names_and_warnings_of(script, |tools| tools.item_limit(4).byte_limit(1000)).await;
        assert_eq!(names, ["a", "b"], "{why}");
        let [warning] = &warnings[..] else { panic!("{why}: {warnings:?}") };
        assert!(warning.starts_with("the list ends after page 1: ") && warning.contains(why), "{warning}");
        assert!(!warning.contains('\u{1b}'), "{warning}");
    }
}

#[tokio::test(start_paused = true)]
async fn list_without_an_end_is_collected_up_to_the_limit() {
    let script = async |mut mock: Mock| {
        page(&mut mock, None, &["a"], Some("1")).await;
        page(&mut mock, Some("1"), &["b"], Some("2")).await;
        mock.expect_end().await;
    };
    let (names, warnings) = names_and_warnings_of(script, |tools| tools.page_limit(2)).await;
    assert_eq!(names, ["a", "b"]);
    assert!(matches!(&warnings[..], [warning] if warning.contains("Pages::page_limit")), "{warnings:?}");
}

async fn refuse_page(mock: &mut Mock, cursor: Option<&str>, code: i64) {
    let request = mock.expect("tools/list").await;
    assert_eq!(request["params"].get("cursor").and_then(Value::as_str), cursor);
    mock.refuse(&request, json!({ "code": code, "message": "no" })).await;
}

fn refused_code(error: &CallError) -> Option<i64> {
    error.refusal().map(|error| error.code)
}

#[tokio::test(start_paused = true)]
async fn cac_10_a_list_whose_cursor_is_lost_is_read_from_the_start_once() {
    let script = async |mut mock: Mock| {
        page(&mut mock, None, &["a", "b"], Some("1")).await;
        page(&mut mock, Some("1"), &["c"], Some("2")).await;
        refuse_page(&mut mock, Some("2"), -32602).await;
        // The same cursor is not a cycle, and the limits count from the start.
        page(&mut mock, None, &["b", "c"], Some("1")).await;
        page(&mut mock, Some("1"), &["d"], None).await;

        page(&mut mock, None, &["a"], Some("1")).await;
        refuse_page(&mut mock, Some("1"), -32602).await;
        page(&mut mock, None, &["a"], Some("1")).await;
        refuse_page(&mut mock, Some("1"), -32602).await;
        mock.expect_end().await;
    };
    let (result, ()) = with_server(Client::default(), script, async |server| {
        let tools = server.tools().item_limit(3).page_limit(3).collect().await?;
        assert_eq!(tools.into_iter().map(|tool| tool.name).collect::<Vec<_>>(), ["b", "c", "d"]);
        let tools = server.tools().collect().await?;
        assert_eq!(tools.into_iter().map(|tool| tool.name).collect::<Vec<_>>(), ["a"]);
        Ok(())
    })
    .await;
    result.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_list_is_not_read_again_for_other_reasons_nor_behind_the_caller() {
    let script = async |mut mock: Mock| {
        // The first page has no cursor that could be lost.
        refuse_page(&mut mock, None, -32602).await;
        page(&mut mock, None, &["a"], Some("1")).await;
        refuse_page(&mut mock, Some("1"), -32603).await;
        // The caller has taken an item, which would come twice.
        page(&mut mock, None, &["a", "b"], Some("1")).await;
        refuse_page(&mut mock, Some("1"), -32602).await;
        mock.expect_end().await;
    };
    let (result, ()) = with_server(Client::default(), script, async |server| {
        assert_eq!(refused_code(&server.tools().collect().await.unwrap_err()), Some(-32602));
        assert_eq!(server.tools().collect().await?.len(), 1);
        let mut tools = server.tools();
        assert!(tools.try_next().await?.is_some());
        assert_eq!(refused_code(&tools.collect().await.unwrap_err()), Some(-32602));
        Ok(())
    })
    .await;
    result.unwrap();
}

#[tokio::test(start_paused = true)]
async fn items_and_bytes_of_all_pages_end_at_their_limits() {
    for (items, bytes, named) in [(3, 10_000, "Pages::item_limit"), (100, 500, "Pages::byte_limit")] {
        let script = async |mut mock: Mock| {
            page(&mut mock, None, &["a", "b"], Some("1")).await;
            page(&mut mock, Some("1"), &["c", &"d".repeat(400)], Some("2")).await;
            mock.expect_end().await;
        };
        let (result, ()) = with_server(Client::default(), script, async |server| {
            let mut tools = server.tools().item_limit(items).byte_limit(bytes);
            for name in ["a", "b"] {
                assert_eq!(tools.try_next().await?.map(|tool| tool.name).as_deref(), Some(name));
            }
            let error = tools.try_next().await.unwrap_err();
            assert!(matches!(error, CallError::NotAllowed { .. }), "{error}");
            assert!(error.to_string().contains(named), "{error}");
            assert!(tools.try_next().await?.is_none(), "the stream has ended");
            Ok(())
        })
        .await;
        result.unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn one_bad_item_is_left_out_with_a_warning_and_the_rest_is_listed() {
    let script = async |mut mock: Mock| {
        let request = mock.expect("tools/list").await;
        let good = |name: &str| json!({ "name": name, "inputSchema": { "type": "object" } });
        let bad = json!({ "name": "bad", "inputSchema": 7 });
        let schema = json!({ "x": vec![json!({ "": 0 }); 10_000] });
        let large = json!({ "name": "large", "inputSchema": schema });
        mock.answer(&request, json!({ "tools": [good("a"), bad, 7, large, good("b")] })).await;
        mock.expect_end().await;
    };
    let warnings = Arc::new(Mutex::new(Vec::new()));
    let heard = warnings.clone();
    let client = Client::default().value_limit(1 << 20).on_warning(move |warning: Warning| {
        heard.lock().expect("nobody panicked").push(warning.to_string());
    });
    let (result, ()) = with_server(client, script, async |server| {
        let names: Vec<_> = server.tools().map_ok(|tool| tool.name).try_collect().await?;
        Ok(names)
    })
    .await;
    assert_eq!(result.unwrap(), ["a", "b"]);
    let warnings = warnings.lock().expect("nobody panicked");
    let named =
        |number: usize, name: &str| warnings[number].starts_with(&format!("tools/list: the item {name:?} "));
    assert!(warnings.len() == 3 && named(0, "bad") && named(1, "") && named(2, "large"), "{warnings:?}");
    assert!(warnings[2].contains("1048576") && warnings[2].contains("Client::value_limit"), "{warnings:?}");
}

#[tokio::test(start_paused = true)]
async fn members_beside_the_schemas_of_items_are_limited_in_memory() {
    let script = async |mut mock: Mock| {
        for number in 0..2 {
            let request = mock.expect("tools/list").await;
            let meta = json!({ "x": vec![json!({ "": 0 }); 900] });
            let tool = json!({ "name": "t", "inputSchema": {}, "_meta": meta });
            mock.answer(&request, json!({ "tools": [tool], "nextCursor": number.to_string() })).await;
        }
        mock.expect_end().await;
    };
    let (result, ()) = with_server(Client::default().value_limit(1 << 20), script, async |server| {
        let mut tools = server.tools();
        assert!(tools.try_next().await?.is_some());
        let error = tools.try_next().await.unwrap_err();
        assert!(error.to_string().contains("Client::value_limit"), "{error}");
        Ok(())
    })
    .await;
    result.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_result_that_takes_too_much_memory_is_an_error_that_names_the_limit() {
    let blocks = || vec![json!({ "type": "unheard-of", "x": {} }); 10_000];
    let script = async |mut mock: Mock| {
        let request = mock.expect("tools/call").await;
        mock.answer(&request, json!({ "content": blocks() })).await;
        // What stays text costs nothing.
        let request = mock.expect("tools/call").await;
        mock.answer(&request, json!({ "content": [], "structuredContent": { "blocks": blocks() } })).await;
        mock.expect_end().await;
    };
    let client = Client::default().value_limit(1 << 20);
    let (result, ()) = with_server(client, script, async |server| {
        let error = server.call_tool("t", ()).await.unwrap_err();
        assert!(matches!(error, CallError::Decode { .. }), "{error}");
        assert!(error.to_string().contains("Client::value_limit"), "{error}");
        Ok(server.call_tool("t", ()).await?)
    })
    .await;
    assert!(result.unwrap().structured_content.is_some());
}

/// Requests a page with one bad item and other good ones, from a legacy and a modern server. Returns the number of items or
/// the error, and the client's warnings.
async fn page_with<M>(request: M, items: Value) -> Vec<(Result<usize, String>, Vec<String>)>
where
    M: RequestMethod + Downgrade + HasMeta + Paginated + Clone + Send + 'static,
    M::Response: Serialize,
{
    let mut outcomes = Vec::new();
    for is_modern in [false, true] {
        let script = async |mut mock: Mock| {
            let asked = mock.expect(M::NAME).await;
            let mut page = json!({ "nextCursor": "2", "_meta": { "a/b": 1 } });
            page[M::ITEMS] = items.clone();
            if is_modern {
                page["resultType"] = "complete".into();
                page["ttlMs"] = 0.into();
                page["cacheScope"] = "private".into();
            }
            mock.answer(&asked, page).await;
            mock.expect_end().await;
        };
        let warnings = Arc::new(Mutex::new(Vec::new()));
        let heard = warnings.clone();
        let client = Client::default().on_warning(move |warning: Warning| {
            heard.lock().expect("nobody panicked").push(warning.to_string());
        });
        let request = request.clone();
        let main = async |server: RemoteServer| Ok(server.call(request).await);
        let outcome = match is_modern {
            true => with_modern(client, script, main).await.0,
            false => with_server(client, script, main).await.0,
        };
        let outcome = outcome.unwrap().map_err(|error| error.to_string()).map(|page| {
            let page = serde_json::to_value(page).expect("it has a JSON form");
            assert_eq!((&page["nextCursor"], &page["_meta"]["a/b"]), (&json!("2"), &json!(1)));
            page[M::ITEMS].as_array().expect("a list").len()
        });
        outcomes.push((outcome, std::mem::take(&mut *warnings.lock().expect("nobody panicked"))));
    }
    outcomes
}

fn assert_left_out(method: &str, outcomes: &[(Result<usize, String>, Vec<String>)]) {
    for (outcome, warnings) in outcomes {
        assert_eq!(*outcome, Ok(2), "{method}");
        let named = format!("{method}: left out: ");
        let is_named = |warning: &String| warning.starts_with(&named) && warning.contains("[1]: ");
        assert!(warnings.len() == 1 && is_named(&warnings[0]), "{warnings:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_page_that_is_asked_for_as_such_comes_without_its_bad_items() {
    let tool = |name: &str| json!({ "name": name, "inputSchema": { "type": "object" } });
    let items = json!([tool("a"), { "name": "bad", "inputSchema": 7 }, tool("b")]);
    assert_left_out("tools/list", &page_with(ListToolsRequest::default(), items).await);
    let items = json!([{ "name": "a" }, { "title": "bad" }, { "name": "b" }]);
    assert_left_out("prompts/list", &page_with(ListPromptsRequest::default(), items).await);
    let resource = |name: &str| json!({ "name": name, "uri": "x:/" });
    let items = json!([resource("a"), { "uri": 1, "name": "bad" }, resource("b")]);
    assert_left_out("resources/list", &page_with(ListResourcesRequest::default(), items).await);
    let template = |name: &str| json!({ "name": name, "uriTemplate": "x:/{y}" });
    let items = json!([template("a"), { "uriTemplate": [], "name": "bad" }, template("b")]);
    let outcomes = page_with(ListResourceTemplatesRequest::default(), items).await;
    assert_left_out("resources/templates/list", &outcomes);
    for (outcome, warnings) in page_with(ListToolsRequest::default(), json!({})).await {
        assert!(outcome.is_err() && warnings.is_empty(), "{warnings:?}");
    }
    for (outcome, warnings) in page_with(ListToolsRequest::default(), json!(vec![0; 10_000])).await {
        assert!(outcome == Ok(0) && warnings.len() == 1, "{warnings:?}");
        assert!(warnings[0].ends_with("; and 9984 more"), "{warnings:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn omitted_parts_of_notifications_are_reported() {
    let script = async |mut mock: Mock| {
        let flood = vec![json!({ "": 0 }); 10_000];
        let log = |data: serde_json::Value| json!({ "level": "info", "data": data });
        for (method, params) in [
            ("notifications/message", log(flood.into())),
            ("notifications/message", json!({ "level": ["\u{1b}[2J\u{202e}".repeat(1000)] })),
            ("notifications/resources/updated", json!({ "uri": 7 })),
            ("notifications/message", log("heard".into())),
        ] {
            mock.send(json!({ "jsonrpc": "2.0", "method": method, "params": params })).await;
        }
        mock.send(json!({ "jsonrpc": "2.0", "method": 7 })).await;
        // A message that cannot be read may have been a request, and is answered.
        let mut next = mock.next().await.expect("a message");
        while next["method"] != "ping" {
            next = mock.next().await.expect("a message");
        }
        mock.answer(&next, json!({})).await;
        while mock.next().await.is_some() {}
    };
    let heard = Arc::new(Mutex::new(Vec::new()));
    let (logs, warnings) = (heard.clone(), heard.clone());
    let note = |heard: &Mutex<Vec<String>>, what| heard.lock().expect("nobody panicked").push(what);
    let client = Client::default()
        .value_limit(1 << 20)
        .on_log(move |message| note(&logs, format!("log {}", message.data.as_str())))
        .on_warning(move |warning: Warning| note(&warnings, warning.to_string()));
    let (result, ()) = with_server(client, script, async |server| Ok(server.ping().await?)).await;
    result.unwrap();
    let heard = heard.lock().expect("nobody panicked");
    let begins = [
        "the notification \"notifications/message\" is left out: it takes more than 1048576 bytes",
        "the notification \"notifications/message\" is left out: ",
        "the notification \"notifications/resources/updated\" is left out: ",
        "log \"heard\"",
        "a message is left out: ",
    ];
    assert_eq!(heard.len(), begins.len(), "{heard:?}");
    for (heard, begin) in heard.iter().zip(begins) {
        assert!(heard.starts_with(begin) && heard.len() < 3000, "{heard}");
        assert!(!heard.contains(|c: char| c.is_control() || c == '\u{202e}'), "{heard}");
    }
}
