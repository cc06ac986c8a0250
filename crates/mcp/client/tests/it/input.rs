//! Calls that a server answers with questions. Since 2026-07-28.

use std::future::IntoFuture;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use agentwire_mcp_client::schema::{
    CallToolRequest, CreateMessageRequest, CreateMessageResult, ElicitAction, ElicitResult, GetPromptRequest,
    InputResponses, JsonObject, Root,
};
use agentwire_mcp_client::{CallError, Client, ErrorObject, RemoteServer};
use serde_json::{Value, json};
use tokio::sync::Barrier;

use crate::mock::{Mock, with_modern, with_server};

fn form(properties: Value) -> Value {
    let schema = json!({ "type": "object", "properties": properties });
    json!({ "method": "elicitation/create", "params": { "mode": "form", "message": "?", "requestedSchema": schema } })
}

fn sampling() -> Value {
    json!({ "method": "sampling/createMessage", "params": { "messages": [], "maxTokens": 7 } })
}

fn roots() -> Value {
    json!({ "method": "roots/list" })
}

fn wanted(requests: Value) -> Value {
    json!({ "resultType": "input_required", "inputRequests": requests })
}

fn done() -> Value {
    json!({ "resultType": "complete", "content": [{ "type": "text", "text": "done" }] })
}

/// A client that agrees to every form, and whose folder is /repo.
fn client() -> Client {
    Client::default()
        .roots(vec![Root::new("file:///repo")])
        .elicitation(async |_| Ok(ElicitResult::accept(JsonObject::new())))
}

#[tokio::test(start_paused = true)]
async fn mrt_09_and_10_answers_go_with_the_same_request_and_the_newest_state() {
    let state = "é\u{1F600}\"\\\n eyJ0ZXN0Ijp0cnVlfQ==";
    let script = async |mut mock: Mock| {
        let first = mock.expect("tools/call").await;
        assert_eq!(first["params"].get("inputResponses").or(first["params"].get("requestState")), None);
        let mut result =
            wanted(json!({ "who": form(json!({ "name": { "type": "string", "default": "Ada" } })) }));
        result["requestState"] = state.into();
        mock.answer(&first, result).await;

        let second = mock.expect("tools/call").await;
        assert_ne!(second["id"], first["id"]);
        let mut expected = first["params"].clone();
        expected["inputResponses"] = json!({ "who": { "action": "accept", "content": { "name": "Ada" } } });
        expected["requestState"] = state.into();
        assert_eq!(second["params"], expected);
        mock.answer(&second, wanted(json!({ "where": roots() }))).await;

        let third = mock.expect("tools/call").await;
        let mut expected = first["params"].clone();
        expected["inputResponses"] = json!({ "where": { "roots": [{ "uri": "file:///repo" }] } });
        assert_eq!(third["params"], expected, "no state, and nothing of the round before");
        mock.answer(&third, json!({ "resultType": "input_required", "requestState": "" })).await;

        let fourth = mock.expect("tools/call").await;
        let mut expected = first["params"].clone();
        expected["requestState"] = "".into();
        assert_eq!(fourth["params"], expected);
        mock.answer(&fourth, done()).await;
        mock.expect_end().await;
    };
    let (result, ()) = with_modern(client(), script, async |server: RemoteServer| {
        Ok(server.call_tool("x", json!({ "a": 1.0, "b": [10000000000000000000000_u128 as f64] })).await?)
    })
    .await;
    assert_eq!(result.unwrap().text(), "done");
}

/// PHP writes `[]` for an empty map.
#[tokio::test(start_paused = true)]
async fn empty_array_asks_nothing_and_null_is_no_question() {
    let script = async |mut mock: Mock| {
        let first = mock.expect("tools/call").await;
        let mut result = wanted(json!([]));
        result["requestState"] = "s".into();
        mock.answer(&first, result).await;

        let second = mock.expect("tools/call").await;
        assert_eq!(second["params"]["requestState"], "s");
        mock.answer(&second, wanted(json!({ "where": roots(), "none": null }))).await;

        let third = mock.expect("tools/call").await;
        let expected = json!({ "where": { "roots": [{ "uri": "file:///repo" }] } });
        assert_eq!(third["params"]["inputResponses"], expected);
        mock.answer(&third, done()).await;
        mock.expect_end().await;
    };
    let (result, ()) = with_modern(client(), script, async |server: RemoteServer| {
        Ok(server.call_tool("x", json!({})).await?)
    })
    .await;
    assert_eq!(result.unwrap().text(), "done");
}

