//! The layers that a user adds to a client.

use std::future::IntoFuture;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use agentwire_jsonrpc::{RawJson, RawObject, WithCauses};
use agentwire_mcp_client::schema::{CallToolRequest, Meta, Root};
use agentwire_mcp_client::{
    BoxError, Cache, CallError, Client, Clock, Next, RawAnswer, RawCall, RemoteServer, Retry, TaskOrResult,
    Tasks, from_fn,
};
use futures::future::BoxFuture;
use serde_json::{Value, json};
use tower::limit::ConcurrencyLimitLayer;
use tower::timeout::TimeoutLayer;

use crate::mock::{Mock, with_modern, with_server};

const SECOND: Duration = Duration::from_secs(1);

type Log = Arc<Mutex<Vec<String>>>;

fn noted(log: &Log) -> Vec<String> {
    log.lock().unwrap().drain(..).collect()
}

/// A client with a layer that notes each call and its answer.
fn logging(client: Client, name: &'static str, log: &Log) -> Client {
    let log = log.clone();
    client.layer(from_fn(move |call: RawCall, next: Next| {
        let log = log.clone();
        async move {
            log.lock().unwrap().push(format!("{name} {}", call.method()));
            let answer = next.call(call).await;
            let outcome = if answer.is_ok() { "ok" } else { "error" };
            log.lock().unwrap().push(format!("{name} {outcome}"));
            answer
        }
    }))
}

fn text(text: &str) -> Value {
    json!({ "resultType": "complete", "content": [{ "type": "text", "text": text }] })
}

fn page(annotations: Value) -> Value {
    let tool = json!({ "name": "x", "inputSchema": { "type": "object" }, "annotations": annotations });
    json!({ "resultType": "complete", "tools": [tool], "ttlMs": 60_000, "cacheScope": "private" })
}

async fn answer(mock: &mut Mock, method: &str, result: Value) -> Value {
    let request = mock.expect(method).await;
    mock.answer(&request, result).await;
    request
}

#[tokio::test(start_paused = true)]
async fn the_first_layer_is_the_outermost() {
    let log = Log::default();
    let client = logging(logging(Client::default(), "outer", &log), "inner", &log);
    let script = async |mut mock: Mock| {
        answer(&mut mock, "tools/call", text("5")).await;
        let refused = mock.expect("ping").await;
        mock.refuse(&refused, json!({ "code": -32603, "message": "no" })).await;
        mock.expect_end().await;
    };
    let (result, ()) = with_server(client, script, async |server: RemoteServer| {
        assert_eq!(server.call_tool("x", ()).await?.text(), "5");
        assert!(server.ping().await.is_err());
        // What is refused before it is encoded reaches no layer.
        assert!(server.call_tool("x", [1]).await.is_err());
        Ok(())
    })
    .await;
    result.unwrap();
    let expected = ["outer tools/call", "inner tools/call", "inner ok", "outer ok"];
    let failed = ["outer ping", "inner ping", "inner error", "outer error"];
    assert_eq!(noted(&log), [expected, failed].concat());
}

/// Whatever requests a call takes: rounds of input, the look at the tools for a header, a task, or none at all.
#[tokio::test(start_paused = true)]
async fn a_layer_sees_each_call_once() {
    let log = Log::default();
    let client = logging(
        Client::default().roots(vec![Root::new("file:///repo")]).tasks(Tasks::new()).cache(Cache::new()),
        "layer",
        &log,
    );
    let script = async |mut mock: Mock| {
        mock.expect("subscriptions/listen").await;
        let wanted =
            json!({ "resultType": "input_required", "inputRequests": { "k": { "method": "roots/list" } } });
        answer(&mut mock, "tools/call", wanted).await;
        answer(&mut mock, "tools/call", text("input")).await;

        let refused = mock.expect("tools/call").await;
        mock.refuse(&refused, json!({ "code": -32020, "message": "no header" })).await;
        answer(&mut mock, "tools/list", page(json!({}))).await;
        answer(&mut mock, "tools/call", text("header")).await;

        let task = json!({
            "taskId": "t", "status": "working", "createdAt": "", "lastUpdatedAt": "", "ttlMs": null,
            "resultType": "task",
        });
        answer(&mut mock, "tools/call", task.clone()).await;
        let mut done = task.clone();
        done["resultType"] = "complete".into();
        done["status"] = "completed".into();
        done["result"] = text("task");
        answer(&mut mock, "tasks/get", done).await;
        answer(&mut mock, "tools/call", task).await;
        while let Some(message) = mock.next().await {
            assert_eq!(message["method"], "notifications/cancelled", "{message}");
        }
    };
    let (result, ()) = with_modern(client, script, async |server: RemoteServer| {
        tokio::task::yield_now().await;
        for expected in ["input", "header", "task"] {
            assert_eq!(server.call_tool("x", ()).await?.text(), expected);
            assert_eq!(noted(&log), ["layer tools/call", "layer ok"], "{expected}");
        }
        assert!(matches!(server.call_tool("x", ()).start().await?, TaskOrResult::Task(_)));
        assert_eq!(noted(&log), ["layer tools/call", "layer ok"]);
        // The list is still fresh.
        assert_eq!(server.tools().collect().await?.len(), 1);
        assert_eq!(noted(&log), ["layer tools/list", "layer ok"]);
        Ok(())
    })
    .await;
    result.unwrap();
}

