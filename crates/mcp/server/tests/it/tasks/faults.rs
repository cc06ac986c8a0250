//! Tasks that fail in places without a caller: in destructors, in dropped futures, in messages that come a moment too late.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use agentwire_mcp_server::schema::{Revision, TaskSupport};
use agentwire_mcp_server::{
    Context, MemoryTasks, NoArguments, Server, ServerTool, TaskOwner, TaskRecord, TaskStore, Tasks,
};
use serde_json::json;
use tokio::time::sleep;

use super::stores::Difficult;
use super::subject::{
    RELATED, alone_at, answer, cancel, in_session, opted, started, state, subject_with, tasks, text, until,
    update,
};
use crate::subject::Stopped;

async fn status_in(store: &dyn TaskStore, id: &str) -> String {
    let record = store.read(id).await.expect("it can be read").expect("it is there");
    record.status.as_str().to_owned()
}

fn required<F, R>(tasks: Tasks, run: F) -> Server
where
    F: Fn(NoArguments, Context) -> R + Send + Sync + 'static,
    R: Future<Output = String> + Send + 'static,
{
    let tool = ServerTool::new("tool", "Go wrong", run).task(TaskSupport::Required);
    Server::new("subject", "1.0.0").tasks(tasks).with_tool(tool)
}

struct PanicsWhenDropped;

impl Drop for PanicsWhenDropped {
    fn drop(&mut self) {
        panic!("a destructor, as asked");
    }
}

