//! Servers whose tasks violate the specification.

use std::time::Duration;

use agentwire_mcp_client::schema::ElicitResult;
use agentwire_mcp_client::{CallError, RemoteServer, TaskOrResult, Tasks};
use serde_json::json;
use tokio::time::Instant;

use crate::mock::Mock;
use crate::task_extension::{asking, client, complete, created, done, form, task, with, with_tasks};
use crate::tasks as core;

const SECOND: Duration = Duration::from_secs(1);

/// A fault of a server's task data, whatever it is: unless the task is over, no caller waits for it then.
#[tokio::test(start_paused = true)]
async fn a_task_that_cannot_be_asked_after_is_cancelled_and_one_that_is_gone_is_not() {
    for (code, is_gone) in [(Some(-32603), false), (None, false), (Some(-32602), true)] {
        let script = async |mut mock: Mock| {
            mock.create().await;
            let get = mock.expect("tasks/get").await;
            match code {
                Some(code) => mock.refuse(&get, json!({ "code": code, "message": "no" })).await,
                None => mock.answer(&get, json!({ "resultType": "complete", "taskId": 7 })).await,
            }
            if !is_gone {
                mock.take_cancel().await;
            }
            mock.expect_end().await;
        };
        let (result, ()) = with_tasks(client(), script, async |server: RemoteServer| {
            Ok(server.call_tool("x", ()).await.unwrap_err().to_string())
        })
        .await;
        let error = result.unwrap();
        assert!(error.starts_with("tasks/get"), "{error}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_server_that_never_takes_an_answer_is_given_up() {
    let client = client().timeout(SECOND).elicitation(async |_| Ok(ElicitResult::decline()));
    let script = async |mut mock: Mock| {
        mock.create().await;
        let mut updates = 0;
        while let Some(message) = mock.next().await {
            match message["method"].as_str().unwrap() {
                "tasks/get" => mock.answer(&message, asking(json!({ "a": form() }))).await,
                "tasks/update" => updates += 1,
                other => assert_eq!(other, "notifications/cancelled"),
            }
            assert!(updates < 20, "it is asked for ever");
        }
        updates
    };
    let (result, updates) = with_tasks(client, script, async |server: RemoteServer| {
        Ok(server.call_tool("x", ()).start().await?.result().await.unwrap_err())
    })
    .await;
    let error = result.unwrap();
    assert!(matches!(&error, CallError::TimedOut { .. }), "{error}");
    assert!(error.to_string().starts_with("tasks/update") && updates == 6, "{error}: {updates}");
}

#[tokio::test(start_paused = true)]
async fn a_server_that_never_gives_the_result_is_given_up() {
    let client = core::client().timeout(SECOND);
    let script = async |mut mock: Mock| {
        let mut tries = 0;
        while let Some(message) = mock.next().await {
            match message["method"].as_str().unwrap() {
                "tasks/get" => mock.answer(&message, core::task("completed", 1)).await,
                "tasks/result" => tries += 1,
                other => assert_eq!(other, "notifications/cancelled"),
            }
            assert!(tries < 20, "it is asked for ever");
        }
        tries
    };
    let (result, tries) = core::with_tasks(client, core::all(), script, async |server: RemoteServer| {
        Ok(server.task("t-1")?.result().await.unwrap_err())
    })
    .await;
    let error = result.unwrap();
    assert!(error.to_string().starts_with("tasks/result") && tries == 6, "{error}: {tries}");
}

#[tokio::test(start_paused = true)]
async fn a_server_that_wants_to_be_left_alone_for_years_is_asked_all_the_same() {
    let client = client().tasks(Tasks::new().longest_interval(600 * SECOND));
    let script = async |mut mock: Mock| {
        mock.create().await;
        let years = json!({ "pollIntervalMs": 1e15 });
        mock.tell(complete(with(task("working", 1), years))).await;
        let began = Instant::now();
        let waited = mock.tell(done()).await - began;
        assert_eq!(waited.as_secs(), 600);
        mock.expect_end().await;
    };
    let (result, ()) = with_tasks(client, script, async |server: RemoteServer| {
        Ok(server.call_tool("x", ()).start().await?.result().await?)
    })
    .await;
    assert_eq!(result.unwrap().text(), "done");
}

/// It may answer a question about a task only when there is news, which there is only when it has its answers.
#[tokio::test(start_paused = true)]
async fn answers_are_found_out_and_given_while_the_server_takes_its_time_to_say_how_a_task_stands() {
    let client = client().elicitation(async |_| {
        tokio::time::sleep(3 * SECOND).await;
        Ok(ElicitResult::decline())
    });
    let script = async |mut mock: Mock| {
        mock.create().await;
        mock.tell(asking(json!({ "a": form() }))).await;
        let began = Instant::now();
        let waits = mock.expect("tasks/get").await;
        let given_up = mock.expect("notifications/cancelled").await;
        assert_eq!(given_up["params"]["requestId"], waits["id"]);
        mock.take_update().await;
        assert_eq!((Instant::now() - began).as_secs(), 3);
        mock.tell(done()).await;
        mock.expect_end().await;
    };
    let (result, ()) =
        with_tasks(client, script, async |server: RemoteServer| Ok(server.call_tool("x", ()).await?)).await;
    assert_eq!(result.unwrap().text(), "done");
}

#[tokio::test(start_paused = true)]
async fn the_time_of_a_call_is_over_also_while_the_server_does_not_take_an_answer() {
    let client = client().elicitation(async |_| Ok(ElicitResult::decline()));
    let script = async |mut mock: Mock| {
        mock.create().await;
        mock.tell(asking(json!({ "a": form() }))).await;
        mock.expect("tasks/update").await;
        let began = Instant::now();
        mock.expect("notifications/cancelled").await;
        mock.take_cancel().await;
        assert_eq!((Instant::now() - began).as_secs(), 5);
        mock.expect_end().await;
    };
    let (result, ()) = with_tasks(client, script, async |server: RemoteServer| {
        Ok(server.call_tool("x", ()).timeout(5 * SECOND).await.unwrap_err())
    })
    .await;
    assert!(matches!(result.unwrap(), CallError::TimedOut { .. }));
}

#[tokio::test(start_paused = true)]
async fn the_time_of_a_call_is_over_also_while_its_tool_is_looked_up() {
    let script = async |mut mock: Mock| {
        mock.expect("tools/list").await;
        mock.expect("notifications/cancelled").await;
        mock.expect_end().await;
    };
    let (result, ()) = core::with_tasks(core::client(), core::all(), script, async |server: RemoteServer| {
        let began = Instant::now();
        let error = server.call_tool("may", ()).timeout(5 * SECOND).start().await.unwrap_err();
        assert_eq!(began.elapsed().as_secs(), 5, "{error}");
        Ok(error)
    })
    .await;
    assert!(matches!(result.unwrap(), CallError::TimedOut { .. }));
}

/// A task that is kept for no time at all may be done by then, or be given up.
#[tokio::test(start_paused = true)]
async fn a_task_that_is_kept_for_no_time_is_asked_after_once() {
    for (state, is_done) in [(done(), true), (complete(task("working", 1)), false)] {
        let script = async |mut mock: Mock| {
            let none = json!({ "ttlMs": 0 });
            let call = mock.expect("tools/call").await;
            mock.answer(&call, with(created(), none.clone())).await;
            mock.tell(with(state, none)).await;
            if !is_done {
                mock.take_cancel().await;
            }
            mock.expect_end().await;
        };
        let (result, ()) = with_tasks(client(), script, async |server: RemoteServer| {
            let TaskOrResult::Task(task) = server.call_tool("x", ()).start().await? else {
                panic!("it is a task")
            };
            let result = task.result().await;
            if result.is_err() {
                task.cancel().await?;
            }
            Ok(result.is_ok())
        })
        .await;
        assert_eq!(result.unwrap(), is_done);
    }
}
