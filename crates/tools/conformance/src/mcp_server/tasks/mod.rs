//! Checks of servers: tasks of revision 2025-11-25.

pub(super) mod course;
pub(super) mod requests;
pub(super) mod start;

use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::{Instant, sleep};

use super::Server;
use crate::conversation::Conversation;
use crate::verdict::{Outcome, Stop};

/// The member that relates a message to a task.
const RELATED: &str = "io.modelcontextprotocol/related-task";
/// How often a check polls.
const POLL: Duration = Duration::from_millis(50);
/// How long the suite asks a server to keep a task, in milliseconds.
const TTL: u64 = 60_000;

/// Ends the check unless the server runs tool calls as tasks.
async fn needs_tasks(server: &Server) -> Outcome {
    server.needs("/tasks/requests/tools/call").await
}

/// The params of a call that starts a task.
fn as_task(tool: &Value) -> Value {
    let mut params = tool.clone();
    params["task"] = json!({"ttl": TTL});
    params
}

/// Starts the tool of a role as a task: the task.
async fn start(server: &Server, conversation: &mut Conversation, role: &str) -> Outcome<Value> {
    let tool = server.tool(role)?;
    let result = conversation.ok("tools/call", as_task(&tool)).await.map_err(Stop::while_preparing)?;
    if result["task"]["taskId"].is_string() {
        return Ok(result["task"].clone());
    }
    Err(Stop::inconclusive(format!("`{role}` of the profile started no task: `{result}`")))
}

/// The params of a request about a task.
fn about(task: &Value) -> Value {
    json!({"taskId": task["taskId"]})
}

pub(crate) fn is_final(status: &Value) -> bool {
    ["completed", "failed", "cancelled"].iter().any(|known| status == known)
}

fn is_status(status: &Value) -> bool {
    *status == "working" || *status == "input_required" || is_final(status)
}

/// Polls until the status is one that a test accepts, and returns every status on the way.
async fn poll(
    conversation: &mut Conversation,
    task: &Value,
    what: &str,
    mut accept: impl FnMut(&Value) -> bool,
) -> Outcome<Vec<Value>> {
    let until = Instant::now() + conversation.wait();
    let mut course: Vec<Value> = Vec::new();
    while Instant::now() < until {
        let mut polled = conversation.ok("tasks/get", about(task)).await.map_err(Stop::while_preparing)?;
        let status = polled["status"].take();
        if course.last() != Some(&status) {
            course.push(status.clone());
        }
        if accept(&status) {
            return Ok(course);
        }
        sleep(POLL).await;
    }
    Err(Stop::failed(format!("a task with {what}"), format!("the statuses {course:?}")))
}

/// Polls until the task has ended, as a preparation: its last status.
async fn finish(conversation: &mut Conversation, task: &Value) -> Outcome<Value> {
    let course = poll(conversation, task, "a final status", is_final).await;
    Ok(course.map_err(Stop::while_preparing)?.pop().unwrap_or_default())
}

/// Cancels a task that is of no more use; whether that works is for others to say.
async fn abandon(conversation: &mut Conversation, task: &Value) -> Outcome {
    conversation.request("tasks/cancel", about(task)).await.map(drop).map_err(Stop::while_preparing)
}
