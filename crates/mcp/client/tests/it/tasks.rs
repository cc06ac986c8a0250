//! The tasks of 2025-11-25.

use std::future::IntoFuture;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use agentwire_mcp_client::schema::core_tasks::TaskMetadata;
use agentwire_mcp_client::schema::task_extension::TaskStatus;
use agentwire_mcp_client::schema::{CallToolRequest, ElicitFormRequest, ElicitResult};
use agentwire_mcp_client::{BoxError, CallError, Client, Era, RemoteServer, TaskOrResult, Tasks};
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::mock::{Mock, NEWEST, with_mock};

const SECOND: Duration = Duration::from_secs(1);
const RELATED: &str = "io.modelcontextprotocol/related-task";

pub(crate) fn client() -> Client {
    Client::default().tasks(Tasks::new())
}

pub(crate) async fn with_tasks<R, S>(
    client: Client,
    tasks: Value,
    script: impl AsyncFnOnce(Mock) -> S,
    main: impl AsyncFnOnce(RemoteServer) -> Result<R, BoxError>,
) -> (Result<R, BoxError>, S) {
    let script = async |mut mock: Mock| {
        let request = mock.greet_with(NEWEST, json!({ "tools": {}, "tasks": tasks })).await;
        // What the extension is called is for later revisions.
        assert_eq!(request["params"]["capabilities"].get("extensions"), None);
        script(mock).await
    };
    with_mock(client.era(Era::Legacy), script, main).await
}

pub(crate) fn all() -> Value {
    json!({ "list": {}, "cancel": {}, "requests": { "tools": { "call": {} } } })
}

pub(crate) fn task(status: &str, changed: u32) -> Value {
    json!({
        "taskId": "t-1", "status": status, "createdAt": "2026-11-21T10:00:00Z",
        "lastUpdatedAt": format!("2026-11-21T10:00:{changed:02}Z"), "ttl": null, "pollInterval": 5000,
    })
}

pub(crate) fn done() -> Value {
    json!({ "content": [{ "type": "text", "text": "done" }], "_meta": { RELATED: { "taskId": "t-1" } } })
}

impl Mock {
    pub(crate) async fn list(&mut self) {
        let list = self.expect("tools/list").await;
        let tool = |name: &str, execution: Value| {
            let schema = json!({ "type": "object" });
            json!({ "name": name, "inputSchema": schema, "execution": execution })
        };
        let tools = [
            tool("may", json!({ "taskSupport": "optional" })),
            tool("must", json!({ "taskSupport": "required" })),
            tool("says not", json!({ "taskSupport": "forbidden" })),
            tool("says nothing", json!({})),
        ];
        self.answer(&list, json!({ "tools": tools })).await;
    }

    pub(crate) async fn begin(&mut self) -> Value {
        let call = self.expect("tools/call").await;
        self.answer(&call, json!({ "task": task("working", 0) })).await;
        call
    }

    /// A request about the task, which names it in its parameters and not in its `_meta`.
    pub(crate) async fn about(&mut self, method: &str) -> Value {
        let request = self.expect(method).await;
        assert_eq!(request["params"], json!({ "taskId": "t-1" }));
        request
    }

    pub(crate) async fn answer_about(&mut self, method: &str, result: Value) {
        let request = self.about(method).await;
        self.answer(&request, result).await;
    }
}

