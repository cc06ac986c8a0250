//! The tasks of 2026-07-28, an extension: SEP-2663.

use std::collections::HashSet;
use std::sync::atomic::Ordering;
use std::time::Duration;

use agentwire_schema_tests::Document;
use serde_json::{Value, json};
use tokio::time::{Instant, sleep};

use super::subject::{
    CAPABILITIES, EXTENSION, RELATED, alone_at, cancel, created, is_time, opted, plain, started, state,
    subject, subject_with, tasks, text, until, update,
};
use crate::raw::{Raw, alone, alone_with, code_of};
use crate::subject::Stopped;

fn call(tool: &str, arguments: Value) -> Value {
    json!({ "name": tool, "arguments": arguments })
}

fn wait(seconds: u64) -> Value {
    call("wait", json!({ "seconds": seconds }))
}

/// The fault of a value by the schema of the extension.
#[track_caller]
fn is_right(definition: &str, value: &Value) {
    let document = Document::generated("mcp/2026-07-28-tasks.json").expect("it is generated");
    let pointer = document.pointer(definition).expect("it is there");
    document.check(&pointer, value).unwrap_or_else(|fault| panic!("{fault}\n  in {value}"));
}

#[tokio::test(start_paused = true)]
async fn it_is_advertised_as_an_extension_and_not_as_it_was() {
    alone_at(&subject(), async |raw| {
        let found = raw.result_of("server/discover", alone(json!({}))).await;
        assert_eq!(found["capabilities"]["extensions"][EXTENSION], json!({}), "{found}");
        assert!(found["capabilities"].get("tasks").is_none(), "{found}");
        let listed = raw.result_of("tools/list", opted(json!({}))).await;
        assert!(!listed.to_string().contains("taskSupport"), "this revision does not have it");
    })
    .await;
    alone_at(&crate::subject::subject(), async |raw| {
        let found = raw.result_of("server/discover", alone(json!({}))).await;
        assert!(found["capabilities"]["extensions"].get(EXTENSION).is_none(), "{found}");
        let get = opted(json!({ "taskId": "1" }));
        assert_eq!(raw.refusal_of("tasks/get", get).await, -32601, "there are none");
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn only_who_has_the_extension_in_this_request_gets_a_task() {
    let required = json!({ "requiredCapabilities": { "extensions": { EXTENSION: {} } } });
    let legacy = json!({ "tasks": { "requests": { "tools": { "call": {} } } } });
    alone_at(&subject(), async |raw| {
        created(raw, "wait", json!({ "seconds": 60 })).await;
        for params in [
            plain(call("job", json!({ "seconds": 1 }))),
            alone_with(call("job", json!({ "seconds": 1 })), json!({ CAPABILITIES: legacy })),
        ] {
            let refused = raw.ask("tools/call", params).await;
            assert_eq!((code_of(&refused), &refused["error"]["data"]), (-32021, &required));
        }
        for method in ["tasks/get", "tasks/update", "tasks/cancel"] {
            let params = json!({ "taskId": "gate", "inputResponses": {} });
            let refused = raw.ask(method, plain(params)).await;
            assert_eq!((code_of(&refused), &refused["error"]["data"]), (-32021, &required), "{method}");
        }
        let begun = Instant::now();
        let result = raw.result_of("tools/call", plain(wait(20))).await;
        assert_eq!((&result["resultType"], text(&result)), (&json!("complete"), "after 20 s"));
        assert_eq!(begun.elapsed().as_secs(), 20);
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn the_server_decides_and_no_hint_of_the_client_does() {
    alone_at(&subject(), async |raw| {
        let mut hinted = call("echo", json!({ "text": "hi" }));
        hinted["task"] = json!({ "ttl": 60_000, "pollInterval": 100 });
        let result = raw.result_of("tools/call", opted(hinted)).await;
        assert_eq!((&result["resultType"], text(&result)), (&json!("complete"), "hi"));
        // Done before it was worth a task.
        let result = raw.result_of("tools/call", opted(wait(0))).await;
        assert_eq!((&result["resultType"], text(&result)), (&json!("complete"), "after 0 s"));
        // Not done: what has begun becomes a task.
        let begun = Instant::now();
        let id = started(raw, "wait", json!({ "seconds": 30 })).await;
        assert!(begun.elapsed() < Duration::from_secs(2), "{:?}", begun.elapsed());
        until(raw, &id, "completed").await;
        assert!((30..32).contains(&begun.elapsed().as_secs()), "it did not begin anew");
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn created_task_is_flat_and_can_be_read_at_once() {
    alone_at(&subject(), async |raw| {
        let mut ids = HashSet::new();
        for tool in ["wait", "job"] {
            let task = created(raw, tool, json!({ "seconds": 60 })).await;
            is_right("CreateTaskResult", &task);
            let known = [
                "_meta",
                "createdAt",
                "lastUpdatedAt",
                "pollIntervalMs",
                "resultType",
                "status",
                "statusMessage",
                "taskId",
                "ttlMs",
            ];
            let unknown = task.as_object().unwrap().keys().find(|name| !known.contains(&name.as_str()));
            assert_eq!(unknown, None, "{task}");
            assert_eq!((&task["status"], &task["ttlMs"]), (&json!("working"), &json!(3_600_000)));
            assert_eq!(task["pollIntervalMs"], 500);
            is_time(&task["createdAt"]);
            is_time(&task["lastUpdatedAt"]);
            let id = task["taskId"].as_str().unwrap();
            assert!(id.len() >= 22 && ids.insert(id.to_owned()), "{id}");
            let state = state(raw, id).await;
            is_right("GetTaskResult", &state);
            for member in ["taskId", "status", "createdAt", "ttlMs", "pollIntervalMs"] {
                assert_eq!(state[member], task[member], "{member}");
            }
        }
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_completed_task_has_the_result_of_the_call() {
    alone_at(&subject(), async |raw| {
        let id = started(raw, "job", json!({ "seconds": 5 })).await;
        let done = until(raw, &id, "completed").await;
        is_right("GetTaskResult", &done);
        assert_eq!(text(&done["result"]), "after 5 s");
        assert!(!done.to_string().contains(RELATED) && done.get("error").is_none(), "{done}");
        for never in ["inputRequests", "requestState", "ttl", "pollInterval", "task"] {
            assert!(done.get(never).is_none(), "{never}: {done}");
        }
        let again = state(raw, &id).await;
        assert_eq!(again, done, "as often as one likes");
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn tsk_06_tool_failure_is_a_result_and_protocol_error_an_error() {
    alone_at(&subject(), async |raw| {
        let id = started(raw, "fail", json!({})).await;
        let done = until(raw, &id, "completed").await;
        assert_eq!((&done["result"]["isError"], text(&done["result"])), (&json!(true), "it broke"));
        assert!(done.get("error").is_none());
        for (tool, code, why) in [("refuse", -32042, "go there first"), ("panic", -32603, "")] {
            let id = started(raw, tool, json!({})).await;
            let failed = until(raw, &id, "failed").await;
            is_right("GetTaskResult", &failed);
            assert_eq!(failed["error"]["code"], code, "{failed}");
            assert!(failed["error"]["message"].as_str().unwrap().contains(why), "{failed}");
            assert!(failed["statusMessage"].is_string() && failed.get("result").is_none(), "{failed}");
        }
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_cancel_is_acknowledged_whatever_became_of_the_task() {
    let stopped = Stopped::default();
    alone_at(&subject_with(tasks(), &stopped), async |raw| {
        for tool in ["deaf", "polite"] {
            let id = started(raw, tool, json!({})).await;
            cancel(raw, &id).await;
            let state = until(raw, &id, "cancelled").await;
            is_right("GetTaskResult", &state);
            assert!(state.get("result").is_none() && state.get("error").is_none(), "{state}");
            cancel(raw, &id).await;
            update(raw, &id, json!({})).await;
            sleep(Duration::from_secs(10)).await;
            assert_eq!(super::subject::state(raw, &id).await, state, "it is final");
        }
        assert_eq!((stopped.dropped.load(Ordering::Relaxed), stopped.told.load(Ordering::Relaxed)), (1, 1));
        let id = started(raw, "job", json!({ "seconds": 1 })).await;
        let done = until(raw, &id, "completed").await;
        cancel(raw, &id).await;
        update(raw, &id, json!({ "name": super::subject::answer("elicitation/create") })).await;
        assert_eq!(state(raw, &id).await, done);
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn unknown_tasks_are_refused() {
    alone_at(&subject(), async |raw| {
        let mut told = HashSet::new();
        for method in ["tasks/get", "tasks/update", "tasks/cancel"] {
            for id in [json!("786512e2-9e0d-44bd-8f29-789f820fe840"), json!(""), json!("\u{1F980}")] {
                let params = json!({ "taskId": id, "inputResponses": {} });
                let refused = raw.ask(method, opted(params)).await;
                assert_eq!(code_of(&refused), -32602, "{method} {id}");
                told.insert(refused["error"]["message"].as_str().unwrap().to_owned());
            }
            for params in [json!({}), json!({ "taskId": 5 }), json!({ "taskId": null })] {
                assert_eq!(raw.refusal_of(method, opted(params)).await, -32602, "{method}");
            }
        }
        assert_eq!(told.len(), 1, "one text for all that is not there: {told:?}");
        let id = started(raw, "job", json!({ "seconds": 60 })).await;
        for method in ["tasks/result", "tasks/list"] {
            assert_eq!(raw.refusal_of(method, opted(json!({ "taskId": id }))).await, -32601, "{method}");
        }
        for responses in [json!([]), json!(5), json!("all")] {
            let params = json!({ "taskId": id, "inputResponses": responses });
            assert_eq!(raw.refusal_of("tasks/update", opted(params)).await, -32602, "{responses}");
        }
        // What cannot be a call is refused before there is a task.
        assert_eq!(raw.refusal_of("tools/call", opted(call("nobody", json!({})))).await, -32602);
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_task_says_nothing_of_itself_but_when_it_is_asked() {
    let more = json!({ "progressToken": 1, "io.modelcontextprotocol/logLevel": "debug" });
    alone_at(&subject(), async |raw| {
        let mut params = opted(call("report", json!({})));
        for (key, value) in more.as_object().unwrap() {
            params["_meta"][key] = value.clone();
        }
        let task = raw.result_of("tools/call", params).await;
        let id = task["taskId"].as_str().unwrap();
        sleep(Duration::from_millis(1500)).await;
        assert_eq!(state(raw, id).await["statusMessage"], "half of it");
        until(raw, id, "completed").await;
        raw.hears_nothing().await;
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn can_08_neither_a_cancelled_request_nor_a_lost_connection_ends_a_task() {
    let stopped = Stopped::default();
    let server = subject_with(tasks(), &stopped);
    let id = alone_at(&server, async |raw| {
        raw.request(7, "tools/call", opted(call("deaf", json!({})))).await;
        let id = raw.next().await["result"]["taskId"].as_str().unwrap().to_owned();
        raw.notify("notifications/cancelled", json!({ "requestId": 7 })).await;
        raw.abandon(7).await;
        sleep(Duration::from_secs(5)).await;
        assert_eq!(state(raw, &id).await["status"], "working");
        id
    })
    .await;
    alone_at(&server, async |raw| {
        assert_eq!(state(raw, &id).await["status"], "working", "another connection");
        assert_eq!(stopped.dropped.load(Ordering::Relaxed), 0);
        // Before it is a task, it is a call like any other.
        raw.request(8, "tools/call", opted(wait(60))).await;
        raw.notify("notifications/cancelled", json!({ "requestId": 8 })).await;
        raw.hears_nothing().await;
    })
    .await;
}

async fn listen(raw: &mut Raw, ids: Value) -> Value {
    let params = json!({ "notifications": { "taskIds": ids } });
    raw.request("listen", "subscriptions/listen", opted(params)).await;
    let mut first = raw.next().await;
    assert_eq!(first["method"], "notifications/subscriptions/acknowledged", "{first}");
    first["params"]["notifications"].take()
}

#[tokio::test(start_paused = true)]
async fn a_subscription_hears_of_its_tasks_what_asking_would_have_said() {
    alone_at(&subject(), async |raw| {
        let watched = started(raw, "ask", json!({})).await;
        let other = started(raw, "job", json!({ "seconds": 1 })).await;
        until(raw, &watched, "input_required").await;
        let honoured = listen(raw, json!([watched, "nowhere"])).await;
        assert_eq!(honoured, json!({ "taskIds": [watched] }), "those that there are");
        assert_eq!(raw.next().await["params"]["status"], "input_required", "it waits for the client already");
        until(raw, &other, "completed").await;
        let params = json!({
            "taskId": watched,
            "inputResponses": { "name": super::subject::answer("elicitation/create") },
        });
        raw.request("update", "tasks/update", opted(params)).await;
        let mut last = Value::Null;
        while last["params"]["status"] != "completed" {
            let message = raw.next().await;
            if message["id"] == "update" {
                continue;
            }
            assert_eq!(message["method"], "notifications/tasks", "{message}");
            is_right("TaskStatusNotificationParams", &message["params"]);
            let meta = &message["params"]["_meta"];
            assert_eq!(meta["io.modelcontextprotocol/subscriptionId"], "listen", "{message}");
            last = message;
        }
        let mut asked = state(raw, &watched).await;
        for (members, own) in [(&mut asked, "resultType"), (&mut last["params"], "_meta")] {
            let members = members.as_object_mut().unwrap();
            members.remove(own);
            members.remove("_meta");
        }
        assert_eq!(last["params"], asked);
        raw.hears_nothing().await;
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn only_who_has_the_extension_can_listen_for_tasks() {
    alone_at(&subject(), async |raw| {
        let params = json!({ "notifications": { "taskIds": ["1"] } });
        let refused = raw.ask("subscriptions/listen", plain(params)).await;
        assert_eq!(code_of(&refused), -32021);
        let required = json!({ "requiredCapabilities": { "extensions": { EXTENSION: {} } } });
        assert_eq!(refused["error"]["data"], required);
        // Who asks for nothing of the kind needs nothing.
        let params = json!({ "notifications": { "toolsListChanged": true } });
        raw.request("other", "subscriptions/listen", plain(params)).await;
        assert_eq!(raw.next().await["method"], "notifications/subscriptions/acknowledged");
    })
    .await;
}
