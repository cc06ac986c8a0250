//! The questions of a task of 2026-07-28: in its state, until they are answered.

use std::collections::HashSet;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::{Instant, sleep};

use super::subject::opted;
use super::subject::{
    CAPABILITIES, EXTENSION, alone_at, answer, cancel, started, state, subject, text, until, update,
};
use crate::raw::{alone_with, with_both_eras};

fn keys(state: &Value) -> Vec<String> {
    assert_eq!(state["status"], "input_required", "{state}");
    let requests = state["inputRequests"].as_object().unwrap_or_else(|| panic!("none: {state}"));
    for request in requests.values() {
        assert!(request["method"].is_string(), "{request}");
        assert!(request.get("id").is_none() && request.get("jsonrpc").is_none(), "{request}");
    }
    requests.keys().cloned().collect()
}

#[tokio::test(start_paused = true)]
async fn open_questions_are_in_the_state_until_they_are_answered() {
    alone_at(&subject(), async |raw| {
        let id = started(raw, "ask", json!({})).await;
        let asked = until(raw, &id, "input_required").await;
        let key = &keys(&asked)[0];
        let request = &asked["inputRequests"][key];
        assert_eq!(request["method"], "elicitation/create");
        assert_eq!(request["params"]["requestedSchema"]["required"], json!(["name"]), "{request}");
        assert_eq!(state(raw, &id).await["inputRequests"], asked["inputRequests"], "each time");
        // Neither what was never asked nor nothing at all is an answer.
        for responses in [json!({}), json!({ "unknown": { "ignored": true } })] {
            update(raw, &id, responses).await;
            assert_eq!(state(raw, &id).await["inputRequests"], asked["inputRequests"]);
        }
        update(raw, &id, json!({ key: answer("elicitation/create"), "unknown": 5 })).await;
        let done = until(raw, &id, "completed").await;
        assert_eq!(text(&done["result"]), "Hello Ada");
        assert!(done.get("inputRequests").is_none(), "{done}");
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn partial_answer_leaves_the_other_questions_open() {
    alone_at(&subject(), async |raw| {
        for first in [0, 1] {
            let id = started(raw, "ask_two", json!({})).await;
            let asked = until(raw, &id, "input_required").await;
            let keys_of = keys(&asked);
            assert_eq!(keys_of.len(), 2, "{asked}");
            let said = |key: &String| answer(asked["inputRequests"][key]["method"].as_str().unwrap());
            let (one, other) = (&keys_of[first], &keys_of[1 - first]);
            update(raw, &id, json!({ one: said(one) })).await;
            sleep(Duration::from_secs(1)).await;
            assert_eq!(keys(&state(raw, &id).await), std::slice::from_ref(other));
            // What is answered stays so.
            update(raw, &id, json!({ one: { "action": "decline" } })).await;
            update(raw, &id, json!({ other: said(other) })).await;
            assert_eq!(text(&until(raw, &id, "completed").await["result"]), "Hi Ada");
        }
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn no_key_is_used_twice_and_an_old_answer_answers_nothing_new() {
    alone_at(&subject(), async |raw| {
        let id = started(raw, "ask_twice", json!({})).await;
        let mut used = HashSet::<String>::new();
        for method in ["elicitation/create", "roots/list"] {
            let asked = until(raw, &id, "input_required").await;
            for key in keys(&asked) {
                assert_eq!(asked["inputRequests"][&key]["method"], method);
                // All that ever was answered, once more.
                for old in &used {
                    update(raw, &id, json!({ old: answer(method) })).await;
                }
                assert_eq!(state(raw, &id).await["inputRequests"], asked["inputRequests"]);
                assert!(used.insert(key.clone()), "{key} twice");
                update(raw, &id, json!({ key: answer(method) })).await;
            }
            if method == "elicitation/create" {
                let working = until(raw, &id, "working").await;
                assert!(working.get("inputRequests").is_none(), "{working}");
            }
        }
        assert_eq!(text(&until(raw, &id, "completed").await["result"]), "Ada in file:///work");
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_question_before_the_task_is_a_round_of_the_call() {
    alone_at(&subject(), async |raw| {
        let call = json!({ "name": "ask_then_work", "arguments": {} });
        let round = raw.result_of("tools/call", opted(call.clone())).await;
        assert_eq!(round["resultType"], "input_required", "{round}");
        assert!(round.get("taskId").is_none(), "{round}");
        let key = round["inputRequests"].as_object().unwrap().keys().next().unwrap();
        let mut again = opted(call);
        again["inputResponses"] = json!({ key: answer("elicitation/create") });
        again["requestState"] = round["requestState"].clone();
        let task = raw.result_of("tools/call", again).await;
        assert_eq!(task["resultType"], "task", "{task}");
        assert!(task.get("requestState").is_none() && task.get("inputRequests").is_none(), "{task}");
        let id = task["taskId"].as_str().unwrap();
        assert!(state(raw, id).await.get("requestState").is_none());
        assert_eq!(text(&until(raw, id, "completed").await["result"]), "Hello Ada, at last");
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_question_after_it_is_one_of_the_task() {
    alone_at(&subject(), async |raw| {
        let id = started(raw, "work_then_ask", json!({})).await;
        let begun = Instant::now();
        let asked = until(raw, &id, "input_required").await;
        let key = &keys(&asked)[0];
        update(raw, &id, json!({ key: answer("elicitation/create") })).await;
        assert_eq!(text(&until(raw, &id, "completed").await["result"]), "Hello Ada");
        assert!(begun.elapsed() < Duration::from_secs(15), "the work was done once");
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_task_that_asks_can_be_cancelled() {
    alone_at(&subject(), async |raw| {
        let id = started(raw, "ask", json!({})).await;
        until(raw, &id, "input_required").await;
        cancel(raw, &id).await;
        let cancelled = until(raw, &id, "cancelled").await;
        assert!(cancelled.get("inputRequests").is_none(), "{cancelled}");
        update(raw, &id, json!({ "name": answer("elicitation/create") })).await;
        assert_eq!(state(raw, &id).await, cancelled);
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn client_without_the_capability_is_not_asked() {
    with_both_eras(&subject(), async |raw| {
        let bare = json!({ CAPABILITIES: { "extensions": { EXTENSION: {} } } });
        let call = json!({ "name": "ask", "arguments": {} });
        let task = raw.result_of("tools/call", alone_with(call, bare)).await;
        let id = task["taskId"].as_str().unwrap_or_else(|| panic!("no task: {task}"));
        for _ in 0..10 {
            let state = state(raw, id).await;
            assert_ne!(state["status"], "input_required", "{state}");
            if state["status"] != "working" {
                assert!(state.to_string().contains("elicitation"), "it says why: {state}");
                return;
            }
            sleep(Duration::from_secs(1)).await;
        }
        panic!("it waits for an answer that nobody can give");
    })
    .await;
}