#[tokio::test(start_paused = true)]
async fn tsk_01_a_server_that_does_not_run_tools_as_tasks_is_not_asked_to() {
    for tasks in [json!({}), json!({ "requests": {} }), json!({ "list": {}, "cancel": {} })] {
        let script = async |mut mock: Mock| {
            let call = mock.expect("tools/call").await;
            assert_eq!(call["params"].get("task"), None);
            mock.answer(&call, done()).await;
            mock.expect_end().await;
        };
        let (result, ()) = with_tasks(client(), tasks, script, async |server: RemoteServer| {
            let asked = server.call(CallToolRequest::new("x").task(TaskMetadata::default())).await;
            assert!(matches!(asked, Err(CallError::NotAllowed { .. })), "{asked:?}");
            let started = server.call_tool("x", ()).start().await;
            assert!(matches!(started, Err(CallError::NotAllowed { .. })), "{started:?}");
            Ok(server.call_tool("x", ()).await?)
        })
        .await;
        result.unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn tsk_02_tool_runs_as_its_task_support_requires() {
    let script = async |mut mock: Mock| {
        // No list has it, so it is looked up.
        mock.list().await;
        let may = mock.expect("tools/call").await;
        assert_eq!((&may["params"]["name"], may["params"].get("task")), (&json!("may"), None));
        mock.answer(&may, done()).await;
        let must = mock.begin().await;
        assert_eq!((&must["params"]["name"], &must["params"]["task"]), (&json!("must"), &json!({})));
        mock.answer_about("tasks/get", task("completed", 1)).await;
        mock.answer_about("tasks/result", done()).await;
        mock.expect_end().await;
    };
    let (result, ()) = with_tasks(client(), all(), script, async |server: RemoteServer| {
        for name in ["says not", "says nothing"] {
            let started = server.call_tool(name, ()).start().await;
            assert!(matches!(started, Err(CallError::NotAllowed { .. })), "{name}: {started:?}");
            let asked = server.call(CallToolRequest::new(name).task(TaskMetadata::default())).await;
            assert!(matches!(asked, Err(CallError::NotAllowed { .. })), "{name}: {asked:?}");
        }
        server.call_tool("may", ()).await?;
        Ok(server.call_tool("must", ()).await?)
    })
    .await;
    assert_eq!(result.unwrap().text(), "done");
}

/// The servers of one SDK say so by a result that the model would see.
#[tokio::test(start_paused = true)]
async fn a_tool_that_fails_because_it_needs_a_task_is_called_again_as_one() {
    let failed = || json!({ "content": [{ "type": "text", "text": "needs a task" }], "isError": true });
    let script = async |mut mock: Mock| {
        let plain = mock.expect("tools/call").await;
        assert_eq!(plain["params"].get("task"), None);
        mock.answer(&plain, failed()).await;
        mock.list().await;
        let must = mock.begin().await;
        assert_eq!(must["params"]["task"], json!({}));
        mock.answer_about("tasks/get", task("completed", 1)).await;
        mock.answer_about("tasks/result", done()).await;
        // Of a tool that may run without a task, the failure is its own.
        let may = mock.expect("tools/call").await;
        mock.answer(&may, failed()).await;
        mock.expect_end().await;
    };
    let (result, ()) = with_tasks(client(), all(), script, async |server: RemoteServer| {
        let done = server.call_tool("must", ()).await?;
        let failed = server.call_tool("may", ()).await?;
        Ok((done.text().into_owned(), failed.is_error))
    })
    .await;
    assert_eq!(result.unwrap(), ("done".to_owned(), true));
}

#[tokio::test(start_paused = true)]
async fn tsk_02_refused_call_is_repeated_as_a_task_once_the_list_requires_one() {
    let script = async |mut mock: Mock| {
        let plain = mock.expect("tools/call").await;
        assert_eq!(plain["params"].get("task"), None);
        mock.refuse(&plain, json!({ "code": -32601, "message": "only as a task" })).await;
        mock.list().await;
        let call = mock.begin().await;
        assert_eq!(call["params"]["task"], json!({}));
        mock.answer_about("tasks/get", task("completed", 1)).await;
        mock.answer_about("tasks/result", done()).await;
        // Another one is refused, and that is all.
        let plain = mock.expect("tools/call").await;
        mock.refuse(&plain, json!({ "code": -32601, "message": "no such tool" })).await;
        mock.expect_end().await;
    };
    let (result, ()) = with_tasks(client(), all(), script, async |server: RemoteServer| {
        let result = server.call_tool("must", ()).await?;
        assert!(server.call_tool("may", ()).await.unwrap_err().refusal().is_some());
        Ok(result)
    })
    .await;
    assert_eq!(result.unwrap().text(), "done");
}

#[tokio::test(start_paused = true)]
async fn tsk_12_task_is_polled_at_its_interval_despite_notifications() {
    let script = async |mut mock: Mock| {
        mock.list().await;
        let call = mock.begin().await;
        assert_eq!(call["params"]["task"], json!({ "ttl": 60_000 }));
        let begun = Instant::now();
        // A server need not send a notification. The client does not wait for one, and one does not end its wait.
        mock.notify("notifications/tasks/status", task("completed", 1)).await;
        let mut asked = Vec::new();
        for interval in [json!(2000), json!(null)] {
            let get = mock.about("tasks/get").await;
            asked.push((Instant::now() - begun).as_secs());
            let mut working = task("working", 1);
            working["pollInterval"] = interval;
            mock.answer(&get, working).await;
        }
        mock.answer_about("tasks/get", task("completed", 2)).await;
        asked.push((Instant::now() - begun).as_secs());
        mock.answer_about("tasks/result", done()).await;
        mock.expect_end().await;
        asked
    };
    let news = Arc::new(Mutex::new(Vec::new()));
    let heard = news.clone();
    let client = client().on_task_changed(move |state| heard.lock().unwrap().push(state.status));
    let (result, asked) = with_tasks(client, all(), script, async |server: RemoteServer| {
        let TaskOrResult::Task(task) = server.call_tool("may", ()).task_ttl(60 * SECOND).start().await?
        else {
            panic!("it is a task")
        };
        let first = task.first_state().unwrap();
        assert_eq!((task.id(), first.poll_interval, first.ttl), ("t-1", Some(5 * SECOND), None));
        Ok(task.result().await?)
    })
    .await;
    assert_eq!(result.unwrap().text(), "done");
    // The handle asks at once: it may have been held for long.
    assert_eq!(asked, [0, 2, 3]);
    assert_eq!(*news.lock().unwrap(), [TaskStatus::Completed]);
}

#[tokio::test(start_paused = true)]
async fn tsk_13_and_07_question_of_a_task_comes_with_its_result_and_the_answer_names_the_task() {
    let client = client().elicitation(async |form: ElicitFormRequest| {
        assert_eq!(form.message, "sure?");
        Ok(ElicitResult::decline())
    });
    let script = async |mut mock: Mock| {
        mock.list().await;
        mock.begin().await;
        mock.answer_about("tasks/get", task("input_required", 1)).await;
        let payload = mock.about("tasks/result").await;
        let question = json!({
            "mode": "form", "message": "sure?", "requestedSchema": { "type": "object", "properties": {} },
            "_meta": { RELATED: { "taskId": "t-1" } },
        });
        let answer = mock.ask("elicitation/create", question.clone()).await;
        let expected = json!({ "action": "decline", "_meta": { RELATED: { "taskId": "t-1" } } });
        assert_eq!(answer["result"], expected);
        mock.answer(&payload, done()).await;

        // What is asked outside of a task names none.
        let mut question = question;
        question.as_object_mut().unwrap().remove("_meta");
        assert_eq!(mock.ask("elicitation/create", question).await["result"], json!({ "action": "decline" }));
        mock.expect_end().await;
    };
    let (result, ()) = with_tasks(client, all(), script, async |server: RemoteServer| {
        let result = server.call(CallToolRequest::new("may").task(TaskMetadata::default())).await?;
        tokio::time::sleep(SECOND).await;
        Ok(result)
    })
    .await;
    assert_eq!(result.unwrap().text(), "done");
}

#[tokio::test(start_paused = true)]
async fn tsk_05_and_06_the_result_or_the_error_is_that_of_the_call() {
    let script = async |mut mock: Mock| {
        mock.list().await;
        for result in
            [Ok(json!({ "content": [], "isError": true })), Err(json!({ "code": -32000, "message": "no" }))]
        {
            mock.begin().await;
            mock.answer_about("tasks/get", task("failed", 1)).await;
            let payload = mock.about("tasks/result").await;
            match result {
                Ok(result) => mock.answer(&payload, result).await,
                Err(error) => mock.refuse(&payload, error).await,
            }
        }
        mock.begin().await;
        mock.answer_about("tasks/get", task("cancelled", 1)).await;
        // Or the server takes no notice of the wish.
        let call = mock.expect("tools/call").await;
        mock.answer(&call, done()).await;
        mock.expect_end().await;
    };
    let (result, ()) = with_tasks(client(), all(), script, async |server: RemoteServer| {
        let _known = server.tools().collect().await?;
        assert!(server.call_tool("must", ()).await?.is_error);
        let error = server.call_tool("must", ()).await.unwrap_err();
        assert_eq!(error.refusal().unwrap().code, -32000, "{error}");
        let error = server.call_tool("must", ()).await.unwrap_err();
        assert!(matches!(error, CallError::Cancelled { .. }), "{error}");
        Ok(server.call_tool("must", ()).await?)
    })
    .await;
    assert_eq!(result.unwrap().text(), "done");
}

#[tokio::test(start_paused = true)]
async fn can_08_a_call_that_is_given_up_cancels_its_task_and_never_the_request() {
    // Before the task has a name, while it is asked after, and while it is asked for its result.
    for stage in 0..3 {
        let script = async |mut mock: Mock| {
            mock.list().await;
            if stage == 0 {
                let call = mock.expect("tools/call").await;
                tokio::time::sleep(20 * SECOND).await;
                mock.answer(&call, json!({ "task": task("working", 0) })).await;
            } else {
                mock.begin().await;
                let status = if stage == 1 { "working" } else { "input_required" };
                mock.answer_about("tasks/get", task(status, 1)).await;
            }
            if stage == 2 {
                let payload = mock.about("tasks/result").await;
                // That request is none that began a task.
                let cancelled = mock.expect("notifications/cancelled").await;
                assert_eq!(cancelled["params"]["requestId"], payload["id"]);
            }
            mock.answer_about("tasks/cancel", task("cancelled", 2)).await;
            mock.expect_end().await;
        };
        let (result, ()) = with_tasks(client(), all(), script, async |server: RemoteServer| {
            let _known = server.tools().collect().await?;
            let call = server.call_tool("must", ()).timeout(9 * SECOND);
            if stage == 1 {
                assert!(tokio::time::timeout(7 * SECOND, call.into_future()).await.is_err());
            } else {
                let error = call.await.unwrap_err();
                assert!(matches!(error, CallError::TimedOut { .. }), "{error}");
            }
            tokio::time::sleep(20 * SECOND).await;
            Ok(())
        })
        .await;
        result.unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn a_server_that_does_not_cancel_is_not_asked_to() {
    let tasks = json!({ "requests": { "tools": { "call": {} } } });
    let script = async |mut mock: Mock| {
        mock.list().await;
        mock.begin().await;
        mock.expect_end().await;
    };
    let (result, ()) = with_tasks(client(), tasks, script, async |server: RemoteServer| {
        let _known = server.tools().collect().await?;
        let call = server.call_tool("must", ());
        assert!(tokio::time::timeout(SECOND, call.into_future()).await.is_err());
        let error = server.task("t-1")?.cancel().await.unwrap_err();
        assert!(matches!(error, CallError::NotAllowed { .. }), "{error}");
        assert!(matches!(server.tasks().collect().await, Err(CallError::NotAllowed { .. })));
        Ok(())
    })
    .await;
    result.unwrap();
}

#[tokio::test(start_paused = true)]
async fn prg_09_progress_is_heard_until_the_task_is_done_and_extends_the_wait() {
    let script = async |mut mock: Mock| {
        mock.list().await;
        let call = mock.begin().await;
        let token = call["params"]["_meta"]["progressToken"].clone();
        assert!(token.is_string(), "{token}");
        let report = |progress: u32| json!({ "progressToken": token, "progress": progress });
        for progress in 1..=4 {
            mock.notify("notifications/progress", report(progress)).await;
            let status = if progress == 4 { "completed" } else { "working" };
            mock.answer_about("tasks/get", task(status, 0)).await;
        }
        mock.answer_about("tasks/result", done()).await;
        // Too late.
        tokio::time::sleep(SECOND / 2).await;
        mock.notify("notifications/progress", report(5)).await;
        mock.expect_end().await;
    };
    let reports = Arc::new(Mutex::new(Vec::new()));
    let (heard, others) = (reports.clone(), Arc::new(Mutex::new(0)));
    let other = others.clone();
    let client = client().on_other(move |_| *other.lock().unwrap() += 1);
    let (result, ()) = with_tasks(client, all(), script, async |server: RemoteServer| {
        let _known = server.tools().collect().await?;
        let call = server.call_tool("must", ()).timeout(7 * SECOND);
        let result = call.on_progress(move |report| heard.lock().unwrap().push(report.progress)).await?;
        tokio::time::sleep(SECOND).await;
        Ok(result)
    })
    .await;
    assert_eq!(result.unwrap().text(), "done");
    assert_eq!(*reports.lock().unwrap(), [1.0, 2.0, 3.0, 4.0]);
    assert_eq!(*others.lock().unwrap(), 0);
}

#[tokio::test(start_paused = true)]
async fn tsk_10_tasks_are_listed_page_by_page() {
    let script = async |mut mock: Mock| {
        for (cursor, next) in [(None, Some("=x y")), (Some("=x y"), None)] {
            let list = mock.expect("tasks/list").await;
            assert_eq!(list["params"].get("cursor").and_then(Value::as_str), cursor);
            let mut page = json!({ "tasks": [task("working", 0)] });
            if let Some(next) = next {
                page["nextCursor"] = next.into();
            }
            mock.answer(&list, page).await;
        }
        mock.expect_end().await;
    };
    let (result, ()) = with_tasks(client(), all(), script, async |server: RemoteServer| {
        Ok(server.tasks().collect().await?)
    })
    .await;
    assert_eq!(result.unwrap().len(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_task_is_found_again_by_its_id() {
    let script = async |mut mock: Mock| {
        mock.answer_about("tasks/get", task("input_required", 0)).await;
        mock.about("tasks/result").await;
        // The connection is lost.
    };
    let (result, ()) = with_tasks(client(), all(), script, async |server: RemoteServer| {
        let error = server.task("t-1")?.result().await.unwrap_err();
        assert!(matches!(error, CallError::Closed(_)), "{error}");
        Ok(())
    })
    .await;
    result.unwrap();
    let script = async |mut mock: Mock| {
        mock.answer_about("tasks/get", task("completed", 0)).await;
        mock.answer_about("tasks/result", done()).await;
        mock.expect_end().await;
    };
    let (result, ()) = with_tasks(client(), all(), script, async |server: RemoteServer| {
        Ok(server.task("t-1")?.result().await?)
    })
    .await;
    assert_eq!(result.unwrap().text(), "done");
}

#[tokio::test(start_paused = true)]
async fn older_revisions_have_no_tasks() {
    let script = async |mut mock: Mock| {
        mock.greet_with("2025-06-18", json!({ "tools": {}, "tasks": all() })).await;
        let call = mock.expect("tools/call").await;
        assert_eq!(call["params"].get("task"), None);
        mock.answer(&call, json!({ "content": [] })).await;
        mock.expect_end().await;
    };
    let (result, ()) = with_mock(client().era(Era::Legacy), script, async |server: RemoteServer| {
        assert!(matches!(server.task("t-1"), Err(CallError::NotAllowed { .. })));
        assert!(matches!(server.call_tool("x", ()).start().await, Err(CallError::NotAllowed { .. })));
        Ok(server.call(CallToolRequest::new("x").task(TaskMetadata::default())).await?)
    })
    .await;
    result.unwrap();
}
