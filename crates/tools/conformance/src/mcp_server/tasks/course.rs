//! The course of a task: its statuses, its result, and its questions while it runs.

use serde_json::{Value, json};

use super::{RELATED, about, finish, is_final, is_status, needs_tasks, poll, start};
use crate::check::{ANY, Check, check};
use crate::conversation::Conversation;
use crate::mcp_server::features::{List, entries};
use crate::mcp_server::{Server, answers};
use crate::verdict::{Outcome, Stop, ensure};

pub(in crate::mcp_server) const CHECKS: &[Check<Server>] = &[
    check!(statuses_in_order, ANY),
    check!(result_is_waited_for, ANY),
    check!(result_is_that_of_the_call, ANY),
    check!(error_of_a_tool_is_a_failure, ANY),
    check!(messages_name_their_task, ANY),
    check!(task_waits_for_input, ANY),
];

async fn statuses_in_order(server: Server) -> Outcome {
    needs_tasks(&server).await?;
    let mut conversation = server.open().await?;
    let task = start(&server, &mut conversation, "task").await?;
    let course = poll(&mut conversation, &task, "a final status", is_final).await;
    let course = course.map_err(Stop::while_preparing)?;
    for status in &course {
        ensure!(is_status(status), "one of the five statuses of tasks", "`{status}`");
    }
    let last = course.last().cloned().unwrap_or_default();
    expect_final(&mut conversation, &task, &last).await?;

    if server.tool("long_task").is_err() || server.needs("/tasks/cancel").await.is_err() {
        return Ok(());
    }
    let task = start(&server, &mut conversation, "long_task").await?;
    let cancelled = conversation.ok("tasks/cancel", about(&task)).await.map_err(Stop::while_preparing)?;
    if cancelled["status"] != "cancelled" {
        return Err(Stop::inconclusive(format!("tasks/cancel did not cancel the task: `{cancelled}`")));
    }
    for _ in 0..3 {
        expect_final(&mut conversation, &task, &json!("cancelled")).await?;
        tokio::time::sleep(super::POLL).await;
    }
    Ok(())
}

/// A task that has ended may be forgotten, and does not change otherwise.
async fn expect_final(conversation: &mut Conversation, task: &Value, status: &Value) -> Outcome {
    let response = conversation.request("tasks/get", about(task)).await.map_err(Stop::while_preparing)?;
    let is_same = response["error"].is_object() || response["result"]["status"] == *status;
    ensure!(is_same, format!("the status {status}, which is final"), "`{response}`");
    Ok(())
}

async fn result_is_waited_for(server: Server) -> Outcome {
    needs_tasks(&server).await?;
    let mut conversation = server.open().await?;
    let task = start(&server, &mut conversation, "task").await?;
    let response = conversation.request("tasks/result", about(&task)).await.map_err(Stop::while_preparing)?;
    let polled = conversation.request("tasks/get", about(&task)).await.map_err(Stop::while_preparing)?;
    // The server may have forgotten a task whose result was fetched.
    let status = &polled["result"]["status"];
    ensure!(
        polled["error"].is_object() || is_final(status),
        "a response to tasks/result when the task has ended",
        "`{response}` at the status {status}"
    );
    Ok(())
}

async fn result_is_that_of_the_call(server: Server) -> Outcome {
    needs_tasks(&server).await?;
    let mut conversation = server.open().await?;
    let task = start(&server, &mut conversation, "task").await?;
    let status = finish(&mut conversation, &task).await?;
    if status != "completed" {
        return Err(Stop::inconclusive(format!("the tool of the role `task` ended as {status}")));
    }
    let response = conversation.request("tasks/result", about(&task)).await.map_err(Stop::while_preparing)?;
    let result = &response["result"];
    ensure!(result["content"].is_array(), "the result of the call as that of tasks/result", "`{response}`");
    let tool = server.tool("task")?;
    // A tool that requires a task cannot be called without one.
    if task_support(&mut conversation, &tool).await? == "optional" {
        let plain = conversation.ok("tools/call", tool).await.map_err(Stop::while_preparing)?;
        let is_same = |name: &&str| result.get(*name) == plain.get(*name);
        ensure!(
            ["content", "structuredContent"].iter().all(is_same)
                && (result["isError"] == true) == (plain["isError"] == true),
            format!("exactly the result of the call, `{plain}`"),
            "`{result}`"
        );
    }
    if let Ok(tool) = server.tool("task_that_breaks") {
        error_is_that_of_the_call(&server, &mut conversation, tool).await?;
    }
    Ok(())
}

