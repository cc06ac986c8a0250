//! Checks of clients: tasks.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::McpClient;
use super::opened::Opened;
use super::script::Script;
use crate::check::{ANY, Check, check};
use crate::subject::driver::StepId;
use crate::verdict::{Outcome, Stop, ensure};

pub(super) const CHECKS: &[Check<McpClient>] = &[
    check!(no_tasks_without_the_capability, ANY),
    check!(no_tasks_of_tools_that_have_none, ANY),
    check!(answers_name_their_task, ANY),
    check!(requests_about_tasks_name_none, ANY),
    check!(cursors_of_tasks_come_back_unchanged, ANY),
    check!(polls_keep_their_interval, ANY),
    check!(input_is_asked_for_by_the_result, ANY),
    check!(tasks_are_cancelled_as_tasks, ANY),
];

const RELATED: &str = "io.modelcontextprotocol/related-task";

/// A server whose tool has the given task support.
fn script(client: &McpClient, has_tasks: bool, support: Option<&str>) -> Script {
    let mut tool = json!({"name": "echo", "inputSchema": {"type": "object"}});
    if let Some(support) = support {
        tool["execution"] = json!({"taskSupport": support});
    }
    let mut script = client.script().on("tools/list", json!({"tools": [tool]}));
    for method in ["tasks/get", "tasks/result", "tasks/list", "tasks/cancel"] {
        script = script.leaves(method);
    }
    script.capabilities(|capabilities| {
        if has_tasks {
            capabilities["tasks"] = json!({"list": {}, "cancel": {}, "requests": {"tools": {"call": {}}}});
        }
    })
}

fn call() -> Value {
    json!({"tool": "echo", "arguments": {"text": "one"}, "as_task": true})
}

/// Calls a tool without task support. A client that refuses to do so by itself is right as well.
async fn plain_call(client: &McpClient, script: Script, why: &str) -> Outcome {
    let mut opened = client.connected(script).await?;
    let step = opened.then("call_tool", call()).await?;
    opened.outcome(step).await.map_err(Stop::while_preparing)?;
    let other = opened.then("call_tool", json!({"tool": "echo", "arguments": {"text": "one"}})).await?;
    opened.outcome(other).await.map_err(Stop::while_preparing)?;
    for request in opened.server.asked.iter().filter(|request| request["method"] == "tools/call") {
        ensure!(request["params"].get("task").is_none(), format!("no member `task`: {why}"), "`{request}`");
    }
    Ok(())
}

async fn no_tasks_without_the_capability(client: McpClient) -> Outcome {
    plain_call(&client, script(&client, false, Some("optional")), "the server has no tasks").await
}

async fn no_tasks_of_tools_that_have_none(client: McpClient) -> Outcome {
    for support in [None, Some("forbidden")] {
        plain_call(&client, script(&client, true, support), "the tool does not run as one").await?;
    }
    Ok(())
}

fn task(status: &str, interval: u64) -> Value {
    json!({
        "taskId": "task-1",
        "status": status,
        "createdAt": "2025-11-25T10:30:00Z",
        "lastUpdatedAt": "2025-11-25T10:40:00Z",
        "ttl": 60_000,
        "pollInterval": interval,
    })
}

/// A client whose call the server works on as a task.
async fn working(client: &McpClient, interval: u64) -> Outcome<(Opened, StepId)> {
    let script = script(client, true, Some("required")).leaves("tools/call");
    let mut opened = client.connected(script).await?;
    let step = opened.then("call_tool", json!({"tool": "echo", "arguments": {"text": "one"}})).await?;
    let request = opened.server.call("tools/call").await.map_err(Stop::while_preparing)?;
    if request["params"].get("task").is_none() {
        return Err(Stop::not_applicable("the client asks for no tasks"));
    }
    opened.server.reply(&request, json!({"task": task("working", interval)})).await?;
    Ok((opened, step))
}

/// A client may also wait for the result at once, without a poll.
async fn polled(opened: &mut Opened) -> Outcome<Value> {
    let what = "tasks/get or tasks/result";
    let is_it = |message: &Value| message["method"] == "tasks/get" || message["method"] == "tasks/result";
    opened.server.wanted(what, is_it).await
}

async fn polls_keep_their_interval(client: McpClient) -> Outcome {
    let interval = 800;
    let (mut opened, _) = working(&client, interval).await?;
    let mut last = None;
    for status in ["working", "working", "completed"] {
        let poll = match last {
            None => polled(&mut opened).await.map_err(Stop::while_preparing)?,
            Some(_) => polled(&mut opened).await?,
        };
        if poll["method"] == "tasks/result" {
            return Err(Stop::not_applicable("the client waits for the result and does not poll"));
        }
        if let Some(last) = last.replace(Instant::now()) {
            // A busy machine may have delayed the first of two polls on its way.
            let passed = last.elapsed();
            ensure!(
                passed >= Duration::from_millis(interval / 2),
                format!("{interval} ms between two polls"),
                "{} ms",
                passed.as_millis()
            );
        }
        opened.server.reply(&poll, task(status, interval)).await?;
    }
    Ok(())
}

