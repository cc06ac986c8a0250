//! Modern requests, and results that name their kind.

use std::sync::{Arc, Mutex};

use agentwire_mcp_client::schema::{CallToolRequest, ListToolsRequest, LoggingLevel, Meta, Root};
use agentwire_mcp_client::{CallError, Client, Era, ErrorObject, RemoteServer};
use serde_json::{Value, json};

use crate::mock::{MODERN, Mock, with_mock, with_modern, with_server};

const LOG_LEVEL: &str = "io.modelcontextprotocol/logLevel";
const VERSION: &str = "io.modelcontextprotocol/protocolVersion";

fn text(text: &str) -> Value {
    json!({ "resultType": "complete", "content": [{ "type": "text", "text": text }] })
}

fn tools(names: &[&str]) -> Value {
    let tools: Vec<_> =
        names.iter().map(|name| json!({ "name": name, "inputSchema": { "type": "object" } })).collect();
    json!({ "resultType": "complete", "tools": tools, "ttlMs": 0, "cacheScope": "private" })
}

#[tokio::test(start_paused = true)]
async fn st_05_and_07_every_request_has_the_client_info_capabilities_and_version() {
    let client = Client::new("tester", "1.0.0")
        .roots(vec![Root::new("file:///repo")])
        .sampling(async |_| Err(ErrorObject::internal_error("no")))
        .elicitation(async |_| Err(ErrorObject::internal_error("no")))
        .advertise(|capabilities| {
            capabilities.experimental = Some(serde_json::from_value(json!({ "example.com/x": {} })).unwrap());
        })
        .log_level(LoggingLevel::Warning);
    let script = async |mut mock: Mock| {
        let requests =
            [(mock.expect("tools/call").await, text("5")), (mock.expect("tools/list").await, tools(&[]))];
        for (request, result) in requests {
            let meta = &request["params"]["_meta"];
            let expected = json!({
                VERSION: MODERN,
                "io.modelcontextprotocol/clientInfo": { "name": "tester", "version": "1.0.0" },
                "io.modelcontextprotocol/clientCapabilities": {
                    "roots": {}, "sampling": {}, "elicitation": {}, "experimental": { "example.com/x": {} },
                },
                LOG_LEVEL: "warning",
            });
            assert_eq!(*meta, expected);
            mock.answer(&request, result).await;
        }
        let own = mock.expect("tools/call").await;
        let meta = &own["params"]["_meta"];
        assert_eq!((&meta["example.com/trace"], &meta[LOG_LEVEL]), (&json!(7), &json!("debug")));
        assert_eq!(meta[VERSION], MODERN, "that is not the caller's to say");
        mock.answer(&own, text("")).await;
        mock.expect_end().await;
    };
    let (result, ()) = with_modern(client, script, async |server| {
        let (called, listed) =
            tokio::join!(async { server.call_tool("add", json!({ "a": 2 })).await }, async {
                server.tools().collect().await
            },);
        assert_eq!((called?.text().as_ref(), listed?.len()), ("5", 0));
        let mut about = Meta::from_iter([
            ("example.com/trace".to_owned(), json!(7)),
            (VERSION.to_owned(), json!("1999-01-01")),
        ]);
        about.insert(LOG_LEVEL, json!("debug"));
        server.call(CallToolRequest::new("add").meta(about)).await?;
        Ok(())
    })
    .await;
    result.unwrap();
}