#[tokio::test(start_paused = true)]
async fn prompts_and_resources_may_ask_too_and_nothing_else() {
    let script = async |mut mock: Mock| {
        for (method, result) in [
            ("prompts/get", json!({ "resultType": "complete", "messages": [] })),
            (
                "resources/read",
                json!({ "resultType": "complete", "contents": [], "ttlMs": 0, "cacheScope": "private" }),
            ),
        ] {
            let request = mock.expect(method).await;
            mock.answer(&request, wanted(json!({ "k": roots() }))).await;
            let again = mock.expect(method).await;
            assert_eq!(again["params"]["inputResponses"]["k"]["roots"][0]["uri"], "file:///repo");
            mock.answer(&again, result).await;
        }
        let list = mock.expect("tools/list").await;
        mock.answer(&list, wanted(json!({ "k": roots() }))).await;
        mock.expect_end().await;
    };
    let (result, ()) = with_modern(client(), script, async |server: RemoteServer| {
        server.get_prompt(GetPromptRequest::new("p")).await?;
        server.read_resource("x:").await?;
        let error = server.tools().collect().await.unwrap_err();
        assert!(matches!(error, CallError::Unusable { .. }), "{error}");
        Ok(())
    })
    .await;
    result.unwrap();
}

#[tokio::test(start_paused = true)]
async fn questions_of_one_round_are_answered_at_the_same_time() {
    // Neither function ends before the other has begun.
    let barrier = Arc::new(Barrier::new(2));
    let (one, other) = (barrier.clone(), barrier);
    let client = Client::default()
        .sampling(move |request: CreateMessageRequest| {
            let barrier = one.clone();
            async move {
                barrier.wait().await;
                Ok(CreateMessageResult::new("m", format!("{} tokens", request.max_tokens)))
            }
        })
        .elicitation_url(move |_| {
            let barrier = other.clone();
            async move {
                barrier.wait().await;
                Ok(ElicitResult::new(ElicitAction::Accept))
            }
        });
    let script = async |mut mock: Mock| {
        let call = mock.expect("tools/call").await;
        let capabilities = &call["params"]["_meta"]["io.modelcontextprotocol/clientCapabilities"];
        assert_eq!(*capabilities, json!({ "sampling": {}, "elicitation": { "url": {} } }));
        let page = json!({ "mode": "url", "message": "?", "url": "https://example.com/" });
        let page = json!({ "method": "elicitation/create", "params": page });
        mock.answer(&call, wanted(json!({ "a": sampling(), "b": page }))).await;
        let again = mock.expect("tools/call").await;
        let answers = &again["params"]["inputResponses"];
        assert_eq!(
            (&answers["a"]["content"]["text"], &answers["b"]),
            (&json!("7 tokens"), &json!({ "action": "accept" }))
        );
        mock.answer(&again, done()).await;
        mock.expect_end().await;
    };
    let (result, ()) =
        with_modern(client, script, async |server: RemoteServer| Ok(server.call_tool("x", ()).await?)).await;
    result.unwrap();
}

#[tokio::test(start_paused = true)]
async fn unanswerable_question_fails_the_call_before_any_person_is_asked() {
    let asked = Arc::new(Mutex::new(0));
    let count = asked.clone();
    let client = Client::default().input_requests(2).elicitation(move |_| {
        *count.lock().unwrap() += 1;
        async { Err(ErrorObject::internal_error("nobody is there")) }
    });
    let page =
        json!({ "method": "elicitation/create", "params": { "mode": "url", "message": "?", "url": "x:" } });
    let broken = json!({ "method": "elicitation/create", "params": { "mode": "form" } });
    let rows = [
        (json!({ "a": form(json!({})), "b": sampling() }), 0, "sampling/createMessage (\"b\"), which"),
        (json!({ "a": form(json!({})), "b": { "method": "tasks/list" } }), 0, "tasks/list (\"b\"), which"),
        (
            json!({ "a": form(json!({})), "b": form(json!({})), "c": form(json!({})) }),
            0,
            "more than 2 answers",
        ),
        (json!({ "a": page }), 0, "(\"a\"), and there is no answer: "),
        (json!({ "a": broken }), 0, "missing field"),
        (json!({ "a": form(json!({})) }), 1, "nobody is there"),
    ];
    for (requests, times, why) in rows {
        *asked.lock().unwrap() = 0;
        let script = async |mut mock: Mock| {
            let call = mock.expect("tools/call").await;
            mock.answer(&call, wanted(requests.clone())).await;
            mock.expect_end().await;
        };
        let (result, ()) = with_modern(client.clone(), script, async |server: RemoteServer| {
            Ok(server.call_tool("x", ()).await.unwrap_err())
        })
        .await;
        let error = result.unwrap();
        assert!(matches!(error, CallError::Unusable { .. }) && error.to_string().contains(why), "{error}");
        assert_eq!(*asked.lock().unwrap(), times, "{why}");
    }
}