async fn error_is_that_of_the_call(server: &Server, conversation: &mut Conversation, tool: Value) -> Outcome {
    let task = start(server, conversation, "task_that_breaks").await?;
    finish(conversation, &task).await?;
    let response = conversation.request("tasks/result", about(&task)).await.map_err(Stop::while_preparing)?;
    let expected = "the error of the call as the response to tasks/result";
    ensure!(response["error"].is_object(), expected, "`{response}`");
    if task_support(conversation, &tool).await? == "optional" {
        let plain = conversation.error("tools/call", tool).await.map_err(Stop::while_preparing)?;
        let is_same = response["error"]["code"] == plain["code"];
        ensure!(is_same, format!("the error of the call, `{plain}`"), "`{response}`");
    }
    Ok(())
}

/// The task support that the server advertises for a tool.
async fn task_support(conversation: &mut Conversation, tool: &Value) -> Outcome<Value> {
    let tools = entries(conversation, List::TOOLS).await?;
    let listed = tools.into_iter().find(|listed| listed["name"] == tool["name"]).unwrap_or_default();
    Ok(listed["execution"]["taskSupport"].clone())
}

async fn error_of_a_tool_is_a_failure(server: Server) -> Outcome {
    needs_tasks(&server).await?;
    let mut conversation = server.open().await?;
    let task = start(&server, &mut conversation, "task_that_fails").await?;
    let status = finish(&mut conversation, &task).await?;
    let result = conversation.ok("tasks/result", about(&task)).await.map_err(Stop::while_preparing)?;
    if result["isError"] != true {
        return Err(Stop::inconclusive(format!("the tool did not fail: `{result}`")));
    }
    ensure!(status == "failed", "the status `failed` of a task whose result has isError", "{status}");
    Ok(())
}

fn is_related(meta: &Value, task: &Value) -> bool {
    meta[RELATED]["taskId"] == task["taskId"]
}

async fn messages_name_their_task(server: Server) -> Outcome {
    needs_tasks(&server).await?;
    let mut conversation = server.open().await?;
    let role = if server.tool("task_that_asks").is_ok() { "task_that_asks" } else { "task" };
    let task = start(&server, &mut conversation, role).await?;
    let result = conversation.ok("tasks/result", about(&task)).await.map_err(Stop::while_preparing)?;
    ensure!(
        is_related(&result["_meta"], &task),
        format!("the taskId {} under `{RELATED}` in the _meta of the result of tasks/result", task["taskId"]),
        "`{result}`"
    );
    // A server may also send requests for other reasons, such as for the client's roots.
    let asked = conversation.asked.iter().filter(|request| request["method"] == "elicitation/create");
    for request in asked {
        ensure!(
            is_related(&request["params"]["_meta"], &task),
            format!("the taskId {} under `{RELATED}` in the _meta of what a task asks", task["taskId"]),
            "`{request}`"
        );
    }
    Ok(())
}

async fn task_waits_for_input(server: Server) -> Outcome {
    needs_tasks(&server).await?;
    let mut conversation = server.open().await?;
    conversation.answer_with(|_| None);
    let task = start(&server, &mut conversation, "task_that_asks").await?;
    let waits = |status: &Value| *status == "input_required" || is_final(status);
    let mut course = poll(&mut conversation, &task, "the status input_required", waits).await?;
    let status = course.pop().unwrap_or_default();
    ensure!(status == "input_required", "the status input_required while a task waits for input", "{status}");

    let id = conversation.start("tasks/result", about(&task)).await?;
    let asks = |message: &Value| message.get("method").is_some() && message.get("id").is_some();
    let request = conversation.wanted("a request for input", asks).await.map_err(Stop::while_preparing)?;
    match answers::answer(&request) {
        Some(Ok(result)) => conversation.reply(&request, result).await?,
        _ => return Err(Stop::inconclusive(format!("the suite has no answer to `{request}`"))),
    }
    conversation.response(&id).await.map_err(Stop::while_preparing)?;
    let goes_on = |status: &Value| *status != "input_required";
    poll(&mut conversation, &task, "another status than input_required after the answer", goes_on)
        .await
        .map(drop)
}
