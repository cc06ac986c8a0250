//! Tasks, in both protocols: each ends, and its work is done at most once.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tokio::time::sleep;

use crate::exchange::{Answer, Exchange};
use crate::history::{Count, Outcome};
use crate::session::Session;
use crate::stateless::Stateless;
use crate::wire::Wire;

/// The longest that a task may take. A node that has died counts as dead after 2 s.
const TASK_TIME: Duration = Duration::from_secs(40);
const PAUSE: Duration = Duration::from_millis(200);

/// Runs a task in a session of 2025-11-25.
pub(crate) async fn in_session(session: &mut Session, key: &str, pause: u64) {
    let arguments = json!({ "key": key, "pause": pause });
    let params = json!({ "name": "job", "arguments": arguments, "task": { "ttl": 600_000 } });
    let created = session.call("tools/call", params, false).await;
    let Answer::Result(result) = &created.answer else { return not_created(&session.wire, key, &created) };
    let Some(task) = result["task"]["taskId"].as_str() else {
        return session.wire.history.violation(format!("{key}: no task was created: {result}"));
    };
    session.wire.history.count(Count::Tasks);
    let started = Instant::now();
    while started.elapsed() < TASK_TIME {
        sleep(PAUSE).await;
        let answer = session.call("tasks/get", json!({ "taskId": task }), false).await.answer;
        let Some(status) = status(&session.wire, key, answer) else { continue };
        match status["status"].as_str() {
            Some("completed") => {
                let result = session.call("tasks/result", json!({ "taskId": task }), false).await;
                return result.judge(&session.wire.history, key, 0);
            }
            Some("working") => (),
            _ => return failed(&session.wire, key, &status),
        }
    }
    session.wire.history.violation(format!("{key}: task {task} does not end"));
}

/// Runs a task of 2026-07-28.
pub(crate) async fn stateless(client: &Stateless, key: &str, pause: u64) {
    let created = client.tool("job", json!({ "key": key, "pause": pause })).await;
    let Answer::Result(result) = &created.answer else { return not_created(&client.wire, key, &created) };
    let Some(task) = result["taskId"].as_str() else {
        return created.judge(&client.wire.history, key, 0);
    };
    client.wire.history.count(Count::Tasks);
    let started = Instant::now();
    while started.elapsed() < TASK_TIME {
        sleep(PAUSE).await;
        let answer = client.call("tasks/get", task, json!({ "taskId": task })).await.answer;
        let Some(status) = status(&client.wire, key, answer) else { continue };
        match status["status"].as_str() {
            Some("completed") => {
                let exchange = Exchange::of(Answer::Result(status["result"].clone()));
                return exchange.judge(&client.wire.history, key, 0);
            }
            Some("working") => (),
            _ => return failed(&client.wire, key, &status),
        }
    }
    client.wire.history.violation(format!("{key}: task {task} does not end"));
}

/// The answer to `tasks/get`. None where it was lost, so that the client asks again.
fn status(wire: &Wire, key: &str, answer: Answer) -> Option<Value> {
    match answer {
        Answer::Result(status) => Some(status),
        Answer::Error(error) => {
            // "interrupted", or a store that is away, is no answer about the task. -32602 says that there is no such task.
            if error.contains("-32602") {
                wire.history.lost(format!("{key}: its task is lost: {error}"));
                return Some(json!({ "status": "lost" }));
            }
            None
        }
        Answer::Gone => {
            wire.history.lost(format!("{key}: its session is unknown"));
            Some(json!({ "status": "lost" }))
        }
        Answer::Lost | Answer::Refused => None,
    }
}

fn not_created(wire: &Wire, key: &str, exchange: &Exchange) {
    exchange.judge(&wire.history, key, 0);
}

fn failed(wire: &Wire, key: &str, status: &Value) {
    wire.history.count(Count::TasksFailed);
    wire.history.call(key, Outcome::Unknown, &status.to_string());
}
