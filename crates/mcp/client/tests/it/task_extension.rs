//! The tasks of 2026-07-28. Tests whose names begin with a number check a line of SEP-2663 that binds clients.

use std::future::IntoFuture;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use agentwire_mcp_client::schema::task_extension::{TaskStatus, TaskSubscription};
use agentwire_mcp_client::schema::{ElicitFormRequest, ElicitResult, JsonObject, SubscriptionFilter};
use agentwire_mcp_client::{BoxError, CallError, Client, Era, RemoteServer, TaskOrResult, Tasks};
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::mock::{Mock, description, with_mock};

const SECOND: Duration = Duration::from_secs(1);
const EXTENSION: &str = "io.modelcontextprotocol/tasks";

pub(crate) fn client() -> Client {
    Client::default().era(Era::Modern).tasks(Tasks::new())
}

/// A server that advertises tasks.
pub(crate) async fn with_tasks<R, S>(
    client: Client,
    script: impl AsyncFnOnce(Mock) -> S,
    main: impl AsyncFnOnce(RemoteServer) -> Result<R, BoxError>,
) -> (Result<R, BoxError>, S) {
    let script = async |mut mock: Mock| {
        let mut described = description();
        described["capabilities"] = json!({ "tools": {}, "prompts": {}, "extensions": { EXTENSION: {} } });
        mock.describe_as(described).await;
        script(mock).await
    };
    with_mock(client, script, main).await
}

/// A task in a state, changed at this time.
pub(crate) fn task(status: &str, changed: u32) -> Value {
    json!({
        "taskId": "t-1", "status": status, "createdAt": "2026-11-21T10:00:00Z",
        "lastUpdatedAt": format!("2026-11-21T10:00:{changed:02}Z"), "ttlMs": null, "pollIntervalMs": 1000,
    })
}

pub(crate) fn with(mut task: Value, members: Value) -> Value {
    task.as_object_mut().unwrap().extend(members.as_object().unwrap().clone());
    task
}

pub(crate) fn created() -> Value {
    with(task("working", 0), json!({ "resultType": "task" }))
}

pub(crate) fn complete(task: Value) -> Value {
    with(task, json!({ "resultType": "complete" }))
}

pub(crate) fn done() -> Value {
    complete(with(
        task("completed", 59),
        json!({ "result": { "content": [{ "type": "text", "text": "done" }] } }),
    ))
}

pub(crate) fn form() -> Value {
    let schema = json!({ "type": "object", "properties": {} });
    json!({ "method": "elicitation/create", "params": { "mode": "form", "message": "?", "requestedSchema": schema } })
}

pub(crate) fn asking(requests: Value) -> Value {
    complete(with(task("input_required", 1), json!({ "inputRequests": requests })))
}

impl Mock {
    /// Answers a call by a task.
    pub(crate) async fn create(&mut self) -> Value {
        let call = self.expect("tools/call").await;
        self.answer(&call, created()).await;
        call
    }

    /// Answers a request for the task with a state, and returns the time of the request.
    pub(crate) async fn tell(&mut self, state: Value) -> Instant {
        let get = self.expect("tasks/get").await;
        assert_eq!(get["params"]["taskId"], "t-1");
        let asked = Instant::now();
        self.answer(&get, state).await;
        asked
    }

    pub(crate) async fn take_update(&mut self) -> Value {
        let update = self.expect("tasks/update").await;
        assert_eq!(update["params"]["taskId"], "t-1");
        self.answer(&update, json!({ "resultType": "complete" })).await;
        update["params"]["inputResponses"].clone()
    }

    pub(crate) async fn take_cancel(&mut self) {
        let cancel = self.expect("tasks/cancel").await;
        assert_eq!(cancel["params"]["taskId"], "t-1");
        self.answer(&cancel, json!({ "resultType": "complete" })).await;
    }
}