#[tokio::test(start_paused = true)]
async fn log_04_nothing_is_logged_unless_it_is_asked_for() {
    let hears = || Client::default().on_log(drop);
    let warning = LoggingLevel::Warning;
    for (client, level) in
        [(Client::default(), None), (hears(), Some("info")), (hears().log_level(warning), Some("warning"))]
    {
        let script = async |mut mock: Mock| {
            let request = mock.expect("tools/list").await;
            assert_eq!(request["params"]["_meta"].get(LOG_LEVEL).and_then(Value::as_str), level);
            mock.answer(&request, tools(&[])).await;
            mock.expect_end().await;
        };
        let (result, ()) =
            with_modern(client, script, async |server| Ok(server.tools().collect().await?)).await;
        result.unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn a_session_is_told_the_level_once_and_may_refuse_it() {
    let client = Client::default().log_level(LoggingLevel::Warning);
    for refused in [true, false] {
        let script = async |mut mock: Mock| {
            let request = mock.expect("logging/setLevel").await;
            assert_eq!(request["params"], json!({ "level": "warning" }));
            if refused {
                mock.refuse(&request, json!({ "code": -32603, "message": "no" })).await;
            } else {
                mock.answer(&request, json!({})).await;
            }
            let ping = mock.expect("ping").await;
            mock.answer(&ping, json!({})).await;
            mock.expect_end().await;
        };
        let (result, ()) = with_server(client.clone(), script, async |server| Ok(server.ping().await?)).await;
        result.unwrap();
    }
    let script = async |mut mock: Mock| {
        mock.greet_with("2025-11-25", json!({})).await;
        mock.expect_end().await;
    };
    let (result, ()) = with_mock(client.era(Era::Legacy), script, async |_| Ok(())).await;
    result.unwrap();
}

#[tokio::test(start_paused = true)]
async fn png_03_what_the_revision_does_not_have_is_not_asked() {
    let script = async |mock: Mock| mock.expect_end().await;
    let (result, ()) = with_modern(Client::default(), script, async |server: RemoteServer| {
        let errors = [
            server.ping().await.unwrap_err(),
            server.set_logging_level(LoggingLevel::Info).await.unwrap_err(),
            server.subscribe("x:").await.unwrap_err(),
            server.unsubscribe("x:").await.unwrap_err(),
        ];
        for error in errors {
            assert!(matches!(error, CallError::NotAllowed { .. }), "{error}");
            assert!(error.to_string().contains(MODERN), "{error}");
        }
        Ok(())
    })
    .await;
    result.unwrap();
}

#[tokio::test(start_paused = true)]
async fn the_kind_of_a_result_decides_and_none_means_complete() {
    let elicit =
        json!({ "mode": "form", "message": "?", "requestedSchema": { "type": "object", "properties": {} } });
    let wanted = json!({
        "confirm": { "method": "elicitation/create", "params": elicit },
        "where": { "method": "roots/list" },
    });
    let answers = [
        (text("5"), Ok("5")),
        // sep-2322: a result that does not say its kind.
        (json!({ "content": [{ "type": "text", "text": "6" }] }), Ok("6")),
        (
            json!({ "resultType": "input_required", "inputRequests": wanted }),
            Err(&["elicitation/create (\"confirm\")", "roots/list (\"where\")"][..]),
        ),
        (json!({ "resultType": "input_required" }), Err(&["does not say for what"])),
        (json!({ "resultType": "input_required", "requestState": 1 }), Err(&["not a string"])),
        (
            json!({ "resultType": "input_required", "inputRequests": { "k": { "method": "dance" } } }),
            Err(&["dance (\"k\")", "does not answer"]),
        ),
        (
            json!({
                "resultType": "task", "taskId": "t", "status": "working", "createdAt": "2026-01-01T00:00:00Z",
                "lastUpdatedAt": "2026-01-01T00:00:00Z", "ttlMs": null,
            }),
            Err(&["a task"]),
        ),
        (json!({ "resultType": "tomorrow", "content": [] }), Err(&["a kind of result"])),
    ];
    for (answer, expected) in answers {
        let script = async |mut mock: Mock| {
            let call = mock.expect("tools/call").await;
            mock.answer(&call, answer.clone()).await;
            mock.expect_end().await;
        };
        let (result, ()) = with_modern(Client::default(), script, async |server: RemoteServer| {
            Ok(server.call_tool("x", ()).await)
        })
        .await;
        match (result.unwrap(), expected) {
            (Ok(result), Ok(text)) => assert_eq!(result.text(), text),
            (Err(error @ CallError::Unusable { .. }), Err(parts)) => {
                let text = error.to_string();
                assert!(parts.iter().all(|part| text.contains(part)), "{text}");
            }
            (result, _) => panic!("{answer}: {result:?}"),
        }
    }
}

#[tokio::test(start_paused = true)]
async fn many_questions_of_a_server_are_not_named_in_full() {
    let wanted: serde_json::Map<_, _> =
        (0..10_000).map(|key| (key.to_string(), json!({ "method": "roots/list" }))).collect();
    let script = async |mut mock: Mock| {
        let call = mock.expect("tools/call").await;
        mock.answer(&call, json!({ "resultType": "input_required", "inputRequests": wanted })).await;
        mock.expect_end().await;
    };
    let (result, ()) = with_modern(Client::default(), script, async |server: RemoteServer| {
        Ok(server.call_tool("x", ()).await.unwrap_err().to_string())
    })
    .await;
    let text = result.unwrap();
    assert!(text.len() < 400 && text.contains("and more"), "{text}");
}

#[tokio::test(start_paused = true)]
async fn progress_is_heard_before_the_result_also_of_the_second_try() {
    let script = async |mut mock: Mock| {
        let mut tokens = Vec::new();
        for attempt in 1..=2 {
            let call = mock.expect("tools/call").await;
            let token = call["id"].clone();
            assert_eq!(call["params"]["_meta"][VERSION], MODERN);
            mock.notify("notifications/progress", json!({ "progressToken": token, "progress": attempt }))
                .await;
            if attempt == 1 {
                let data = json!({ "supported": [MODERN], "requested": MODERN });
                let error = json!({ "code": -32022, "message": "not now", "data": data });
                mock.refuse(&call, error).await;
            } else {
                mock.answer(&call, text("done")).await;
            }
            tokens.push(token);
        }
        assert_ne!(tokens[0], tokens[1]);
        mock.expect_end().await;
    };
    let reports = Arc::new(Mutex::new(Vec::new()));
    let heard = reports.clone();
    let (result, ()) = with_modern(Client::default(), script, async |server: RemoteServer| {
        let call = server.call_tool("x", ());
        let result = call.on_progress(move |report| heard.lock().unwrap().push(report.progress)).await?;
        assert_eq!(*reports.lock().unwrap(), [1.0, 2.0]);
        Ok(result.text().into_owned())
    })
    .await;
    assert_eq!(result.unwrap(), "done");
}

#[tokio::test(start_paused = true)]
async fn st_42_a_refused_version_is_tried_again_once_where_there_is_one() {
    for (supported, tries) in [(json!([MODERN]), 2), (json!(["2025-11-25", "2030-01-01"]), 1)] {
        let script = async |mut mock: Mock| {
            for _ in 0..tries {
                let list = mock.expect("tools/list").await;
                let data = json!({ "supported": supported, "requested": MODERN });
                mock.refuse(&list, json!({ "code": -32022, "message": "never", "data": data })).await;
            }
            mock.expect_end().await;
        };
        let (result, ()) = with_modern(Client::default(), script, async |server: RemoteServer| {
            Ok(server.call(ListToolsRequest::default()).await.unwrap_err().refusal().map(|error| error.code))
        })
        .await;
        assert_eq!(result.unwrap(), Some(-32022));
    }
}

#[tokio::test(start_paused = true)]
async fn st_24_wrong_headers_mean_another_look_at_the_tools_and_one_more_try() {
    let mismatch = json!({ "code": -32020, "message": "no Mcp-Param-Region" });
    let script = async |mut mock: Mock| {
        let first = mock.expect("tools/call").await;
        mock.refuse(&first, mismatch.clone()).await;
        let list = mock.expect("tools/list").await;
        let mut page = tools(&["other"]);
        page["nextCursor"] = "2".into();
        mock.answer(&list, page.clone()).await;
        // Where the cursor is lost, the look begins again.
        let list = mock.expect("tools/list").await;
        mock.refuse(&list, json!({ "code": -32602, "message": "invalid cursor" })).await;
        let list = mock.expect("tools/list").await;
        assert_eq!(list["params"].get("cursor"), None);
        mock.answer(&list, page).await;
        let list = mock.expect("tools/list").await;
        mock.answer(&list, tools(&["x"])).await;
        let second = mock.expect("tools/call").await;
        assert_eq!(second["params"], first["params"]);
        assert_ne!(second["id"], first["id"]);
        mock.answer(&second, text("done")).await;

        // Not more often than that.
        for list in [false, true, false] {
            let request = mock.next().await.unwrap();
            match list {
                true => mock.answer(&request, tools(&["x"])).await,
                false => mock.refuse(&request, mismatch.clone()).await,
            }
        }
        // Not for a tool that is gone, nor for anything but a call of a tool.
        let gone = mock.expect("tools/call").await;
        mock.refuse(&gone, mismatch.clone()).await;
        let list = mock.expect("tools/list").await;
        mock.answer(&list, tools(&["other"])).await;
        let prompts = mock.expect("prompts/list").await;
        mock.refuse(&prompts, mismatch.clone()).await;
        mock.expect_end().await;
    };
    let (result, ()) = with_modern(Client::default(), script, async |server: RemoteServer| {
        let call = || server.call_tool("x", json!({ "region": "eu" }));
        assert_eq!(call().await?.text(), "done");
        for _ in 0..2 {
            assert_eq!(call().await.unwrap_err().refusal().map(|error| error.code), Some(-32020));
        }
        assert!(server.prompts().try_next().await.is_err());
        Ok(())
    })
    .await;
    result.unwrap();
}
