//! The tasks of 2025-11-25 and those of the extension, which share names and no shapes.

use agentwire_jsonrpc::RawJson;
use agentwire_mcp_schema::*;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::{D, E, read, write};

fn check<T: DeserializeOwned + Serialize + Downgrade>(revision: Revision, json: Value) -> T {
    let mut value: T = read(&json);
    assert_eq!(write(&value), json);
    value.downgrade(revision);
    assert_eq!(write(&value), json, "downgraded to {revision}");
    value
}

#[test]
fn core_tasks() {
    use core_tasks::*;

    let task = json!({
        "taskId": "t1", "status": "working", "statusMessage": "soon", "ttl": 60000, "pollInterval": 500,
        "createdAt": "2025-11-25T10:00:00Z", "lastUpdatedAt": "2025-11-25T10:00:01Z",
    });
    let mut reported = task.clone();
    reported["_meta"] = json!({ "k": 1 });
    check::<CallToolRequest>(D, json!({ "name": "slow", "task": { "ttl": 60000 } }));
    check::<CreateTaskResult>(D, json!({ "task": task }));
    check::<GetTaskRequest>(D, json!({ "taskId": "t1" }));
    check::<GetTaskResult>(D, reported.clone());
    check::<CancelTaskRequest>(D, json!({ "taskId": "t1" }));
    check::<CancelTaskResult>(D, reported.clone());
    check::<TaskStatusNotification>(D, reported);
    check::<ListTasksRequest>(D, json!({ "cursor": "2" }));
    check::<ListTasksResult>(D, json!({ "tasks": [task], "nextCursor": "3" }));

    let payload: GetTaskPayloadResult = check(D, json!({ "content": [{ "type": "text", "text": "5" }] }));
    assert_eq!(payload.decode::<CallToolResult>().unwrap().text(), "5");
    let encoded = GetTaskPayloadResult::encode(&CallToolResult::from_text("5")).unwrap();
    assert_eq!(write(&encoded), write(&payload));
    assert!(GetTaskPayloadResult::encode(&5).is_err());
}

#[test]
fn a_task_for_ever_is_written_with_a_null() {
    let task = write(&core_tasks::Task::new("t1", "2025-11-25T10:00:00Z"));
    assert_eq!(task["ttl"], Value::Null);
    assert!(task.as_object().unwrap().contains_key("ttl"));
    let task = write(&task_extension::Task::new("t1", "2026-08-01T10:00:00Z"));
    assert!(task.as_object().unwrap().contains_key("ttlMs"));
}

#[test]
fn messages_name_the_task_they_are_about() {
    let mut result = CallToolResult::from_text("5");
    let related = core_tasks::RelatedTaskMetadata::new("t1");
    related.write_to(result.meta_slot());
    assert_eq!(
        write(&result)["_meta"],
        json!({ "io.modelcontextprotocol/related-task": { "taskId": "t1" } })
    );
    assert_eq!(core_tasks::RelatedTaskMetadata::read(result.meta_ref()), Some(related));
    assert_eq!(core_tasks::RelatedTaskMetadata::read(None), None);
}

#[test]
fn the_capabilities_for_core_tasks() {
    let server = json!({ "tasks": { "list": {}, "requests": { "tools": { "call": {} } }, "x": 1 } });
    let capabilities: ServerCapabilities = check(D, server);
    assert!(capabilities.has("tasks") && capabilities.has("tasks.list"));
    assert!(capabilities.has("tasks.requests.tools.call") && !capabilities.has("tasks.cancel"));

    let client = json!({ "tasks": { "cancel": {}, "requests": {
        "sampling": { "createMessage": {} }, "elicitation": { "create": {} },
    } } });
    let mut capabilities: ClientCapabilities = check(D, client);
    assert!(capabilities.has("tasks.requests.sampling.createMessage"));
    assert!(capabilities.has("tasks.requests.elicitation.create") && !capabilities.has("tasks.list"));
    capabilities.downgrade(E);
    assert!(!capabilities.has("tasks"));
}

#[test]
fn task_extension() {
    use task_extension::*;

    let task = |status: &str| {
        json!({
            "taskId": "t1", "status": status, "ttlMs": null, "pollIntervalMs": 500,
            "createdAt": "2026-08-01T10:00:00Z", "lastUpdatedAt": "2026-08-01T10:00:01Z",
        })
    };
    let with = |status: &str, members: Value| {
        let mut json = task(status);
        json.as_object_mut().unwrap().extend(members.as_object().unwrap().clone());
        json
    };
    check::<CreateTaskResult>(E, with("working", json!({ "resultType": "task" })));
    check::<GetTaskRequest>(E, json!({ "taskId": "t1" }));
    check::<CancelTaskRequest>(E, json!({ "taskId": "t1" }));
    check::<UpdateTaskRequest>(
        E,
        json!({ "taskId": "t1", "inputResponses": { "a": { "action": "cancel" } } }),
    );
    let done: GetTaskResult = check(
        E,
        with(
            "completed",
            json!({
                "resultType": "complete", "result": { "content": [], "isError": true },
            }),
        ),
    );
    assert!(done.task.status.is_final());
    assert!(done.result.as_ref().map(RawJson::decode::<CallToolResult>).unwrap().unwrap().is_error);
    check::<GetTaskResult>(
        E,
        with(
            "failed",
            json!({
                "resultType": "complete", "error": { "code": -32603, "message": "m", "data": [1] },
            }),
        ),
    );
    let asking = json!({ "inputRequests": { "a": { "method": "roots/list", "params": {} } } });
    let asking: TaskStatusNotification = check(E, with("input_required", asking));
    assert_eq!(asking.input_requests.unwrap()["a"].method(), "roots/list");

    let mut answer = GetTaskResult::new(Task::new("t1", "2026-08-01T10:00:00Z"));
    answer.downgrade(E);
    assert_eq!(answer.result_type, Some(ResultType::Complete));
}

#[test]
fn a_subscription_names_tasks() {
    let mut filter = SubscriptionFilter::default().tools_list_changed(true);
    task_extension::TaskSubscription::new(["t1", "t2"]).write_to(&mut filter);
    assert_eq!(write(&filter), json!({ "toolsListChanged": true, "taskIds": ["t1", "t2"] }));
    assert_eq!(task_extension::TaskSubscription::read(&filter).task_ids, ["t1", "t2"]);

    let capabilities = ServerCapabilities::default().extensions(task_extension::extensions());
    assert!(capabilities.has("extensions.io.modelcontextprotocol/tasks"));
}

#[test]
fn result_of_a_task_keeps_its_digits() {
    let text = r#"{"taskId":"t","status":"completed","createdAt":"c","lastUpdatedAt":"l","ttlMs":null,"result":{"n":1.10}}"#;
    let report: task_extension::GetTaskResult = serde_json::from_str(text).unwrap();
    assert_eq!(report.result.unwrap().as_str(), r#"{"n":1.10}"#);
}