#[tokio::test(start_paused = true)]
async fn every_request_opts_in_and_the_interval_is_that_of_the_last_answer() {
    let script = async |mut mock: Mock| {
        let call = mock.expect("tools/call").await;
        let begun = Instant::now();
        mock.answer(&call, with(created(), json!({ "pollIntervalMs": 5000 }))).await;
        let mut asked = Vec::new();
        let mut none = task("working", 2);
        none.as_object_mut().unwrap().remove("pollIntervalMs");
        for state in [
            complete(with(task("working", 1), json!({ "pollIntervalMs": 20_000 }))),
            // Without one it is the client's own, and never less than that has as the least.
            complete(none),
            complete(with(task("working", 3), json!({ "pollIntervalMs": 0 }))),
            done(),
        ] {
            asked.push(mock.tell(state).await - begun);
        }
        for request in &mock.heard[1..] {
            let capabilities = &request["params"]["_meta"]["io.modelcontextprotocol/clientCapabilities"];
            assert_eq!(capabilities["extensions"], json!({ EXTENSION: {} }), "{request}");
            assert_eq!(request["params"].get("task"), None);
        }
        mock.expect_end().await;
        asked
    };
    let client = client().tasks(Tasks::new().poll_interval(2 * SECOND).shortest_interval(SECOND / 2));
    let (result, asked) =
        with_tasks(client, script, async |server: RemoteServer| Ok(server.call_tool("x", ()).await?)).await;
    assert_eq!(result.unwrap().text(), "done");
    let asked: Vec<_> = asked.iter().map(|asked| (asked.as_millis() + 50) / 100).collect();
    assert_eq!(asked, [50, 250, 270, 275]);
}

#[tokio::test(start_paused = true)]
async fn outcome_of_a_task_is_the_outcome_of_the_call() {
    let failed = json!({ "error": { "code": -32603, "message": "the disk is full" } });
    let is_error = json!({ "result": { "content": [], "isError": true } });
    let ends = [
        complete(with(task("completed", 1), is_error.clone())),
        complete(with(task("failed", 1), failed.clone())),
        // As in the examples of the specification.
        with(task("failed", 1), with(failed, json!({ "resultType": "task" }))),
        complete(task("failed", 1)),
        complete(task("cancelled", 1)),
        complete(task("completed", 1)),
        complete(task("asleep", 1)),
        complete(with(task("working", 1), json!({ "taskId": "t-2" }))),
    ];
    let mut outcomes = Vec::new();
    for end in ends {
        let script = async |mut mock: Mock| {
            mock.create().await;
            mock.tell(end).await;
            // What was not over is cancelled.
            if let Some(cancel) = mock.next().await {
                assert_eq!(cancel["method"], "tasks/cancel");
                mock.answer(&cancel, json!({ "resultType": "complete" })).await;
                mock.expect_end().await;
            }
        };
        let (result, ()) =
            with_tasks(client(), script, async |server: RemoteServer| Ok(server.call_tool("x", ()).await))
                .await;
        outcomes.push(result.unwrap());
    }
    assert!(outcomes[0].as_ref().unwrap().is_error);
    for refused in &outcomes[1..3] {
        let error = refused.as_ref().unwrap_err();
        assert_eq!(error.refusal().unwrap().message, "the disk is full", "{error}");
        assert!(error.to_string().starts_with("tools/call"), "{error}");
    }
    assert!(matches!(outcomes[4], Err(CallError::Cancelled { .. })), "{:?}", outcomes[4]);
    for (index, why) in [(3, "failed"), (5, "has no result"), (6, "`asleep`"), (7, "another task")] {
        let error = outcomes[index].as_ref().unwrap_err();
        assert!(matches!(error, CallError::Unusable { .. }) && error.to_string().contains(why), "{error}");
    }
}

