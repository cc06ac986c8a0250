//! The questions of a task of 2025-11-25: the client polls, sees that there is a question, and waits for the result, through
//! which the questions come.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::{Instant, sleep};

use super::subject::{Core, RELATED, answer, in_session, in_session_of, subject, text};
use crate::raw::code_of;

/// The next message is a question of that task.
async fn question(client: &mut Core<'_>, id: &str, method: &str) -> Value {
    loop {
        let message = client.raw.next().await;
        if message["method"] == "notifications/tasks/status" {
            continue;
        }
        assert_eq!(message["method"], method, "{message}");
        assert_eq!(message["params"]["_meta"][RELATED], json!({ "taskId": id }), "TSK-07");
        return message["id"].clone();
    }
}

async fn reply(client: &mut Core<'_>, question: &Value, result: Value) {
    client.raw.send(json!({ "jsonrpc": "2.0", "id": question, "result": result })).await;
}

#[tokio::test(start_paused = true)]
async fn tsk_13_question_is_sent_on_the_stream_of_the_result_and_the_task_goes_on() {
    in_session(&subject(), async |client| {
        let id = client.start("ask_twice", json!({})).await;
        client.until(&id, "input_required").await;
        client.raw.request("result", "tasks/result", json!({ "taskId": id })).await;
        let first = question(client, &id, "elicitation/create").await;
        assert_eq!(client.get(&id).await["status"], "input_required");
        reply(client, &first, answer("elicitation/create")).await;
        sleep(Duration::from_secs(1)).await;
        assert_eq!(client.get(&id).await["status"], "working", "what was asked is answered");
        // The same request for the result brings the next one.
        let second = question(client, &id, "roots/list").await;
        assert_eq!(client.get(&id).await["status"], "input_required");
        reply(client, &second, answer("roots/list")).await;
        let result = client.answer("result").await["result"].take();
        assert_eq!(text(&result), "Ada in file:///work");
        assert_eq!(result["_meta"][RELATED], json!({ "taskId": id }));
        assert_eq!(client.get(&id).await["status"], "completed");
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn tsk_04_status_changes_only_as_the_specification_allows() {
    in_session(&subject(), async |client| {
        let id = client.start("ask_twice", json!({})).await;
        client.until(&id, "input_required").await;
        let mut trace = vec!["working".to_owned(), "input_required".to_owned()];
        let (mut asked, mut done) = (Vec::new(), false);
        client.raw.request("result", "tasks/result", json!({ "taskId": id })).await;
        while !done {
            client.raw.request("get", "tasks/get", json!({ "taskId": id })).await;
            let state = loop {
                let message = client.raw.next().await;
                match (message["id"].as_str(), message["method"].as_str()) {
                    (Some("get"), None) => break message["result"]["status"].as_str().unwrap().to_owned(),
                    (Some("result"), None) => done = true,
                    (_, Some("notifications/tasks/status")) => {}
                    (_, Some(method)) => {
                        asked.push(method.to_owned());
                        let id = message["id"].clone();
                        reply(client, &id, answer(&asked[asked.len() - 1])).await;
                    }
                    _ => panic!("unexpected: {message}"),
                }
            };
            if trace.last() != Some(&state) {
                trace.push(state);
            }
            sleep(Duration::from_millis(100)).await;
        }
        assert_eq!(asked, ["elicitation/create", "roots/list"]);
        for step in trace.windows(2) {
            let legal = matches!(
                (&*step[0], &*step[1]),
                ("working", "input_required" | "completed") | ("input_required", "working" | "completed")
            );
            assert!(legal, "{trace:?}");
        }
        assert_eq!(client.get(&id).await["status"], "completed");
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn two_questions_are_asked_at_once() {
    in_session(&subject(), async |client| {
        let id = client.start("ask_two", json!({})).await;
        client.until(&id, "input_required").await;
        client.raw.request("result", "tasks/result", json!({ "taskId": id })).await;
        let mut questions = Vec::new();
        while questions.len() < 2 {
            let message = client.raw.next().await;
            if message.get("id").is_some() {
                assert_eq!(message["params"]["_meta"][RELATED], json!({ "taskId": id }));
                questions.push(message);
            }
        }
        let other = questions.pop().unwrap();
        let one = questions.pop().unwrap();
        reply(client, &one["id"], answer(one["method"].as_str().unwrap())).await;
        assert_eq!(client.get(&id).await["status"], "input_required", "one is still open");
        reply(client, &other["id"], answer(other["method"].as_str().unwrap())).await;
        let result = client.answer("result").await["result"].take();
        assert_eq!(text(&result), "Hi Ada");
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn client_that_requests_the_result_again_is_asked_again() {
    in_session(&subject(), async |client| {
        let id = client.start("ask", json!({})).await;
        client.until(&id, "input_required").await;
        client.raw.request("gone", "tasks/result", json!({ "taskId": id })).await;
        let asked = question(client, &id, "elicitation/create").await;
        client.raw.notify("notifications/cancelled", json!({ "requestId": "gone" })).await;
        let withdrawn = loop {
            let message = client.raw.next().await;
            if message["method"] == "notifications/cancelled" {
                break message;
            }
        };
        assert_eq!(withdrawn["params"]["requestId"], asked);
        assert_eq!(client.get(&id).await["status"], "input_required");
        let (result, questions) = client.finish(&id).await;
        assert_eq!((text(&result["result"]), questions.len()), ("Hello Ada", 1));
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn two_that_wait_for_the_result_both_get_it() {
    in_session(&subject(), async |client| {
        let id = client.start("ask", json!({})).await;
        client.until(&id, "input_required").await;
        for waits in ["one", "other"] {
            client.raw.request(waits, "tasks/result", json!({ "taskId": id })).await;
        }
        let asked = question(client, &id, "elicitation/create").await;
        reply(client, &asked, answer("elicitation/create")).await;
        let mut ended = 0;
        while ended < 2 {
            let message = client.raw.next().await;
            match message["method"].as_str() {
                // Asked on each of them, it may be withdrawn once it has its answer.
                Some("elicitation/create") => {
                    reply(client, &message["id"], answer("elicitation/create")).await
                }
                Some(_) => {}
                None => {
                    assert_eq!(text(&message["result"]), "Hello Ada", "{message}");
                    ended += 1;
                }
            }
        }
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_task_withdraws_its_question_and_ends_the_wait() {
    in_session(&subject(), async |client| {
        let id = client.start("ask", json!({})).await;
        client.until(&id, "input_required").await;
        client.raw.request("result", "tasks/result", json!({ "taskId": id })).await;
        let asked = question(client, &id, "elicitation/create").await;
        client.raw.request("cancel", "tasks/cancel", json!({ "taskId": id })).await;
        let (mut withdrawn, mut ended, mut cancelled) = (false, false, false);
        while !(withdrawn && ended && cancelled) {
            let message = client.raw.next().await;
            match (message["id"].as_str(), message["method"].as_str()) {
                (Some("cancel"), None) => {
                    assert_eq!(message["result"]["status"], "cancelled");
                    cancelled = true;
                }
                (Some("result"), None) => {
                    code_of(&message);
                    ended = true;
                }
                (_, Some("notifications/cancelled")) => {
                    assert_eq!(message["params"]["requestId"], asked);
                    withdrawn = true;
                }
                (_, Some("notifications/tasks/status")) => {}
                _ => panic!("unexpected: {message}"),
            }
        }
        assert_eq!(client.get(&id).await["status"], "cancelled");
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn malformed_answer_is_an_error_of_the_question() {
    in_session(&subject(), async |client| {
        for (said, why) in [
            (json!({ "result": { "action": "shrug" } }), "shrug"),
            (json!({ "error": { "code": -1, "message": "not now" } }), "not now"),
        ] {
            let id = client.start("ask", json!({})).await;
            client.raw.request("result", "tasks/result", json!({ "taskId": id })).await;
            let asked = question(client, &id, "elicitation/create").await;
            let mut said = said;
            said["jsonrpc"] = json!("2.0");
            said["id"] = asked;
            client.raw.send(said).await;
            let result = client.answer("result").await["result"].take();
            assert!(result["isError"] == true && text(&result).contains(why), "{result}");
            assert_eq!(client.get(&id).await["status"], "failed");
        }
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_client_that_cannot_be_asked_is_not() {
    in_session_of(&subject(), json!({}), async |client| {
        let begun = Instant::now();
        let id = client.start("ask", json!({})).await;
        let (answer, questions) = client.finish(&id).await;
        assert_eq!((&answer["result"]["isError"], questions.len()), (&json!(true), 0), "{answer}");
        assert!(text(&answer["result"]).contains("elicitation"), "{answer}");
        assert!(begun.elapsed() < Duration::from_secs(60));
    })
    .await;
}