#[tokio::test(start_paused = true)]
async fn a_destructor_that_panics_ends_its_task_as_any_other() {
    let store = Arc::new(MemoryTasks::new());
    let server = required(tasks().store(store.clone()), async |_, _| {
        let _local = PanicsWhenDropped;
        std::future::pending().await
    });
    alone_at(&server, async |raw| {
        let id = started(raw, "tool", json!({})).await;
        sleep(Duration::from_secs(1)).await;
        cancel(raw, &id).await;
        sleep(Duration::from_secs(1)).await;
        assert_eq!(state(raw, &id).await["status"], "cancelled");
        assert_eq!(status_in(&store, &id).await, "cancelled", "it is written down");
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn failed_write_is_repeated_later() {
    let store = Arc::new(Difficult::default());
    alone_at(&subject_with(tasks().store(store.clone()), &Stopped::default()), async |raw| {
        let id = started(raw, "job", json!({ "seconds": 1 })).await;
        store.fails.store(true, Ordering::Relaxed);
        let done = until(raw, &id, "completed").await;
        sleep(Duration::from_secs(600)).await;
        assert_eq!(state(raw, &id).await, done, "it is not lost meanwhile");
        store.fails.store(false, Ordering::Relaxed);
        sleep(Duration::from_secs(60)).await;
        assert_eq!(status_in(&*store.memory, &id).await, "completed");
        assert_eq!(state(raw, &id).await, done);
    })
    .await;
}

/// Until the store has it, no client at another node can answer it.
#[tokio::test(start_paused = true)]
async fn a_question_that_could_not_be_written_is_written_soon() {
    let store = Arc::new(Difficult::default());
    alone_at(&subject_with(tasks().store(store.clone()), &Stopped::default()), async |raw| {
        let id = started(raw, "ask_twice", json!({})).await;
        let first = until(raw, &id, "input_required").await["inputRequests"].clone();
        store.fails.store(true, Ordering::Relaxed);
        update(raw, &id, json!({ "first": answer("elicitation/create") })).await;
        let asked = until(raw, &id, "input_required").await["inputRequests"].clone();
        assert_ne!(asked, first);
        sleep(Duration::from_secs(1)).await;
        store.fails.store(false, Ordering::Relaxed);
        sleep(Duration::from_secs(3)).await;
        let record = store.memory.read(&id).await.expect("it can be read").expect("it is there");
        assert_eq!(serde_json::to_value(&record.input_requests).unwrap(), asked);
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_store_that_fails_is_seldom_tried() {
    let store = Arc::new(Difficult::default());
    let server = required(tasks().store(store.clone()), async |_, cx| {
        for step in 0.. {
            cx.status(format!("step {step}"));
            sleep(Duration::from_millis(1)).await;
        }
        String::new()
    });
    alone_at(&server, async |raw| {
        started(raw, "tool", json!({})).await;
        sleep(Duration::from_secs(1)).await;
        store.fails.store(true, Ordering::Relaxed);
        let before = store.updates.load(Ordering::Relaxed);
        sleep(Duration::from_secs(60)).await;
        // After 0.1, 1, 2, 4, 8 and 16 seconds.
        assert_eq!(store.updates.load(Ordering::Relaxed) - before, 6);
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn status_messages_are_written_ten_times_a_second() {
    let store = Arc::new(Difficult::default());
    let server = required(tasks().store(store.clone()), async |_, cx| {
        for step in 0..1000 {
            cx.status(format!("step {step}"));
            sleep(Duration::from_millis(1)).await;
        }
        std::future::pending().await
    });
    alone_at(&server, async |raw| {
        let id = started(raw, "tool", json!({})).await;
        sleep(Duration::from_secs(2)).await;
        let updates = store.updates.load(Ordering::Relaxed);
        assert!((10..=11).contains(&updates), "{updates}");
        let record = store.memory.read(&id).await.expect("it can be read").expect("it is there");
        assert_eq!(record.status_message.as_deref(), Some("step 999"));
        cancel(raw, &id).await;
        assert_eq!(status_in(&*store.memory, &id).await, "cancelled", "an end waits for nothing");
    })
    .await;
}

/// Otherwise both would wait for each other.
#[tokio::test(start_paused = true)]
async fn follower_of_a_task_gets_its_open_questions() {
    alone_at(&subject_with(tasks(), &Stopped::default()), async |raw| {
        let id = started(raw, "ask", json!({})).await;
        let asked = until(raw, &id, "input_required").await;
        let params = json!({ "notifications": { "taskIds": [id] } });
        raw.request("listen", "subscriptions/listen", opted(params)).await;
        assert_eq!(raw.next().await["method"], "notifications/subscriptions/acknowledged");
        let told = tokio::time::timeout(Duration::from_secs(60), raw.next()).await.expect("it is told");
        assert_eq!(told["method"], "notifications/tasks");
        assert_eq!(told["params"]["inputRequests"], asked["inputRequests"]);
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn follower_of_a_task_gets_the_end_of_its_dropped_future() {
    let running = Arc::new(Mutex::new(Vec::new()));
    let spawned = running.clone();
    let tasks = Tasks::new(move |work| spawned.lock().unwrap().push(tokio::spawn(work)));
    alone_at(&subject_with(tasks, &Stopped::default()), async |raw| {
        let id = started(raw, "deaf", json!({})).await;
        let params = json!({ "notifications": { "taskIds": [id] } });
        raw.request("listen", "subscriptions/listen", opted(params)).await;
        assert_eq!(raw.next().await["method"], "notifications/subscriptions/acknowledged");
        running.lock().unwrap()[0].abort();
        let told = tokio::time::timeout(Duration::from_secs(60), raw.next()).await.expect("it is told");
        assert_eq!(
            (&told["method"], &told["params"]["status"]),
            (&json!("notifications/tasks"), &json!("failed"))
        );
        assert_eq!(state(raw, &id).await["status"], "failed");
    })
    .await;
}

/// Work that a function has started beside itself is notified of the end of the time, as it is of a cancellation.
#[tokio::test(start_paused = true)]
async fn waiter_for_a_cancellation_is_woken_when_the_time_to_live_ends() {
    let heard = Arc::new(AtomicUsize::new(0));
    let hears = heard.clone();
    let server = required(tasks().ttl(Duration::from_secs(60)), move |_, cx| {
        let hears = hears.clone();
        async move {
            tokio::spawn(async move {
                cx.cancelled().await;
                assert!(cx.is_cancelled());
                hears.fetch_add(1, Ordering::Relaxed);
            });
            std::future::pending().await
        }
    });
    alone_at(&server, async |raw| {
        started(raw, "tool", json!({})).await;
        sleep(Duration::from_secs(59)).await;
        assert_eq!(heard.load(Ordering::Relaxed), 0);
        sleep(Duration::from_secs(2)).await;
        assert_eq!(heard.load(Ordering::Relaxed), 1);
    })
    .await;
}

/// The client reads nothing, so that the progress waits for room, and the task is cancelled in between.
#[tokio::test(start_paused = true)]
async fn progress_that_waits_for_room_is_not_sent_once_the_task_is_final() {
    let sent = Arc::new(AtomicUsize::new(0));
    let counted = sent.clone();
    let server = required(tasks(), move |_, cx| {
        let counted = counted.clone();
        async move {
            for step in 1.. {
                cx.progress(f64::from(step), None, None).await.expect("the client is there");
                if cx.is_cancelled() {
                    break;
                }
                counted.fetch_add(1, Ordering::Relaxed);
            }
            std::future::pending().await
        }
    });
    in_session(&server, async |client| {
        let params = json!({ "name": "tool", "task": {}, "_meta": { "progressToken": "t" } });
        client.raw.request("call", "tools/call", params).await;
        sleep(Duration::from_secs(1)).await;
        let ended = server.cancel_tasks();
        let told = sent.load(Ordering::Relaxed);
        client.answer("call").await;
        client.ask("ping", json!({})).await;
        sleep(Duration::from_secs(1)).await;
        ended.await;
        client.ask("ping", json!({})).await;
        let heard = client.heard.iter().filter(|said| said["method"] == "notifications/progress").count();
        assert!(told > 0);
        assert_eq!(heard, told);
    })
    .await;
}

/// The first round asks at once; in the second one the work before the question takes longer, and becomes a task.
#[tokio::test(start_paused = true)]
async fn answered_question_is_not_asked_again_by_the_task() {
    use agentwire_mcp_server::{Form, field};

    let runs = AtomicUsize::new(0);
    let slow_later = move |_: NoArguments, cx: Context| {
        let delay = Duration::from_secs(10 * runs.fetch_add(1, Ordering::Relaxed) as u64);
        async move {
            sleep(delay).await;
            let form = Form::new("Who are you?").required("name", field::text());
            let answer = cx.elicit("name", form).await.expect("it is answered").accepted().expect("a name");
            format!("Hello {}", answer["name"].as_str().expect("a text"))
        }
    };
    let tool = ServerTool::new("tool", "Ask", slow_later).task(TaskSupport::Optional);
    let server = Server::new("subject", "1.0.0").tasks(tasks()).with_tool(tool);
    alone_at(&server, async |raw| {
        let call = json!({ "name": "tool", "arguments": {} });
        let round = raw.result_of("tools/call", opted(call.clone())).await;
        assert_eq!(round["resultType"], "input_required", "{round}");
        let mut again = opted(call);
        again["inputResponses"] = json!({ "name": super::subject::answer("elicitation/create") });
        again["requestState"] = round["requestState"].clone();
        let task = raw.result_of("tools/call", again).await;
        let id = task["taskId"].as_str().unwrap_or_else(|| panic!("no task: {task}"));
        sleep(Duration::from_secs(20)).await;
        let done = state(raw, id).await;
        assert_eq!(done["status"], "completed", "{done}");
        assert_eq!(text(&done["result"]), "Hello Ada");
    })
    .await;
}

/// Whichever way a function asks.
#[tokio::test(start_paused = true)]
async fn tsk_07_request_to_the_client_names_its_task() {
    let server = required(tasks(), async |_, cx| {
        let roots = cx.client().list_roots().await.expect("it is answered").roots;
        format!("{} folders", roots.len())
    });
    in_session(&server, async |client| {
        let id = client.start("tool", json!({})).await;
        let mut asked = client.raw.next().await;
        while asked["method"] != "roots/list" {
            asked = client.raw.next().await;
        }
        assert_eq!(asked["params"]["_meta"][RELATED], json!({ "taskId": id }), "{asked}");
        let result = super::subject::answer("roots/list");
        client.raw.send(json!({ "jsonrpc": "2.0", "id": asked["id"], "result": result })).await;
        assert_eq!(text(&client.finish(&id).await.0["result"]), "1 folders");
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn params_that_are_no_objects_are_refused() {
    in_session(&subject_with(tasks(), &Stopped::default()), async |client| {
        let id = client.start("deaf", json!({})).await;
        for method in ["tasks/get", "tasks/result", "tasks/cancel"] {
            assert_eq!(client.refusal_of(method, json!([id])).await, -32602, "{method}");
        }
        assert_eq!(client.refusal_of("tasks/list", json!([null])).await, -32602);
        for task in [json!([5]), json!(true), json!({ "ttl": -1 }), json!({ "ttl": "1" })] {
            let params = json!({ "name": "deaf", "arguments": {}, "task": task });
            assert_eq!(client.refusal_of("tools/call", params).await, -32602, "{task}");
        }
    })
    .await;
}

/// A store need not know what time it is.
#[tokio::test(start_paused = true)]
async fn expired_record_in_the_store_does_not_exist_for_clients() {
    let store = Arc::new(MemoryTasks::new());
    let server = subject_with(tasks().store(store.clone()), &Stopped::default());
    let hour = Duration::from_secs(3600);
    let mut record = TaskRecord::new("x".repeat(32), TaskOwner::Bearer, Revision::V2026_07_28, Some(hour));
    alone_at(&server, async |raw| {
        store.create(record.clone()).await.expect("there is room");
        assert_eq!(state(raw, &record.id).await["status"], "working");
        record.created_at -= 3_600_000;
        store.remove(&record.id).await.expect("it is there");
        store.create(record.clone()).await.expect("there is room");
        let about = opted(json!({ "taskId": record.id }));
        assert_eq!(raw.refusal_of("tasks/get", about).await, -32602);
        assert!(store.read(&record.id).await.expect("it can be read").is_some());
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn any_time_to_live_will_do() {
    let server = subject_with(tasks().longest_ttl(None), &Stopped::default());
    in_session(&server, async |client| {
        for ttl in [0, 1, (1 << 53) - 1, u64::MAX] {
            let task = client.create("job", json!({ "seconds": 1 }), json!({ "ttl": ttl })).await;
            assert_eq!(task["ttl"], ttl.min((1 << 53) - 1));
            sleep(Duration::from_secs(5)).await;
            let id = task["taskId"].as_str().expect("an id");
            let asked = client.ask("tasks/get", json!({ "taskId": id })).await;
            if ttl < 2 {
                assert_eq!(crate::raw::code_of(&asked), -32602);
            } else {
                assert_eq!(asked["result"]["status"], "completed", "{ttl}: {asked}");
            }
        }
    })
    .await;
}
