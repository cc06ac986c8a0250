use std::future::IntoFuture;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use agentwire_mcp_client::schema::{CallToolRequest, GetPromptRequest, LoggingLevel};
use agentwire_mcp_client::{CallError, Client, Era};
use serde_json::{Value, json};

use crate::mock::{Mock, with_mock, with_server};

const SECOND: Duration = Duration::from_secs(1);

fn text(text: &str) -> Value {
    json!({ "content": [{ "type": "text", "text": text }] })
}

#[tokio::test(start_paused = true)]
async fn a_tool_is_called() {
    let script = async |mut mock: Mock| {
        let call = mock.expect("tools/call").await;
        assert_eq!(call["params"], json!({ "name": "add", "arguments": { "a": 2, "b": 3 } }));
        mock.answer(&call, text("5")).await;
        let call = mock.expect("tools/call").await;
        assert_eq!(call["params"], json!({ "name": "now" }));
        mock.answer(&call, json!({ "content": [], "isError": true })).await;
        mock.expect_end().await;
    };
    let (result, ()) = with_server(Client::default(), script, async |server| {
        assert_eq!(server.call_tool("add", json!({ "a": 2, "b": 3 })).await?.text(), "5");
        assert!(server.call_tool("now", ()).await?.is_error, "a failed tool is a result");
        let error = server.call_tool("add", [1]).await.unwrap_err();
        assert!(matches!(error, CallError::NotAllowed { .. }), "{error}");
        Ok(())
    })
    .await;
    result.unwrap();
}

#[tokio::test(start_paused = true)]
async fn std_20_answers_may_come_in_any_order() {
    let script = async |mut mock: Mock| {
        let first = mock.expect("tools/call").await;
        let second = mock.expect("tools/call").await;
        mock.answer(&second, text("second")).await;
        mock.answer(&first, text("first")).await;
        mock.expect_end().await;
    };
    let (result, ()) = with_server(Client::default(), script, async |server| {
        let (first, second) =
            tokio::join!(server.call_tool("x", ()).into_future(), server.call_tool("y", ()).into_future());
        Ok((first?.text().into_owned(), second?.text().into_owned()))
    })
    .await;
    assert_eq!(result.unwrap(), ("first".to_owned(), "second".to_owned()));
}

#[tokio::test(start_paused = true)]
async fn rpc_02_and_04_ids_are_integers_and_never_used_again() {
    let script = async |mut mock: Mock| {
        for _ in 0..1000 {
            let ping = mock.expect("ping").await;
            mock.answer(&ping, json!({})).await;
        }
        let ids = mock.heard.iter().filter_map(|message| message.get("id"));
        let ids: Vec<_> = ids.map(|id| id.as_u64().expect("an integer")).collect();
        let mut unique = ids.clone();
        unique.sort_unstable();
        unique.dedup();
        assert_eq!((ids.len(), unique.len()), (1001, 1001));
    };
    let (result, ()) = with_server(Client::default(), script, async |server| {
        for _ in 0..1000 {
            server.ping().await?;
        }
        Ok(())
    })
    .await;
    result.unwrap();
}

#[tokio::test(start_paused = true)]
async fn lif_14_what_the_server_does_not_offer_is_not_asked() {
    let script = async |mut mock: Mock| {
        mock.greet_with("2025-11-25", json!({ "tools": {} })).await;
        mock.expect_end().await;
    };
    let (result, ()) = with_mock(Client::default().era(Era::Legacy), script, async |server| {
        let errors = [
            server.prompts().try_next().await.unwrap_err(),
            server.resources().try_next().await.unwrap_err(),
            server.read_resource("x:").await.unwrap_err(),
            server.subscribe("x:").await.unwrap_err(),
            server.get_prompt(GetPromptRequest::new("x")).await.unwrap_err(),
            server.set_logging_level(LoggingLevel::Info).await.unwrap_err(),
        ];
        for error in errors {
            assert!(matches!(error, CallError::NotAllowed { .. }), "{error}");
        }
        Ok(())
    })
    .await;
    result.unwrap();
}