#[tokio::test(start_paused = true)]
async fn each_question_is_asked_and_answered_once_while_the_task_is_asked_after() {
    let asked = Arc::new(Mutex::new(Vec::new()));
    let note = asked.clone();
    let client = client().elicitation(move |form: ElicitFormRequest| {
        let so_many = {
            let mut asked = note.lock().unwrap();
            asked.push(form.message);
            asked.len()
        };
        async move {
            // The user takes minutes over the last one, which no time-out counts.
            tokio::time::sleep(if so_many == 3 { 200 * SECOND } else { SECOND / 2 }).await;
            Ok(ElicitResult::accept(JsonObject::from_iter([("n".to_owned(), so_many.into())])))
        }
    });
    let script = async |mut mock: Mock| {
        mock.create().await;
        mock.tell(asking(json!({ "a": form(), "b": form() }))).await;
        // Two questions that were open together are answered together.
        let answers = mock.take_update().await;
        let of = |key: &str, answers: &Value| answers[key]["content"]["n"].clone();
        let mut both = [of("a", &answers), of("b", &answers)];
        both.sort_by_key(Value::as_u64);
        assert_eq!(both, [1, 2]);
        // The server is slow to see it.
        mock.tell(asking(json!({ "a": form(), "b": form() }))).await;
        mock.tell(asking(json!({ "b": form(), "c": form() }))).await;
        let began = Instant::now();
        let mut polls = 0;
        let answers = loop {
            let message = mock.next().await.unwrap();
            match message["method"].as_str().unwrap() {
                "tasks/get" => mock.answer(&message, asking(json!({ "c": form() }))).await,
                "tasks/update" => {
                    mock.answer(&message, json!({ "resultType": "complete" })).await;
                    break message["params"]["inputResponses"].clone();
                }
                other => panic!("{other}"),
            }
            polls += 1;
        };
        assert_eq!(answers, json!({ "c": { "action": "accept", "content": { "n": 3 } } }));
        assert!(polls > 190 && Instant::now() - began >= 199 * SECOND, "{polls}");
        mock.tell(complete(task("working", 5))).await;
        mock.tell(done()).await;
        mock.expect_end().await;
    };
    let (result, ()) = with_tasks(client, script, async |server: RemoteServer| {
        Ok(server.call_tool("x", ()).timeout(10 * SECOND).await?)
    })
    .await;
    assert_eq!(result.unwrap().text(), "done");
    assert_eq!(asked.lock().unwrap().len(), 3);
}

