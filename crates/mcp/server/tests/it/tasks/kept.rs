//! The time to live of tasks, the limits on them, and their ends.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use agentwire_mcp_server::schema::TaskSupport;
use agentwire_mcp_server::schema::task_extension::TaskStatus;
use agentwire_mcp_server::{Context, Server, ServerTool, TaskStore};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use tokio::time::{Instant, sleep};

use super::stores::Difficult;
use super::subject::{
    alone_at, cancel, created, in_session, opted, started, state, subject, subject_with, tasks, text, until,
};
use crate::raw::code_of;
use crate::subject::Stopped;

const SHORT: Duration = Duration::from_secs(60);

#[tokio::test(start_paused = true)]
async fn a_task_is_kept_for_its_time_and_then_as_if_it_had_never_been() {
    let server = subject_with(tasks().ttl(SHORT), &Stopped::default());
    alone_at(&server, async |raw| {
        let id = started(raw, "job", json!({ "seconds": 1 })).await;
        until(raw, &id, "completed").await;
        sleep(SHORT - Duration::from_secs(3)).await;
        assert_eq!(text(&state(raw, &id).await["result"]), "after 1 s", "not a moment too early");
        sleep(Duration::from_secs(4)).await;
        let unknown = raw.ask("tasks/get", opted(json!({ "taskId": "never" }))).await;
        for method in ["tasks/get", "tasks/update", "tasks/cancel"] {
            let gone = raw.ask(method, opted(json!({ "taskId": id, "inputResponses": {} }))).await;
            assert_eq!((code_of(&gone), &gone["error"]), (-32602, &unknown["error"]), "{method}");
        }
    })
    .await;
    in_session(&server, async |client| {
        let task = client.create("job", json!({ "seconds": 1 }), json!({ "ttl": 10_000 })).await;
        let id = task["taskId"].as_str().unwrap();
        sleep(Duration::from_secs(8)).await;
        assert_eq!(client.get(id).await["status"], "completed");
        sleep(Duration::from_secs(3)).await;
        for method in ["tasks/get", "tasks/result", "tasks/cancel"] {
            assert_eq!(client.refusal_of(method, json!({ "taskId": id })).await, -32602, "{method}");
        }
        assert_eq!(client.result_of("tasks/list", json!({})).await["tasks"], json!([]));
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn overdue_task_is_dropped() {
    let stopped = Stopped::default();
    alone_at(&subject_with(tasks().ttl(SHORT), &stopped), async |raw| {
        let id = started(raw, "deaf", json!({})).await;
        sleep(SHORT + Duration::from_secs(1)).await;
        assert_eq!(raw.refusal_of("tasks/get", opted(json!({ "taskId": id }))).await, -32602);
        sleep(Duration::from_secs(1)).await;
        assert_eq!(stopped.dropped.load(Ordering::Relaxed), 1);
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn number_of_kept_tasks_is_limited() {
    let stopped = Stopped::default();
    alone_at(&subject_with(tasks().ttl(SHORT).limit(3), &stopped), async |raw| {
        for _ in 0..3 {
            created(raw, "deaf", json!({})).await;
        }
        let call = json!({ "name": "deaf", "arguments": {} });
        let refused = raw.ask("tools/call", opted(call)).await;
        assert!(
            code_of(&refused) != -32602 && refused["error"]["message"].as_str().unwrap().contains('3'),
            "{refused}"
        );
        sleep(SHORT + Duration::from_secs(1)).await;
        created(raw, "deaf", json!({})).await;
        sleep(Duration::from_secs(1)).await;
        assert_eq!(stopped.dropped.load(Ordering::Relaxed), 3, "those whose time is over");
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn one_client_cannot_use_up_what_is_for_all() {
    let server = subject();
    alone_at(&server, async |raw| {
        let call = || opted(json!({ "name": "deaf", "arguments": {} }));
        let mut refusals = Vec::new();
        for _ in 0..1000 {
            let answer = raw.ask("tools/call", call()).await;
            refusals.extend(answer["error"]["message"].as_str().map(str::to_owned));
        }
        assert_eq!(refusals.len(), 900, "100 of them are tasks");
        let why = &refusals[0];
        assert!(why.contains("100") && why.contains("Tasks::client_limit"), "{why}");
        // Of two sessions, of which nothing else is known, each is a client of its own.
        for _ in 0..2 {
            in_session(&server, async |client| {
                client.start("job", json!({ "seconds": 1 })).await;
            })
            .await;
        }
    })
    .await;
}

#[derive(Deserialize, JsonSchema)]
struct Repeat {
    text: String,
    times: usize,
}

async fn repeat(Repeat { text, times }: Repeat, _: Context) -> String {
    sleep(Duration::from_secs(1)).await;
    text.repeat(times)
}

#[tokio::test(start_paused = true)]
async fn tasks_take_no_more_bytes_than_the_limits_say() {
    let tasks = tasks().ttl(SHORT).client_byte_limit(20_000).byte_limit(35_000);
    let tool = ServerTool::new("repeat", "Repeat a text", repeat).task(TaskSupport::Required);
    let server = Server::new("subject", "1.0.0").tasks(tasks).with_tool(tool);
    let long_arguments = json!({ "text": "x".repeat(15_000), "times": 0 });
    let long_result = || json!({ "text": "x", "times": 15_000 });
    alone_at(&server, async |raw| {
        let first = started(raw, "repeat", long_arguments.clone()).await;
        let call = json!({ "name": "repeat", "arguments": long_arguments });
        let refused = raw.ask("tools/call", opted(call)).await;
        assert!(refused["error"]["message"].to_string().contains("Tasks::client_byte_limit"), "{refused}");
        until(raw, &first, "completed").await;
        // The arguments are gone, and so there is room for a result.
        let second = started(raw, "repeat", long_result()).await;
        until(raw, &second, "completed").await;
        let third = started(raw, "repeat", long_result()).await;
        let failed = until(raw, &third, "failed").await;
        assert!(failed["error"]["message"].to_string().contains("Tasks::client_byte_limit"), "{failed}");
        assert_eq!(failed["error"]["data"], json!({ "limit": 20_000 }));
        assert_eq!(text(&state(raw, &second).await["result"]).len(), 15_000, "what is kept stays");
        // Another client has a share of its own, but not of what is not there.
        in_session(&server, async |client| {
            let id = client.start("repeat", json!({ "text": "x", "times": 15_000 })).await;
            client.until(&id, "completed").await;
            let id = client.start("repeat", json!({ "text": "x", "times": 8_000 })).await;
            let failed = client.finish(&id).await.0;
            assert!(failed["error"]["message"].to_string().contains("Tasks::byte_limit"), "{failed}");
        })
        .await;
        sleep(SHORT).await;
        let last = started(raw, "repeat", long_result()).await;
        until(raw, &last, "completed").await;
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn the_end_of_a_session_is_the_end_of_its_tasks() {
    let stopped = Stopped::default();
    let server = subject_with(tasks(), &stopped);
    let id = in_session(&server, async |client| client.start("deaf", json!({})).await).await;
    sleep(Duration::from_secs(1)).await;
    assert_eq!(stopped.dropped.load(Ordering::Relaxed), 1);
    in_session(&server, async |client| {
        assert_eq!(client.refusal_of("tasks/get", json!({ "taskId": id })).await, -32602, "TSK-11");
        assert_eq!(client.result_of("tasks/list", json!({})).await["tasks"], json!([]));
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn all_that_runs_can_be_ended() {
    let stopped = Stopped::default();
    let server = subject_with(tasks(), &stopped);
    alone_at(&server, async |raw| {
        let done = started(raw, "job", json!({ "seconds": 1 })).await;
        let finished = until(raw, &done, "completed").await;
        let running = [started(raw, "deaf", json!({})).await, started(raw, "ask", json!({})).await];
        until(raw, &running[1], "input_required").await;
        server.cancel_tasks().await;
        sleep(Duration::from_secs(1)).await;
        assert_eq!(stopped.dropped.load(Ordering::Relaxed), 1);
        for id in running {
            let ended = state(raw, &id).await;
            assert!(["cancelled", "failed"].contains(&ended["status"].as_str().unwrap()), "{ended}");
            cancel(raw, &id).await;
        }
        assert_eq!(state(raw, &done).await, finished);
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn running_tasks_may_end_before_the_rest_is_cancelled() {
    let store = Arc::new(Difficult::default());
    let server = subject_with(tasks().store(store.clone()), &Stopped::default());
    alone_at(&server, async |raw| {
        let soon = started(raw, "job", json!({ "seconds": 20 })).await;
        let begun = Instant::now();
        server.drain_tasks(Duration::from_secs(30)).await;
        assert_eq!(begun.elapsed().as_secs(), 20, "nothing is left");
        assert_eq!(state(raw, &soon).await["status"], "completed");

        let (soon, late) = (
            started(raw, "job", json!({ "seconds": 20 })).await,
            started(raw, "job", json!({ "seconds": 40 })).await,
        );
        let begun = Instant::now();
        server.drain_tasks(Duration::from_secs(30)).await;
        assert_eq!(begun.elapsed().as_secs(), 30);
        assert_eq!(state(raw, &soon).await["status"], "completed");
        assert_eq!(state(raw, &late).await["status"], "cancelled");

        // The end of a task is not lost because the store is away when it comes.
        let soon = started(raw, "job", json!({ "seconds": 1 })).await;
        store.fails.store(true, Ordering::Relaxed);
        let back = async {
            sleep(Duration::from_secs(5)).await;
            store.fails.store(false, Ordering::Relaxed);
        };
        tokio::join!(server.drain_tasks(Duration::from_secs(30)), back);
        let record = store.memory.read(&soon).await.expect("it can be read").expect("it is there");
        assert_eq!(record.status, TaskStatus::Completed);
    })
    .await;
}