async fn requests_about_tasks_name_none(client: McpClient) -> Outcome {
    let (mut opened, step) = working(&client, 50).await?;
    let poll = polled(&mut opened).await.map_err(Stop::while_preparing)?;
    let about = ["tasks/get", "tasks/list", "tasks/cancel"];
    if poll["method"] == "tasks/get" {
        opened.server.reply(&poll, task("completed", 50)).await?;
    }
    let listed = opened.then("list_tasks", json!({})).await?;
    let is_list = |message: &Value| message["method"] == "tasks/list";
    let request = opened.server.wanted("a list of tasks", is_list).await.map_err(Stop::while_preparing)?;
    opened.server.reply(&request, json!({"tasks": []})).await?;
    opened.outcome(listed).await.map_err(Stop::while_preparing)?;
    for request in &opened.server.asked {
        let is_about = request["method"].as_str().is_some_and(|method| about.contains(&method));
        let named = request.pointer("/params/_meta").and_then(|meta| meta.get(RELATED));
        ensure!(
            !is_about || named.is_none(),
            format!("no `{RELATED}` in a request about a task"),
            "`{request}`"
        );
    }
    opened.played.driver.cancel(step).await.map(drop)
}

/// The server needs input for a task of the client: the client's request for the result, during which the server asks.
async fn input_required(client: &McpClient) -> Outcome<(Opened, Value)> {
    let (mut opened, _) = working(client, 50).await?;
    opened.needs("elicitation")?;
    let poll = polled(&mut opened).await.map_err(Stop::while_preparing)?;
    if poll["method"] == "tasks/result" {
        return Ok((opened, poll));
    }
    opened.server.reply(&poll, task("input_required", 50)).await?;
    let request = opened.server.call("tasks/result").await?;
    Ok((opened, request))
}

async fn answers_name_their_task(client: McpClient) -> Outcome {
    let (mut opened, _) = input_required(&client).await.map_err(Stop::while_preparing)?;
    let schema = json!({"type": "object", "properties": {"name": {"type": "string"}}});
    let params = json!({
        "mode": "form",
        "message": "What is your name?",
        "requestedSchema": schema,
        "_meta": {RELATED: {"taskId": "task-1"}},
    });
    let answer = opened.server.ok("elicitation/create", params).await.map_err(Stop::while_preparing)?;
    let named = &answer["_meta"][RELATED]["taskId"];
    ensure!(
        *named == "task-1",
        format!("the id of the task under `{RELATED}` in the response"),
        "`{answer}`"
    );
    Ok(())
}

async fn input_is_asked_for_by_the_result(client: McpClient) -> Outcome {
    input_required(&client).await.map(drop)
}

async fn cursors_of_tasks_come_back_unchanged(client: McpClient) -> Outcome {
    let script = script(&client, true, Some("optional"));
    let mut opened = client.connected(script).await?;
    opened.then("list_tasks", json!({})).await?;
    let request = opened.server.call("tasks/list").await.map_err(Stop::while_preparing)?;
    let cursor = " eyJwIjoyfQ==ü";
    opened.server.reply(&request, json!({"tasks": [task("working", 50)], "nextCursor": cursor})).await?;
    // A client need not fetch another page.
    let request = opened.server.call("tasks/list").await.map_err(Stop::while_preparing)?;
    ensure!(request["params"]["cursor"] == cursor, format!("the cursor `{cursor}`"), "`{request}`");
    Ok(())
}

/// A client may cancel its poll, and may also forget the task.
async fn tasks_are_cancelled_as_tasks(client: McpClient) -> Outcome {
    let (mut opened, step) = working(&client, 50).await?;
    // The client knows of the task once it asks for it.
    polled(&mut opened).await.map_err(Stop::while_preparing)?;
    let calls = opened.server.asked.iter().filter(|request| request["method"] == "tools/call");
    let call = calls.map(|request| request["id"].clone()).next_back().unwrap_or_default();
    opened.played.driver.cancel(step).await?;
    let is_cancel = |message: &Value| {
        message["method"] == "tasks/cancel"
            || message["method"] == "notifications/cancelled" && message["params"]["requestId"] == call
    };
    let cancel =
        opened.server.wanted("the end of the task", is_cancel).await.map_err(Stop::while_preparing)?;
    ensure!(cancel["method"] == "tasks/cancel", "tasks/cancel for a call that runs as a task", "`{cancel}`");
    Ok(())
}