/// Also one that the server does not offer; a modern one gets its `_meta`.
#[tokio::test(start_paused = true)]
async fn a_raw_call_is_sent_as_it_is() {
    let params = RawObject::encode(&json!({ "cursor": "x" })).unwrap();
    let script = async |mut mock: Mock| {
        let request = answer(&mut mock, "tasks/list", json!({ "tasks": [] })).await;
        assert_eq!(request["params"], json!({ "cursor": "x" }));
        mock.expect_end().await;
    };
    let sent = params.clone();
    let main = async |server: RemoteServer| {
        assert!(!server.capabilities().has("tasks"));
        Ok(server.call_raw("tasks/list", sent).await?.into_result().to_string())
    };
    let (result, ()) = with_server(Client::default(), script, main).await;
    assert_eq!(result.unwrap(), r#"{"tasks":[]}"#);

    let script = async |mut mock: Mock| {
        let listed = json!({ "prompts": [], "resultType": "complete", "ttlMs": 0, "cacheScope": "private" });
        let request = answer(&mut mock, "prompts/list", listed).await;
        assert_eq!(request["params"]["cursor"], "x");
        let revision = &request["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"];
        assert_eq!(revision, "2026-07-28", "{request}");
        mock.expect_end().await;
    };
    let main = async |server: RemoteServer| Ok(server.call_raw("prompts/list", params).await?.into_result());
    let (result, ()) = with_modern(Client::default(), script, main).await;
    assert_eq!(result.unwrap().member("prompts").unwrap().as_str(), "[]");
}

#[tokio::test(start_paused = true)]
async fn a_layer_changes_calls_and_answers_and_answers_by_itself() {
    let client = Client::default().layer(from_fn(async |mut call: RawCall, next: Next| {
        match call.tool().as_deref() {
            Some("own") => {
                let result = RawJson::encode(&text("own")).expect("JSON");
                Ok(RawAnswer::new(result))
            }
            Some("x") => {
                assert_eq!((call.method(), call.meta("example.com/trace")), ("tools/call", None));
                call.set_meta("example.com/trace", RawJson::encode("7").expect("JSON"));
                // That is not a layer's to say.
                call.set_meta(
                    "io.modelcontextprotocol/protocolVersion",
                    RawJson::encode("1999-01-01").expect("JSON"),
                );
                call.set_timeout(5 * SECOND);
                let mut answer = next.call(call).await?;
                let changed = answer.result().as_str().replace("five", "5");
                answer.set_result(RawJson::parse(changed.into()).expect("JSON"));
                Ok(answer)
            }
            _ => Err(CallError::not_allowed("tools/call", "not today")),
        }
    }));
    let script = async |mut mock: Mock| {
        let call = answer(&mut mock, "tools/call", text("five")).await;
        let meta = &call["params"]["_meta"];
        assert_eq!(meta["example.com/trace"], "7");
        assert_eq!(meta["example.com/own"], json!(1));
        assert_eq!(meta["io.modelcontextprotocol/protocolVersion"], "2026-07-28");
        let begun = tokio::time::Instant::now();
        mock.expect("tools/call").await;
        mock.expect("notifications/cancelled").await;
        assert_eq!(begun.elapsed(), 5 * SECOND);
        mock.expect_end().await;
    };
    let (result, ()) = with_modern(client, script, async |server: RemoteServer| {
        let own = Meta::from_iter([("example.com/own".to_owned(), json!(1))]);
        assert_eq!(server.call(CallToolRequest::new("x").meta(own)).await?.text(), "5");
        assert_eq!(server.call_tool("own", ()).await?.text(), "own");
        let error = server.call_tool("y", ()).await.unwrap_err();
        let error = WithCauses::new(&error).to_string();
        assert!(error.contains("not today"), "{error}");
        let error = server.call_tool("x", ()).await.unwrap_err();
        assert!(matches!(error, CallError::TimedOut { .. }), "{error}");
        Ok(())
    })
    .await;
    result.unwrap();
}

#[tokio::test(start_paused = true)]
async fn dropping_a_call_drops_its_layers_and_cancels_it() {
    let log = Log::default();
    let client = logging(Client::default().layer(Retry::idempotent(3)), "layer", &log);
    let script = async |mut mock: Mock| {
        let call = mock.expect("tools/call").await;
        let cancelled = mock.expect("notifications/cancelled").await;
        assert_eq!(cancelled["params"]["requestId"], call["id"]);
        mock.expect_end().await;
    };
    let (result, ()) = with_server(client, script, async |server: RemoteServer| {
        let call = server.call_tool("x", ()).into_future();
        assert!(tokio::time::timeout(SECOND, call).await.is_err());
        Ok(())
    })
    .await;
    result.unwrap();
    assert_eq!(noted(&log), ["layer tools/call"]);
}

#[tokio::test(start_paused = true)]
async fn layers_of_tower_fit() {
    let client = Client::default().layer(TimeoutLayer::new(3 * SECOND)).layer(ConcurrencyLimitLayer::new(1));
    let script = async |mut mock: Mock| {
        for _ in 0..2 {
            let first = mock.expect("ping").await;
            // The other one waits for its turn.
            tokio::time::sleep(SECOND).await;
            mock.answer(&first, json!({})).await;
        }
        mock.expect("ping").await;
        mock.expect("notifications/cancelled").await;
        mock.expect_end().await;
    };
    let (result, ()) = with_server(client, script, async |server: RemoteServer| {
        let begun = tokio::time::Instant::now();
        let (one, other) = tokio::join!(server.ping().into_future(), server.ping().into_future());
        one.and(other)?;
        assert_eq!(begun.elapsed(), 2 * SECOND);
        let error = server.ping().await.unwrap_err();
        let text = WithCauses::new(&error).to_string();
        assert!(matches!(error, CallError::Failed { .. }) && text.contains("timed out"), "{text}");
        Ok(())
    })
    .await;
    result.unwrap();
}

/// A clock whose sleeps complete at once, and are recorded.
struct Pretended(Instant, Arc<Mutex<Vec<Duration>>>);

impl Clock for Pretended {
    fn now(&self) -> Instant {
        self.0
    }

    fn sleep_until(&self, deadline: Instant) -> BoxFuture<'static, ()> {
        self.1.lock().unwrap().push(deadline - self.0);
        Box::pin(async {})
    }
}