#[tokio::test(start_paused = true)]
async fn lif_16_and_18_each_call_has_its_time_and_is_cancelled_after_it() {
    let script = async |mut mock: Mock| {
        let slow = mock.expect("tools/call").await;
        let slower = mock.expect("ping").await;
        for request in [&slow, &slower] {
            let cancelled = mock.expect("notifications/cancelled").await;
            assert_eq!(cancelled["params"]["requestId"], request["id"]);
        }
        // CAN-06: it comes too late.
        mock.answer(&slow, text("late")).await;
        let default = mock.expect("ping").await;
        let cancelled = mock.expect("notifications/cancelled").await;
        assert_eq!(cancelled["params"]["requestId"], default["id"]);
        mock.expect_end().await;
    };
    let (result, ()) = with_server(Client::default(), script, async |server| {
        let (slow, slower) = tokio::join!(
            server.call_tool("x", ()).timeout(SECOND).into_future(),
            server.ping().timeout(2 * SECOND).into_future(),
        );
        let default = server.ping().await;
        for (outcome, seconds) in [(slow.map(drop), 1), (slower.map(drop), 2), (default.map(drop), 60)] {
            assert!(matches!(outcome, Err(CallError::TimedOut { after, .. }) if after == seconds * SECOND));
        }
        Ok(())
    })
    .await;
    result.unwrap();
}

#[tokio::test(start_paused = true)]
async fn lif_19_progress_extends_a_call_but_not_for_ever() {
    let script = async |mut mock: Mock| {
        let call = mock.expect("tools/call").await;
        let token = &call["id"];
        for progress in 1.. {
            tokio::time::sleep(SECOND).await;
            let params = json!({ "progressToken": token, "progress": progress, "message": "still here" });
            mock.send(json!({ "jsonrpc": "2.0", "method": "notifications/progress", "params": params }))
                .await;
            if progress == 5 {
                break;
            }
        }
        let cancelled = mock.expect("notifications/cancelled").await;
        assert_eq!(cancelled["params"]["requestId"], call["id"]);
        mock.expect_end().await;
    };
    let reports = Arc::new(Mutex::new(Vec::new()));
    let heard = reports.clone();
    let (result, ()) = with_server(Client::default(), script, async |server| {
        let started = tokio::time::Instant::now();
        let call = server.call_tool("x", ()).timeout(2 * SECOND).progress_maximum(6 * SECOND);
        let outcome = call.on_progress(move |report| heard.lock().unwrap().push(report.progress)).await;
        assert!(matches!(outcome, Err(CallError::TimedOut { .. })), "{outcome:?}");
        Ok(started.elapsed().as_secs())
    })
    .await;
    assert_eq!(result.unwrap(), 6);
    assert_eq!(*reports.lock().unwrap(), [1.0, 2.0, 3.0, 4.0, 5.0]);
}