#[tokio::test(start_paused = true)]
async fn a_question_that_the_task_takes_back_is_dropped() {
    let (guard, dropped) = futures::channel::oneshot::channel::<()>();
    let guard = Mutex::new(Some(guard));
    let client = client().elicitation(move |_| {
        let _guard = guard.lock().unwrap().take();
        async move {
            let _guard = _guard;
            std::future::pending().await
        }
    });
    let script = async |mut mock: Mock| {
        mock.create().await;
        mock.tell(asking(json!({ "a": form() }))).await;
        mock.tell(complete(task("working", 2))).await;
        assert!(dropped.await.is_err());
        mock.tell(done()).await;
        mock.expect_end().await;
    };
    let (result, ()) =
        with_tasks(client, script, async |server: RemoteServer| Ok(server.call_tool("x", ()).await?)).await;
    result.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_task_that_asks_what_cannot_be_answered_is_given_up_and_so_is_one_that_asks_for_ever() {
    let agrees = || client().input_rounds(2).elicitation(async |_| Ok(ElicitResult::decline()));
    let sampling =
        json!({ "method": "sampling/createMessage", "params": { "messages": [], "maxTokens": 7 } });
    let rows = [
        (client(), json!({ "a": form() }), "elicitation/create"),
        (agrees(), json!({ "a": form(), "b": sampling }), "sampling/createMessage"),
        (agrees(), Value::Null, "does not say to what"),
    ];
    for (client, requests, why) in rows {
        let script = async |mut mock: Mock| {
            mock.create().await;
            mock.tell(asking(requests)).await;
            mock.take_cancel().await;
            mock.expect_end().await;
        };
        let (result, ()) = with_tasks(client, script, async |server: RemoteServer| {
            Ok(server.call_tool("x", ()).await.unwrap_err().to_string())
        })
        .await;
        let error = result.unwrap();
        assert!(error.contains(why), "{error}");
    }

    let script = async |mut mock: Mock| {
        mock.create().await;
        for key in ["a", "b"] {
            mock.tell(asking(json!({ key: form() }))).await;
            assert_eq!(mock.take_update().await, json!({ key: { "action": "decline" } }));
        }
        mock.tell(asking(json!({ "c": form() }))).await;
        mock.take_cancel().await;
        mock.expect_end().await;
    };
    let (result, ()) = with_tasks(agrees(), script, async |server: RemoteServer| {
        Ok(server.call_tool("x", ()).await.unwrap_err().to_string())
    })
    .await;
    assert!(result.unwrap().contains("after 2 rounds"));
}

#[tokio::test(start_paused = true)]
async fn can_08_the_time_of_the_call_counts_each_change_starts_it_anew_and_then_the_task_is_cancelled() {
    let script = async |mut mock: Mock| {
        mock.create().await;
        let begun = Instant::now();
        let mut changes = 0;
        let given_up = loop {
            let message = mock.next().await.unwrap();
            if message["method"] != "tasks/get" {
                break message;
            }
            // It changes for a minute, and then no more.
            changes = ((Instant::now() - begun).as_secs() as u32).min(59);
            mock.answer(&message, complete(task("working", changes))).await;
        };
        assert_eq!((given_up["method"].as_str(), changes), (Some("tasks/cancel"), 59));
        let waited = Instant::now() - begun;
        assert!(waited > 68 * SECOND && waited < 71 * SECOND, "{waited:?}");
        mock.answer(&given_up, json!({ "resultType": "complete" })).await;
        mock.expect_end().await;
    };
    let (result, ()) = with_tasks(client(), script, async |server: RemoteServer| {
        Ok(server.call_tool("x", ()).timeout(10 * SECOND).await.unwrap_err())
    })
    .await;
    let error = result.unwrap();
    assert!(matches!(error, CallError::TimedOut { .. }), "{error}");
}

#[tokio::test(start_paused = true)]
async fn can_08_a_call_that_is_dropped_cancels_its_task_also_at_the_end_of_the_connection() {
    for stays in [true, false] {
        let script = async |mut mock: Mock| {
            mock.create().await;
            mock.tell(complete(task("working", 1))).await;
            mock.take_cancel().await;
            mock.expect_end().await;
        };
        let (result, ()) = with_tasks(client(), script, async |server: RemoteServer| {
            let call = server.call_tool("x", ()).into_future();
            assert!(tokio::time::timeout(SECOND + SECOND / 2, call).await.is_err());
            if stays {
                tokio::time::sleep(SECOND).await;
            }
            Ok(())
        })
        .await;
        result.unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn a_task_that_nobody_has_asked_for_or_of_another_request_is_an_error_that_names_it() {
    let script = async |mut mock: Mock| {
        let call = mock.create().await;
        let capabilities = &call["params"]["_meta"]["io.modelcontextprotocol/clientCapabilities"];
        assert_eq!(*capabilities, json!({}));
        mock.expect_end().await;
    };
    let plain = Client::default().era(Era::Modern);
    let (result, ()) = with_tasks(plain, script, async |server: RemoteServer| {
        let error = server.call_tool("x", ()).await.unwrap_err();
        assert!(matches!(server.task("t-1"), Err(CallError::NotAllowed { .. })));
        assert!(matches!(server.call_tool("x", ()).start().await, Err(CallError::NotAllowed { .. })));
        Ok(error)
    })
    .await;
    let error = result.unwrap();
    assert!(matches!(error, CallError::Unusable { .. }) && error.to_string().contains("\"t-1\""), "{error}");

    let script = async |mut mock: Mock| {
        for method in ["prompts/get", "tools/list"] {
            let request = mock.expect(method).await;
            mock.answer(&request, created()).await;
        }
        mock.expect_end().await;
    };
    let (result, ()) = with_tasks(client(), script, async |server: RemoteServer| {
        let prompt = server.get_prompt(agentwire_mcp_client::schema::GetPromptRequest::new("p")).await;
        Ok((prompt.unwrap_err(), server.tools().collect().await.unwrap_err()))
    })
    .await;
    let (prompt, tools) = result.unwrap();
    for error in [prompt, tools] {
        assert!(matches!(error, CallError::Unusable { .. }) && error.to_string().contains("t-1"), "{error}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_task_that_outlives_its_time_is_given_up() {
    let script = async |mut mock: Mock| {
        let call = mock.expect("tools/call").await;
        mock.answer(&call, with(created(), json!({ "ttlMs": 3000 }))).await;
        let begun = Instant::now();
        // The time may change.
        for changed in 1..=5 {
            mock.tell(complete(with(task("working", changed), json!({ "ttlMs": 4500 })))).await;
        }
        assert_eq!((Instant::now() - begun).as_secs(), 5);
        mock.take_cancel().await;
        mock.expect_end().await;
    };
    let (result, ()) = with_tasks(client(), script, async |server: RemoteServer| {
        Ok(server.call_tool("x", ()).await.unwrap_err())
    })
    .await;
    let error = result.unwrap();
    assert!(error.to_string().contains("4.5s"), "{error}");
}

#[tokio::test(start_paused = true)]
async fn a_task_is_started_and_found_again_on_another_connection() {
    let script = async |mut mock: Mock| {
        mock.create().await;
        mock.tell(complete(with(task("working", 1), json!({ "statusMessage": "half" })))).await;
        mock.tell(asking(json!({ "a": form() }))).await;
        // The connection is lost in the middle.
    };
    let (begun, has_begun) = futures::channel::oneshot::channel::<()>();
    let begun = Arc::new(Mutex::new(Some(begun)));
    let client = client().elicitation(move |_| {
        let first = begun.lock().unwrap().take();
        async move {
            match first {
                Some(_never) => std::future::pending().await,
                None => Ok(ElicitResult::decline()),
            }
        }
    });
    let (result, ()) = with_tasks(client.clone(), script, async |server: RemoteServer| {
        let TaskOrResult::Task(task) = server.call_tool("x", json!({ "a": 1 })).start().await? else {
            panic!("it is a task")
        };
        assert_eq!(task.first_state().unwrap().status, TaskStatus::Working);
        assert_eq!(task.state().await?.message.as_deref(), Some("half"));
        let error = task.result().await.unwrap_err();
        assert!(matches!(error, CallError::Closed(_)), "{error}");
        Ok(task.id().to_owned())
    })
    .await;
    let id = result.unwrap();
    assert!(has_begun.await.is_err());

    let script = async |mut mock: Mock| {
        // It is asked at once: the time of the last request is unknown.
        mock.tell(asking(json!({ "a": form() }))).await;
        assert_eq!(mock.take_update().await, json!({ "a": { "action": "decline" } }));
        mock.tell(done()).await;
        mock.take_cancel().await;
        let get = mock.expect("tasks/get").await;
        mock.refuse(&get, json!({ "code": -32602, "message": "no such task" })).await;
        mock.expect_end().await;
    };
    let states = Arc::new(Mutex::new(Vec::new()));
    let heard = states.clone();
    let (result, ()) = with_tasks(client, script, async |server: RemoteServer| {
        let task = server.task(&*id)?.on_state(move |state| heard.lock().unwrap().push(state.status.clone()));
        let result = task.result().await?;
        task.cancel().await?;
        assert_eq!(task.state().await.unwrap_err().refusal().unwrap().code, -32602);
        Ok(result)
    })
    .await;
    assert_eq!(result.unwrap().text(), "done");
    assert_eq!(*states.lock().unwrap(), [TaskStatus::InputRequired, TaskStatus::Completed]);
}

#[tokio::test(start_paused = true)]
async fn a_handle_that_is_dropped_leaves_the_task_alone_and_a_call_may_be_answered_at_once() {
    let script = async |mut mock: Mock| {
        mock.create().await;
        let call = mock.expect("tools/call").await;
        mock.answer(&call, json!({ "resultType": "complete", "content": [] })).await;
        mock.expect_end().await;
    };
    let (result, ()) = with_tasks(client(), script, async |server: RemoteServer| {
        drop(server.call_tool("x", ()).start().await?);
        tokio::time::sleep(3 * SECOND).await;
        let started = server.call_tool("x", ()).start().await?;
        assert!(matches!(started, TaskOrResult::Result(_)));
        Ok(started.result().await?)
    })
    .await;
    result.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_question_about_a_task_that_fails_on_its_way_is_asked_again() {
    let script = async |mut mock: Mock| {
        mock.create().await;
        let lost = mock.expect("tasks/get").await;
        let given_up = mock.expect("notifications/cancelled").await;
        assert_eq!(given_up["params"]["requestId"], lost["id"]);
        mock.tell(done()).await;
        mock.expect_end().await;
    };
    let (result, ()) = with_tasks(client(), script, async |server: RemoteServer| {
        Ok(server.call_tool("x", ()).start().await?.result().await?)
    })
    .await;
    assert_eq!(result.unwrap().text(), "done");
}

#[tokio::test(start_paused = true)]
async fn news_of_tasks_comes_on_a_subscription_and_nothing_waits_for_it() {
    let states = Arc::new(Mutex::new(Vec::new()));
    let heard = states.clone();
    let client = client().on_task_changed(move |state| heard.lock().unwrap().push((state.id, state.status)));
    let script = async |mut mock: Mock| {
        let listen = mock.expect("subscriptions/listen").await;
        assert_eq!(listen["params"]["notifications"], json!({ "taskIds": ["t-1", "t-2"] }));
        let meta = json!({ "io.modelcontextprotocol/subscriptionId": listen["id"] });
        let filter = json!({ "notifications": { "taskIds": ["t-1"] }, "_meta": meta });
        mock.notify("notifications/subscriptions/acknowledged", filter).await;
        mock.notify("notifications/tasks", with(task("working", 1), json!({ "_meta": meta }))).await;
        mock.answer(&listen, json!({ "resultType": "complete", "_meta": meta })).await;
        mock.expect_end().await;
    };
    let (result, ()) = with_tasks(client, script, async |server: RemoteServer| {
        let mut filter = SubscriptionFilter::default();
        TaskSubscription::new(["t-1", "t-2"]).write_to(&mut filter);
        let subscription = server.listen(filter).await?;
        assert_eq!(TaskSubscription::read(subscription.acknowledged()).task_ids, ["t-1"]);
        Ok(subscription.ended().await?)
    })
    .await;
    result.unwrap();
    assert_eq!(*states.lock().unwrap(), [("t-1".to_owned(), TaskStatus::Working)]);
}

#[tokio::test(start_paused = true)]
async fn questions_before_the_task_are_another_matter_than_its_own() {
    let client = client().elicitation(async |_| Ok(ElicitResult::decline()));
    let script = async |mut mock: Mock| {
        let call = mock.expect("tools/call").await;
        mock.answer(&call, json!({ "resultType": "input_required", "inputRequests": { "a": form() } })).await;
        let again = mock.create().await;
        assert_eq!(again["params"]["inputResponses"], json!({ "a": { "action": "decline" } }));
        // The key is free again.
        mock.tell(asking(json!({ "a": form() }))).await;
        assert_eq!(mock.take_update().await, json!({ "a": { "action": "decline" } }));
        mock.tell(done()).await;
        mock.expect_end().await;
    };
    let states = Arc::new(Mutex::new(Vec::new()));
    let heard = states.clone();
    let (result, ()) = with_tasks(client, script, async |server: RemoteServer| {
        let call = server.call_tool("x", ());
        Ok(call.on_task(move |state| heard.lock().unwrap().push(state.status.to_string())).await?)
    })
    .await;
    assert_eq!(result.unwrap().text(), "done");
    assert_eq!(*states.lock().unwrap(), ["working", "input_required", "completed"]);
}