/// How many requests a server gets that never answers, and the pauses between them.
async fn tries(
    method: &'static str,
    annotations: Value,
    main: impl AsyncFnOnce(RemoteServer),
) -> (usize, Vec<Duration>) {
    let pauses = Arc::new(Mutex::new(Vec::new()));
    let retry =
        Retry::idempotent(3).pauses(SECOND, 3 * SECOND).clock(Pretended(Instant::now(), pauses.clone()));
    let client = Client::default().timeout(SECOND).layer(retry);
    let lists = !annotations.is_null();
    let script = async |mut mock: Mock| {
        if lists {
            answer(&mut mock, "tools/list", page(annotations)).await;
        }
        let mut tries = 0;
        while let Some(message) = mock.next().await {
            tries += usize::from(message["method"] == method);
        }
        tries
    };
    let (result, tries) = with_server(client, script, async |server: RemoteServer| {
        if lists {
            server.tools().collect().await?;
        }
        main(server).await;
        Ok::<_, BoxError>(())
    })
    .await;
    result.unwrap();
    let pauses = std::mem::take(&mut *pauses.lock().unwrap());
    (tries, pauses)
}

#[tokio::test(start_paused = true)]
async fn read_only_call_is_repeated_so_often_and_no_longer() {
    let read = tries("resources/read", Value::Null, async |server| {
        let error = server.read_resource("x:").await.unwrap_err();
        assert!(matches!(error, CallError::TimedOut { .. }), "{error}");
    });
    let (tries_of_read, pauses) = read.await;
    assert_eq!((tries_of_read, pauses.len()), (4, 3));
    for (pause, longest) in pauses.iter().zip([SECOND, 2 * SECOND, 3 * SECOND]) {
        assert!(*pause >= longest / 2 && *pause <= longest, "{pause:?} of {longest:?}");
    }
    let set = tries("logging/setLevel", Value::Null, async |server| {
        let level = agentwire_mcp_client::schema::LoggingLevel::Info;
        assert!(server.set_logging_level(level).await.is_err());
    });
    assert_eq!(set.await, (1, vec![]));
}

#[tokio::test(start_paused = true)]
async fn a_tool_is_called_again_only_where_its_annotations_allow_it() {
    for (annotations, expected) in [
        (json!({ "readOnlyHint": true }), 4),
        (json!({ "idempotentHint": true }), 4),
        (json!({ "readOnlyHint": false, "destructiveHint": false }), 1),
        (json!({}), 1),
        (Value::Null, 1),
    ] {
        let call = tries("tools/call", annotations.clone(), async |server| {
            assert!(server.call_tool("x", ()).await.is_err());
        });
        assert_eq!(call.await.0, expected, "{annotations}");
    }
}

#[tokio::test(start_paused = true)]
async fn an_answer_of_the_server_is_no_reason_to_try_again() {
    let client = Client::default().timeout(SECOND).layer(Retry::idempotent(3).when(|error| {
        assert!(matches!(error, CallError::TimedOut { .. }));
        false
    }));
    let script = async |mut mock: Mock| {
        let refused = mock.expect("resources/read").await;
        mock.refuse(&refused, json!({ "code": -32603, "message": "no" })).await;
        // Nor is what the author of the client does not take for one.
        mock.expect("resources/read").await;
        mock.expect("notifications/cancelled").await;
        mock.expect_end().await;
    };
    let (result, ()) = with_server(client, script, async |server: RemoteServer| {
        assert!(server.read_resource("x:").await.unwrap_err().refusal().is_some());
        assert!(server.read_resource("x:").await.is_err());
        Ok(())
    })
    .await;
    result.unwrap();
}
