//! The requests about tasks: which tasks they find, and how they answer.

use serde_json::{Value, json};

use super::{RELATED, abandon, about, finish, needs_tasks, start};
use crate::check::{ANY, Check, HTTP, check};
use crate::link::Link;
use crate::mcp_server::Server;
use crate::mcp_server::features::{INVALID_PARAMS, expect_code};
use crate::verdict::{Outcome, Stop, ensure};

pub(in crate::mcp_server) const CHECKS: &[Check<Server>] = &[
    check!(tasks_need_no_relation, ANY),
    check!(finished_task_is_not_cancelled, ANY),
    check!(cancelled_task_says_so, ANY),
    check!(unknown_tasks_are_refused, ANY),
    check!(every_task_is_listed, ANY),
    check!(status_is_no_stream, HTTP),
];

/// The most pages of tasks that a check fetches.
const MAX_PAGES: usize = 50;

async fn tasks_need_no_relation(server: Server) -> Outcome {
    needs_tasks(&server).await?;
    let offer = server.offer().await?;
    let mut conversation = server.open().await?;
    let task = start(&server, &mut conversation, "task").await?;
    for method in ["tasks/get", "tasks/list", "tasks/cancel"] {
        let capability = offer.pointer(&format!("/capabilities/{method}"));
        if method != "tasks/get" && capability.is_none() {
            continue;
        }
        let params = if method == "tasks/list" { json!({}) } else { about(&task) };
        let response = conversation.request(method, params).await.map_err(Stop::while_preparing)?;
        ensure!(
            response["result"]["_meta"].get(RELATED).is_none(),
            format!("no `{RELATED}` in the _meta of the result of {method}"),
            "`{response}`"
        );
    }
    Ok(())
}

async fn finished_task_is_not_cancelled(server: Server) -> Outcome {
    server.needs("/tasks/cancel").await?;
    let mut conversation = server.open().await?;
    let task = start(&server, &mut conversation, "task").await?;
    finish(&mut conversation, &task).await?;
    let response = conversation.request("tasks/cancel", about(&task)).await.map_err(Stop::while_preparing)?;
    expect_code(&response, INVALID_PARAMS, "tasks/cancel for a task that has ended")
}

async fn cancelled_task_says_so(server: Server) -> Outcome {
    server.needs("/tasks/cancel").await?;
    let mut conversation = server.open().await?;
    let task = start(&server, &mut conversation, "long_task").await?;
    let response = conversation.request("tasks/cancel", about(&task)).await.map_err(Stop::while_preparing)?;
    ensure!(
        response["result"]["status"] == "cancelled",
        "the status cancelled in the result of tasks/cancel",
        "`{response}`"
    );
    Ok(())
}

async fn unknown_tasks_are_refused(server: Server) -> Outcome {
    let offer = server.offer().await?;
    let tasks = offer
        .pointer("/capabilities/tasks")
        .ok_or_else(|| Stop::not_applicable("the server has no tasks"))?;
    let mut conversation = server.open().await?;
    let unknown = json!({"taskId": "conformance-no-such-task"});
    let mut requests = vec![("tasks/get", &unknown), ("tasks/result", &unknown)];
    if tasks.get("cancel").is_some() {
        requests.push(("tasks/cancel", &unknown));
    }
    let cursor = json!({"cursor": "no-cursor-of-this-server"});
    if tasks.get("list").is_some() {
        requests.push(("tasks/list", &cursor));
    }
    for (method, params) in requests {
        let response = conversation.request(method, params.clone()).await.map_err(Stop::while_preparing)?;
        expect_code(&response, INVALID_PARAMS, &format!("{method} with `{params}`"))?;
    }
    Ok(())
}

async fn every_task_is_listed(server: Server) -> Outcome {
    server.needs("/tasks/list").await?;
    server.tool("long_task")?;
    let mut conversation = server.open().await?;
    let mut started = Vec::new();
    for _ in 0..3 {
        let task = start(&server, &mut conversation, "long_task").await?;
        started.push(task);
    }
    let (mut listed, mut params): (Vec<Value>, Value) = (Vec::new(), json!({}));
    let mut is_whole = false;
    for _ in 0..MAX_PAGES {
        let page = conversation.ok("tasks/list", params).await.map_err(Stop::while_preparing)?;
        let tasks = page["tasks"].as_array();
        listed.extend(tasks.into_iter().flatten().map(|task| task["taskId"].clone()));
        is_whole = !page["nextCursor"].is_string();
        if is_whole {
            break;
        }
        params = json!({"cursor": page["nextCursor"]});
    }
    if !is_whole {
        return Err(Stop::inconclusive(format!("the server has over {MAX_PAGES} pages of tasks")));
    }
    for task in &started {
        let polled = conversation.request("tasks/get", about(task)).await.map_err(Stop::while_preparing)?;
        ensure!(
            listed.contains(&task["taskId"]) || polled["error"].is_object(),
            "every task that tasks/get finds on the pages of tasks/list",
            "{} is not among {} tasks",
            task["taskId"],
            listed.len()
        );
        abandon(&mut conversation, task).await?;
    }
    Ok(())
}

async fn status_is_no_stream(server: Server) -> Outcome {
    needs_tasks(&server).await?;
    let mut conversation = server.open().await?;
    let task = start(&server, &mut conversation, "task").await?;
    let Link::Streamable(link) = &conversation.link else {
        return Err(Stop::inconclusive("the conversation is not one over Streamable HTTP"));
    };
    let request = json!({"jsonrpc": "2.0", "id": 1, "method": "tasks/get", "params": about(&task)});
    let response = link.post(&request).send().await?;
    ensure!(!response.is_stream(), "a JSON object as the response to tasks/get", "an event stream");
    Ok(())
}