#[tokio::test(start_paused = true)]
async fn mrt_16_tools_for_the_model_need_their_capability() {
    let asked = Arc::new(Mutex::new(0));
    let count = asked.clone();
    let client = Client::default().sampling(move |_: CreateMessageRequest| {
        *count.lock().unwrap() += 1;
        async { Ok(CreateMessageResult::new("m", "4")) }
    });
    let able = client.clone().advertise(|capabilities| {
        capabilities.sampling.get_or_insert_default().tools = Some(JsonObject::new());
    });
    let tools = json!([{ "name": "add", "inputSchema": { "type": "object" } }]);
    for (member, value) in [("tools", tools), ("tools", json!([])), ("toolChoice", json!({ "mode": "none" }))]
    {
        for (client, is_able) in [(client.clone(), false), (able.clone(), true)] {
            *asked.lock().unwrap() = 0;
            let mut question = sampling();
            question["params"][member] = value.clone();
            let script = async |mut mock: Mock| {
                let call = mock.expect("tools/call").await;
                mock.answer(&call, wanted(json!({ "a": sampling(), "b": question }))).await;
                if is_able {
                    let again = mock.expect("tools/call").await;
                    mock.answer(&again, done()).await;
                }
                mock.expect_end().await;
            };
            let (result, ()) =
                with_modern(client, script, async |server: RemoteServer| Ok(server.call_tool("x", ()).await))
                    .await;
            match result.unwrap() {
                Ok(_) => assert!(is_able, "{member}"),
                Err(error) => {
                    assert!(!is_able && matches!(error, CallError::Unusable { .. }), "{error}");
                    let text = error.to_string();
                    let named = format!("`sampling.tools`, which `{member}` needs");
                    assert!(text.contains("(\"b\")") && text.contains(&named), "{text}");
                }
            }
            assert_eq!(*asked.lock().unwrap(), if is_able { 2 } else { 0 }, "{member}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_server_that_asks_for_ever_is_answered_so_often() {
    for limit in [0, 3] {
        let script = async |mut mock: Mock| {
            for _ in 0..=limit {
                let call = mock.expect("tools/call").await;
                mock.answer(&call, json!({ "resultType": "input_required", "requestState": "s" })).await;
            }
            mock.expect_end().await;
        };
        let (result, ()) = with_modern(client().input_rounds(limit), script, async |server: RemoteServer| {
            Ok(server.call_tool("x", ()).await.unwrap_err().to_string())
        })
        .await;
        assert!(result.unwrap().contains(&format!("after {limit} rounds")));
    }
}

#[tokio::test(start_paused = true)]
async fn each_round_has_the_time_of_the_call_and_the_users_does_not_count() {
    let client = Client::default().elicitation(async |_| {
        tokio::time::sleep(Duration::from_secs(3600)).await;
        Ok(ElicitResult::decline())
    });
    let script = async |mut mock: Mock| {
        for _ in 0..2 {
            let call = mock.expect("tools/call").await;
            tokio::time::sleep(Duration::from_secs(9)).await;
            mock.answer(&call, wanted(json!({ "k": form(json!({})) }))).await;
        }
        let last = mock.expect("tools/call").await;
        let cancelled = mock.expect("notifications/cancelled").await;
        assert_eq!(cancelled["params"]["requestId"], last["id"]);
        mock.expect_end().await;
    };
    let (result, ()) = with_modern(client, script, async |server: RemoteServer| {
        Ok(server.call_tool("x", ()).timeout(Duration::from_secs(10)).await.unwrap_err())
    })
    .await;
    assert!(matches!(result.unwrap(), CallError::TimedOut { .. }));
}

#[tokio::test(start_paused = true)]
async fn a_call_that_is_dropped_drops_the_question() {
    let (begun, has_begun) = futures::channel::oneshot::channel::<futures::channel::oneshot::Sender<()>>();
    let (begun, (guard, dropped)) = (Mutex::new(Some(begun)), futures::channel::oneshot::channel::<()>());
    let guard = Mutex::new(Some(guard));
    let client = Client::default().elicitation(move |_| {
        // Only the first question is reported.
        let (begun, guard) = (begun.lock().unwrap().take().unwrap(), guard.lock().unwrap().take().unwrap());
        async move {
            let (held, _released) = futures::channel::oneshot::channel();
            begun.send(held).unwrap();
            let _guard = guard;
            std::future::pending().await
        }
    });
    let script = async |mut mock: Mock| {
        let call = mock.expect("tools/call").await;
        mock.answer(&call, wanted(json!({ "k": form(json!({})) }))).await;
        // The call was answered: there is nothing to take back.
        mock.expect_end().await;
    };
    let (result, ()) = with_modern(client, script, async |server: RemoteServer| {
        let call = server.call_tool("x", ()).into_future();
        tokio::select! {
            result = call => panic!("{result:?}"),
            _ = has_begun => {}
        }
        assert!(dropped.await.is_err());
        Ok(())
    })
    .await;
    result.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_request_that_brings_answers_of_its_own_is_asked_on() {
    let script = async |mut mock: Mock| {
        let call = mock.expect("tools/call").await;
        assert_eq!(call["params"]["requestState"], "own");
        mock.answer(&call, wanted(json!({ "k": roots() }))).await;
        let again = mock.expect("tools/call").await;
        assert_eq!(again["params"].get("requestState"), None);
        assert!(again["params"]["inputResponses"].get("own").is_none());
        mock.answer(&again, done()).await;
        mock.expect_end().await;
    };
    let (result, ()) = with_modern(client(), script, async |server: RemoteServer| {
        let own = InputResponses::from_iter([("own".to_owned(), ElicitResult::decline().into())]);
        Ok(server.call(CallToolRequest::new("x").input_responses(own).request_state("own")).await?)
    })
    .await;
    result.unwrap();
}

#[tokio::test(start_paused = true)]
async fn progress_is_heard_in_every_round() {
    let script = async |mut mock: Mock| {
        for round in 0..2 {
            let call = mock.expect("tools/call").await;
            mock.notify("notifications/progress", json!({ "progressToken": call["id"], "progress": round }))
                .await;
            mock.answer(&call, if round == 0 { wanted(json!({ "k": roots() })) } else { done() }).await;
        }
        mock.expect_end().await;
    };
    let reports = Arc::new(Mutex::new(Vec::new()));
    let heard = reports.clone();
    let (result, ()) = with_modern(client(), script, async |server: RemoteServer| {
        let call =
            server.call_tool("x", ()).on_progress(move |report| heard.lock().unwrap().push(report.progress));
        Ok(call.await?)
    })
    .await;
    result.unwrap();
    assert_eq!(*reports.lock().unwrap(), [0.0, 1.0]);
}

fn ask(id: u64) -> Value {
    let question = form(json!({}));
    json!({ "jsonrpc": "2.0", "id": id, "method": question["method"], "params": question["params"] })
}

#[tokio::test(start_paused = true)]
async fn a_session_has_so_many_questions_at_once_each_for_so_long() {
    let client = Client::default()
        .input_requests(2)
        .input_timeout(Duration::from_secs(30))
        .elicitation(async |_| std::future::pending().await);
    let script = async |mut mock: Mock| {
        for round in [0, 10] {
            for id in round..round + 3 {
                mock.send(ask(id)).await;
            }
            let began = tokio::time::Instant::now();
            let refused = mock.next().await.unwrap();
            assert_eq!(refused["id"], round + 2, "{refused}");
            let why = "internal error: the server asks more than 2 questions at once, which is the limit";
            assert_eq!(refused["error"]["message"], why);
            assert!(began.elapsed() < Duration::from_secs(1));
            for id in [round, round + 1] {
                let late = mock.next().await.unwrap();
                assert_eq!(late["id"], id, "{late}");
                let why = "internal error: there was no answer within 30s, the limit";
                assert_eq!(late["error"]["message"], why);
            }
            assert_eq!(began.elapsed().as_secs(), 30);
        }
    };
    let (result, ()) = with_server(client, script, async |server: RemoteServer| {
        server.closed().await;
        Ok(())
    })
    .await;
    result.unwrap();
}

/// A panic costs the question, with and without a session, and the connection goes on.
#[tokio::test(start_paused = true)]
async fn function_that_panics_fails_its_question_alone() {
    fn at_once() -> std::future::Ready<Result<ElicitResult, ErrorObject>> {
        panic!("at once")
    }
    let clients = [
        Client::default().elicitation(|_| at_once()),
        Client::default().elicitation(async |_| panic!("later")),
    ];
    for client in clients {
        let session = async |mut mock: Mock| {
            let call = mock.expect("tools/call").await;
            mock.send(ask(1)).await;
            let refused = mock.next().await.unwrap();
            assert_eq!(refused["error"]["code"], -32603, "{refused}");
            mock.answer(&call, json!({ "content": [] })).await;
            mock.expect_end().await;
        };
        let (result, ()) =
            with_server(client.clone(), session, async |server| Ok(server.call_tool("x", ()).await?)).await;
        result.unwrap();
        let modern = async |mut mock: Mock| {
            let call = mock.expect("tools/call").await;
            mock.answer(&call, wanted(json!({ "k": form(json!({})) }))).await;
            let call = mock.expect("tools/call").await;
            mock.answer(&call, done()).await;
            mock.expect_end().await;
        };
        let (result, ()) = with_modern(client, modern, async |server: RemoteServer| {
            let error = server.call_tool("x", ()).await.unwrap_err();
            assert!(error.to_string().contains("the function that answers this request panicked"), "{error}");
            Ok(server.call_tool("x", ()).await?)
        })
        .await;
        result.unwrap();
    }
}
