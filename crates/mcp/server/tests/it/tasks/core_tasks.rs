//! The tasks of 2025-11-25, tested by a client that relies on the specification alone.

use std::collections::HashSet;
use std::sync::atomic::Ordering;
use std::time::Duration;

use agentwire_mcp_server::schema::{LoggingLevel, TaskSupport};
use agentwire_mcp_server::{Context, NoArguments, Server, ServerTool};
use serde_json::{Value, json};
use tokio::time::{Instant, sleep};

use super::subject::{
    Core, EXTENSION, LEFT, RELATED, all, in_session, is_time, open, subject, subject_with, tasks, text,
};
use crate::raw::{NEWEST, code_of, with_both_eras, with_raw};
use crate::subject::Stopped;

fn about(id: &str) -> Value {
    json!({ "taskId": id })
}

#[tokio::test(start_paused = true)]
async fn tsk_01_a_server_without_tasks_passes_over_that_one_is_asked_for() {
    let quick = ServerTool::new("quick", "Says hello", async |_: NoArguments, _: Context| "hello");
    let server = Server::new("simple", "1").with_tool(quick.task(TaskSupport::Optional));
    with_both_eras(&server, async |raw| {
        assert!(open(raw, NEWEST, all()).await.get("tasks").is_none());
        let result = raw.result_of("tools/call", json!({ "name": "quick", "task": { "ttl": 1000 } })).await;
        assert_eq!(result, json!({ "content": [{ "type": "text", "text": "hello" }] }));
        for method in ["tasks/get", "tasks/result", "tasks/cancel", "tasks/list"] {
            assert_eq!(raw.refusal_of(method, about("1")).await, -32601, "{method}");
        }
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn advertised_tasks_are_those_of_the_era() {
    let core = json!({ "list": {}, "cancel": {}, "requests": { "tools": { "call": {} } } });
    for (revision, expected) in [(NEWEST, core), ("2025-06-18", Value::Null), ("2024-11-05", Value::Null)] {
        with_raw(&subject(), async |raw| {
            let capabilities = open(raw, revision, all()).await;
            assert_eq!(capabilities["tasks"], expected, "{revision}");
            assert_eq!(capabilities["extensions"][EXTENSION], Value::Null, "{revision}");
        })
        .await;
    }
    // Tasks that nothing can run as are none.
    let idle = Server::new("idle", "1").tasks(tasks()).tool("quick", "", async |_: NoArguments, _| "hello");
    with_raw(&idle, async |raw| {
        assert_eq!(open(raw, NEWEST, all()).await["tasks"], Value::Null);
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn tsk_02_task_support_of_a_tool_is_listed_and_enforced() {
    in_session(&subject(), async |client| {
        let tools = client.result_of("tools/list", json!({})).await;
        let support = |name: &str| {
            let tool = tools["tools"].as_array().unwrap().iter().find(|tool| tool["name"] == name).unwrap();
            tool["execution"]["taskSupport"].as_str().unwrap_or("forbidden").to_owned()
        };
        assert_eq!(["echo", "wait", "job"].map(support), ["forbidden", "optional", "required"]);

        let echo = json!({ "name": "echo", "arguments": { "text": "hi" }, "task": {} });
        assert_eq!(client.refusal_of("tools/call", echo).await, -32601);
        let job = json!({ "name": "job", "arguments": { "seconds": 1 } });
        assert_eq!(client.refusal_of("tools/call", job).await, -32601);
        let plain = json!({ "name": "wait", "arguments": { "seconds": 1 } });
        assert_eq!(text(&client.result_of("tools/call", plain).await), "after 1 s");
        // Not a wish for a task, and arguments that are wrong, are refused before there is one.
        let wrong = json!({ "name": "wait", "arguments": { "seconds": 1 }, "task": 5 });
        assert_eq!(client.refusal_of("tools/call", wrong).await, -32602);
        assert_eq!(client.result_of("tasks/list", json!({})).await["tasks"], json!([]));
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn older_revisions_have_no_tasks() {
    for revision in ["2024-11-05", "2025-03-26", "2025-06-18"] {
        with_both_eras(&subject(), async |raw| {
            open(raw, revision, json!({})).await;
            let tools = raw.result_of("tools/list", json!({})).await;
            assert!(!tools.to_string().contains("execution"), "{revision}");
            let call = json!({ "name": "wait", "arguments": { "seconds": 1 }, "task": {} });
            assert_eq!(text(&raw.result_of("tools/call", call).await), "after 1 s", "{revision}");
            let job = json!({ "name": "job", "arguments": { "seconds": 1 }, "task": {} });
            assert_eq!(raw.refusal_of("tools/call", job).await, -32601, "{revision}");
            assert_eq!(raw.refusal_of("tasks/list", json!({})).await, -32601, "{revision}");
        })
        .await;
    }
}

#[tokio::test(start_paused = true)]
async fn tsk_03_task_has_the_required_members() {
    let server = subject_with(tasks().longest_ttl(Duration::from_secs(7200)), &Stopped::default());
    in_session(&server, async |client| {
        let mut ids = HashSet::new();
        for (asked, given) in [
            (json!({}), json!(3_600_000)),
            (json!({ "ttl": 60_000 }), json!(60_000)),
            (json!({ "ttl": 7_200_001 }), json!(7_200_000)),
        ] {
            let before = Instant::now();
            let task = client.create("job", json!({ "seconds": 100 }), asked.clone()).await;
            assert_eq!(before.elapsed(), Duration::ZERO, "at once");
            let id = task["taskId"].as_str().expect("an id");
            assert!(id.len() >= 22, "too short to hold 128 bits: {id}");
            assert!(ids.insert(id.to_owned()), "{id} twice");
            for task in [&task, &client.get(id).await] {
                assert_eq!((&task["ttl"], &task["status"]), (&given, &json!("working")), "{asked}");
                is_time(&task["createdAt"]);
                is_time(&task["lastUpdatedAt"]);
                assert!(task["lastUpdatedAt"].as_str() >= task["createdAt"].as_str());
                assert_eq!(task["pollInterval"], 500);
            }
        }
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn tsk_04_and_08_cancelled_is_a_final_status() {
    let stopped = Stopped::default();
    in_session(&subject_with(tasks(), &stopped), async |client| {
        for tool in ["deaf", "polite"] {
            let id = client.start(tool, json!({})).await;
            client.get(&id).await;
            let cancelled = client.result_of("tasks/cancel", about(&id)).await;
            assert_eq!((&cancelled["taskId"], &cancelled["status"]), (&json!(id), &json!("cancelled")));
            is_time(&cancelled["createdAt"]);
            is_time(&cancelled["lastUpdatedAt"]);
            assert!(cancelled.get("_meta").is_none_or(|meta| meta.get(RELATED).is_none()));
            sleep(Duration::from_secs(10)).await;
            assert_eq!(client.get(&id).await["status"], "cancelled", "whatever the function did");
            assert_eq!(client.refusal_of("tasks/cancel", about(&id)).await, -32602);
            let end = client.ask("tasks/result", about(&id)).await;
            code_of(&end);
        }
        assert_eq!((stopped.dropped.load(Ordering::Relaxed), stopped.told.load(Ordering::Relaxed)), (1, 1));

        let id = client.start("job", json!({ "seconds": 1 })).await;
        let done = client.until(&id, "completed").await;
        assert_eq!(client.refusal_of("tasks/cancel", about(&id)).await, -32602);
        assert_eq!(client.get(&id).await, done, "what is final changes no more");
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn tsk_05_and_07_tasks_result_waits_for_the_result_of_the_call() {
    in_session(&subject(), async |client| {
        let call = json!({ "name": "wait", "arguments": { "seconds": 30 } });
        let mut plain = client.result_of("tools/call", call).await;
        let id = client.start("wait", json!({ "seconds": 30 })).await;
        let begun = Instant::now();
        client.raw.request("result", "tasks/result", about(&id)).await;
        assert_eq!(client.get(&id).await["status"], "working", "others are answered meanwhile");
        assert_eq!(begun.elapsed(), Duration::ZERO);
        let answer = client.answer("result").await;
        assert_eq!(begun.elapsed().as_secs(), 30);
        plain["_meta"] = json!({ RELATED: { "taskId": id } });
        assert_eq!(answer["result"], plain);
        assert_eq!(client.get(&id).await["status"], "completed");
        assert_eq!(client.result_of("tasks/result", about(&id)).await, plain, "as often as one likes");
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn tsk_05_and_06_failed_task_has_the_error_of_the_call() {
    in_session(&subject(), async |client| {
        let id = client.start("fail", json!({})).await;
        let failed = client.until(&id, "failed").await;
        assert!(failed["statusMessage"].as_str().is_some_and(|why| why.contains("it broke")), "{failed}");
        let mut result = client.result_of("tasks/result", about(&id)).await;
        assert_eq!(result["_meta"].take(), json!({ RELATED: { "taskId": id } }));
        assert_eq!((&result["isError"], text(&result)), (&json!(true), "it broke"));

        for (tool, code, why) in [("refuse", -32042, "go there first"), ("panic", -32603, "")] {
            let id = client.start(tool, json!({})).await;
            let waited = client.ask("tasks/result", about(&id)).await;
            assert_eq!(code_of(&waited), code, "{tool}");
            assert!(waited["error"]["message"].as_str().unwrap().contains(why), "{waited}");
            let task = client.get(&id).await;
            assert_eq!(task["status"], "failed", "{tool}");
            assert!(task["statusMessage"].as_str().is_some_and(|said| said.contains(why)), "{task}");
            assert_eq!(client.ask("tasks/result", about(&id)).await["error"], waited["error"]);
        }
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn tsk_07_only_the_result_names_the_task_in_its_meta() {
    in_session(&subject(), async |client| {
        let id = client.start("job", json!({ "seconds": 100 })).await;
        let other = client.start("job", json!({ "seconds": 1 })).await;
        // Members of a request beside its `taskId` mean nothing.
        let misled = json!({ "taskId": id, "_meta": { RELATED: { "taskId": other } } });
        assert_eq!(client.result_of("tasks/get", misled.clone()).await["taskId"], id.as_str());
        let misled = json!({ "taskId": other, "_meta": { RELATED: { "taskId": id } } });
        let result = client.result_of("tasks/result", misled).await;
        assert_eq!(result["_meta"][RELATED], json!({ "taskId": other }));
        let list = client.result_of("tasks/list", json!({})).await;
        let state = client.get(&id).await;
        let cancelled = client.result_of("tasks/cancel", about(&id)).await;
        for said in [list, state, cancelled] {
            assert!(!said.to_string().contains(RELATED), "{said}");
        }
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn tsk_09_unknown_task_or_cursor_is_refused() {
    in_session(&subject(), async |client| {
        for method in ["tasks/get", "tasks/result", "tasks/cancel"] {
            for params in
                [about("786512e2-9e0d-44bd-8f29-789f820fe840"), about(""), json!({}), json!({ "taskId": 5 })]
            {
                assert_eq!(client.refusal_of(method, params.clone()).await, -32602, "{method} {params}");
            }
        }
        client.start("job", json!({ "seconds": 1 })).await;
        for cursor in [json!("nowhere"), json!("MTAw"), json!("-1"), json!(5)] {
            let params = json!({ "cursor": cursor });
            assert_eq!(client.refusal_of("tasks/list", params).await, -32602, "{cursor}");
        }
        // The extension's.
        let update = json!({ "taskId": "1", "inputResponses": {} });
        assert_eq!(client.refusal_of("tasks/update", update).await, -32601);
    })
    .await;
}

async fn listed(client: &mut Core<'_>) -> Vec<Value> {
    let (mut tasks, mut params) = (Vec::new(), json!({}));
    loop {
        let page = client.result_of("tasks/list", params).await;
        let entries = page["tasks"].as_array().expect("a list");
        assert!(!entries.is_empty() && entries.len() <= 7, "a page of {}", entries.len());
        tasks.extend(entries.iter().cloned());
        match page.get("nextCursor") {
            Some(cursor) => params = json!({ "cursor": cursor }),
            None => return tasks,
        }
    }
}

#[tokio::test(start_paused = true)]
async fn tsk_10_every_task_is_listed_once_over_all_pages() {
    in_session(&subject().page_size(7), async |client| {
        let mut ids = HashSet::new();
        for seconds in 0..50 {
            ids.insert(client.start("job", json!({ "seconds": seconds })).await);
        }
        sleep(Duration::from_secs(25)).await;
        let tasks = listed(client).await;
        assert_eq!(tasks.len(), 50);
        let seen: HashSet<_> = tasks.iter().map(|task| task["taskId"].as_str().unwrap().to_owned()).collect();
        assert_eq!(seen, ids);
        for task in tasks {
            assert_eq!(task, client.get(task["taskId"].as_str().unwrap()).await);
        }
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn prg_09_progress_and_what_is_logged_go_on_until_the_task_is_final() {
    in_session(&subject(), async |client| {
        let params = json!({ "name": "report", "task": {}, "_meta": { "progressToken": "t" } });
        let task = client.result_of("tools/call", params).await["task"].take();
        let id = task["taskId"].as_str().unwrap();
        sleep(Duration::from_millis(1500)).await;
        assert_eq!(client.get(id).await["statusMessage"], "half of it");
        client.until(id, "completed").await;
        let said = |method: &str| -> Vec<Value> {
            client.heard.iter().filter(|said| said["method"] == method).cloned().collect()
        };
        let progress = said("notifications/progress");
        let steps: Vec<_> =
            progress.iter().map(|said| said["params"]["progress"].as_f64().unwrap()).collect();
        assert_eq!(steps, [1.0, 2.0]);
        let logged = said("notifications/message");
        assert_eq!(logged.len(), 1);
        for said in progress.iter().chain(&logged) {
            assert_eq!(said["params"]["_meta"][RELATED], json!({ "taskId": id }), "{said}");
        }
        assert!(progress.iter().all(|said| said["params"]["progressToken"] == "t"));

        let done = client.get(id).await;
        let left = LEFT.lock().unwrap().take().expect("the tool ran");
        left.progress(3.0, None, None).await.unwrap();
        left.log(LoggingLevel::Error, None, "more").await.unwrap();
        left.status("more");
        assert_eq!(client.get(id).await, done);
        client.raw.hears_nothing().await;
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn can_08_a_cancelled_request_is_not_a_cancelled_task() {
    let stopped = Stopped::default();
    in_session(&subject_with(tasks(), &stopped), async |client| {
        client.raw.request(7, "tools/call", json!({ "name": "deaf", "task": {} })).await;
        let mut created = client.raw.next().await;
        while created["id"] != 7 {
            created = client.raw.next().await;
        }
        let id = created["result"]["task"]["taskId"].as_str().unwrap().to_owned();
        client.raw.notify("notifications/cancelled", json!({ "requestId": 7 })).await;
        sleep(Duration::from_secs(5)).await;
        assert_eq!(client.get(&id).await["status"], "working");
        assert_eq!(stopped.dropped.load(Ordering::Relaxed), 0);
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn each_status_notification_contains_the_whole_task() {
    in_session(&subject(), async |client| {
        let id = client.start("job", json!({ "seconds": 3 })).await;
        let done = client.until(&id, "completed").await;
        let other = client.start("deaf", json!({})).await;
        let cancelled = client.result_of("tasks/cancel", about(&other)).await;
        client.get(&other).await;
        let told: Vec<_> =
            client.heard.iter().filter(|said| said["method"] == "notifications/tasks/status").collect();
        for expected in [done, cancelled] {
            let told: Vec<_> =
                told.iter().filter(|said| said["params"]["taskId"] == expected["taskId"]).collect();
            let last = told.last().expect("it was told");
            assert_eq!(last["params"], expected);
            assert!(told.iter().all(|said| !said.to_string().contains(RELATED)), "{told:?}");
        }
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn the_extension_means_nothing_in_a_session() {
    let capabilities = json!({ "extensions": { EXTENSION: {} } });
    super::subject::in_session_of(&subject(), capabilities, async |client| {
        let call = json!({ "name": "wait", "arguments": { "seconds": 20 } });
        assert_eq!(text(&client.result_of("tools/call", call).await), "after 20 s");
        let job = json!({ "name": "job", "arguments": { "seconds": 1 } });
        assert_eq!(client.refusal_of("tools/call", job).await, -32601);
    })
    .await;
}