/// Each call: its time limit and maximum in seconds, and when it ends while a report comes each second.
#[tokio::test(start_paused = true)]
async fn progress_extends_a_call_without_a_hook() {
    for (limit, maximum, reports, ends) in
        [(Some(2), Some(6), 60, 6), (Some(2), None, 60, 61), (Some(2), None, 0, 2), (None, None, 0, 61)]
    {
        let script = async |mut mock: Mock| {
            let call = mock.next().await.unwrap();
            let token = &call["params"]["_meta"]["progressToken"];
            assert_eq!(
                *token == call["id"],
                limit.is_some(),
                "what has no limit asks for no progress: {call}"
            );
            for progress in 1..ends {
                tokio::time::sleep(SECOND).await;
                if progress <= reports {
                    mock.notify(
                        "notifications/progress",
                        json!({ "progressToken": token, "progress": progress }),
                    )
                    .await;
                }
            }
            if ends == 61 {
                tokio::time::sleep(SECOND).await;
                mock.answer(&call, text("done")).await;
            }
            while mock.next().await.is_some() {}
        };
        let seconds = |seconds: Option<u32>| seconds.map(|seconds| seconds * SECOND);
        let (result, ()) = with_server(Client::default(), script, async |server| {
            let started = tokio::time::Instant::now();
            let call = server.call_tool("x", ()).timeout(seconds(limit)).progress_maximum(seconds(maximum));
            assert_eq!(call.await.is_ok(), ends == 61);
            Ok(started.elapsed().as_secs())
        })
        .await;
        assert_eq!(result.unwrap(), ends, "{limit:?} {maximum:?} {reports}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_hook_that_panics_fails_nothing() {
    let script = async |mut mock: Mock| {
        let call = mock.expect("tools/call").await;
        mock.notify("notifications/progress", json!({ "progressToken": call["id"], "progress": 1 })).await;
        mock.answer(&call, text("done")).await;
        mock.expect_end().await;
    };
    let (result, ()) = with_server(Client::default(), script, async |server| {
        Ok(server.call_tool("x", ()).on_progress(|_| panic!("no")).await?.text().into_owned())
    })
    .await;
    assert_eq!(result.unwrap(), "done");
}

#[tokio::test(start_paused = true)]
async fn prg_06_progress_of_nobodys_call_is_passed_over() {
    let script = async |mut mock: Mock| {
        let call = mock.expect("tools/call").await;
        for token in [json!(99), json!("x"), json!(null), call["id"].clone()] {
            let params = json!({ "progressToken": token, "progress": 1 });
            mock.send(json!({ "jsonrpc": "2.0", "method": "notifications/progress", "params": params }))
                .await;
        }
        mock.answer(&call, text("done")).await;
        mock.expect_end().await;
    };
    let (result, ()) = with_server(Client::default(), script, async |server| {
        // It has no hook.
        Ok(server.call_tool("x", ()).await?.text().into_owned())
    })
    .await;
    assert_eq!(result.unwrap(), "done");
}

#[tokio::test(start_paused = true)]
async fn can_01_a_dropped_call_is_cancelled_and_one_that_was_not_sent_is_not() {
    let script = async |mut mock: Mock| {
        let call = mock.expect("tools/call").await;
        let cancelled = mock.expect("notifications/cancelled").await;
        assert_eq!(cancelled["params"]["requestId"], call["id"]);
        mock.expect_end().await;
    };
    let (result, ()) = with_server(Client::default(), script, async |server| {
        let call = server.call(CallToolRequest::new("x"));
        assert!(tokio::time::timeout(SECOND, call.into_future()).await.is_err());
        drop(server.call_tool("y", ()));
        Ok(())
    })
    .await;
    result.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_refusal_is_an_error_with_what_the_server_said() {
    let script = async |mut mock: Mock| {
        let read = mock.expect("resources/read").await;
        mock.refuse(&read, json!({ "code": -32002, "message": "resource not found" })).await;
    };
    let (result, ()) = with_server(Client::default(), script, async |server| {
        Ok(server.read_resource("x:").await.unwrap_err().refusal().map(|error| error.code))
    })
    .await;
    assert_eq!(result.unwrap(), Some(-32002), "RPC-33");
}

#[tokio::test(start_paused = true)]
async fn the_end_of_the_server_fails_calls_and_is_told() {
    let script = async |mut mock: Mock| {
        mock.expect("tools/call").await;
    };
    let (result, ()) = with_server(Client::default(), script, async |server| {
        let error = server.call_tool("x", ()).await.unwrap_err();
        assert!(matches!(error, CallError::Closed(_)), "{error}");
        server.closed().await;
        assert!(server.ping().await.is_err());
        Ok(())
    })
    .await;
    result.unwrap();
}
