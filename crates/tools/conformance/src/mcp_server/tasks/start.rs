//! How tasks begin: the calls that may start one, and the response of the server.

use serde_json::{Value, json};

use super::{abandon, as_task, is_status, needs_tasks, start};
use crate::check::{ANY, Check, HTTP, check, shared};
use crate::mcp_server::Server;
use crate::mcp_server::features::{METHOD_NOT_FOUND, expect_code, has_code, readings};
use crate::verdict::{Outcome, Stop, ensure};

pub(in crate::mcp_server) const CHECKS: &[Check<Server>] = &[
    shared!(task_member_is_ignored, ANY),
    check!(task_is_required, ANY),
    check!(tool_without_tasks, ANY),
    check!(task_that_begins, ANY),
    check!(ids_cannot_be_guessed, HTTP),
];

/// The error for an invalid request.
const INVALID_REQUEST: i64 = -32600;
/// An id with fewer characters has too little room for chance: 64 random bits take 11 characters of Base64.
const LEAST_ID: usize = 10;
/// Two random ids differ in more characters than this.
const LEAST_DIFFERENCE: usize = 6;

async fn task_member_is_ignored(server: Server) -> Outcome {
    let offer = server.offer().await?;
    let mut conversation = server.open().await?;
    let mut requests = match readings(&server, &mut conversation).await {
        Err(Stop::NotApplicable(_)) => Vec::new(),
        found => found?,
    };
    if offer.pointer("/capabilities/tasks/requests/tools/call").is_none() {
        match server.any_tool(&mut conversation).await {
            Err(Stop::NotApplicable(_)) => {}
            tool => requests.push(("tools/call", tool?)),
        }
    }
    let mut is_tried = false;
    for (method, params) in requests {
        let plain = conversation.request(method, params.clone()).await.map_err(Stop::while_preparing)?;
        if !plain["result"].is_object() {
            continue;
        }
        is_tried = true;
        let response = conversation.request(method, as_task(&params)).await?;
        let result = &response["result"];
        ensure!(
            result.is_object() && result.get("task").is_none(),
            format!("a normal result of {method} with a task member, for which the server offers no tasks"),
            "`{response}`"
        );
    }
    if is_tried {
        Ok(())
    } else {
        Err(Stop::not_applicable("the server has nothing to read and no plain tool"))
    }
}

/// The support of tasks that a listed tool declares.
fn support(tool: &Value) -> &Value {
    &tool["execution"]["taskSupport"]
}

async fn task_is_required(server: Server) -> Outcome {
    needs_tasks(&server).await?;
    let mut conversation = server.open().await?;
    let tool = match server.tool("task_only") {
        Ok(tool) => tool,
        Err(_) => {
            server.tool_without_arguments(&mut conversation, |tool| support(tool) == "required").await?
        }
    };
    let response = conversation.request("tools/call", tool).await.map_err(Stop::while_preparing)?;
    // The page allows -32600 where every request of a type requires a task.
    if has_code(&response, INVALID_REQUEST) {
        return Ok(());
    }
    expect_code(&response, METHOD_NOT_FOUND, "a call without a task of a tool that requires one")
}

async fn tool_without_tasks(server: Server) -> Outcome {
    needs_tasks(&server).await?;
    let mut conversation = server.open().await?;
    let has_none = |tool: &Value| support(tool).is_null() || support(tool) == "forbidden";
    let tool = server.tool_without_arguments(&mut conversation, has_none).await?;
    let response = conversation.request("tools/call", as_task(&tool)).await.map_err(Stop::while_preparing)?;
    expect_code(&response, METHOD_NOT_FOUND, "a call with a task of a tool that does not support tasks")
}

/// Whether a text is a time as RFC 3339 writes it, up to its zone.
fn is_time(value: &Value) -> bool {
    let pattern = "dddd-dd-ddTdd:dd:dd";
    value.as_str().is_some_and(|text| {
        text.len() > pattern.len()
            && text.chars().zip(pattern.chars()).all(|(char, wanted)| match wanted {
                'd' => char.is_ascii_digit(),
                'T' => matches!(char, 'T' | 't' | ' '),
                _ => char == wanted,
            })
    })
}

fn expect_task(task: &Value) -> Outcome {
    ensure!(task["taskId"].is_string(), "a text as `taskId`", "`{task}`");
    for name in ["createdAt", "lastUpdatedAt"] {
        ensure!(is_time(&task[name]), format!("a time of ISO 8601 as `{name}`"), "`{task}`");
    }
    let ttl = task.get("ttl");
    let is_ttl = ttl.is_some_and(|ttl| ttl.is_null() || ttl.as_u64().is_some());
    ensure!(is_ttl, "milliseconds or null as `ttl`", "`{task}`");
    Ok(())
}

async fn task_that_begins(server: Server) -> Outcome {
    needs_tasks(&server).await?;
    let tool = server.tool("task")?;
    let mut conversation = server.open().await?;
    let mut ids = Vec::new();
    for _ in 0..2 {
        let result = conversation.ok("tools/call", as_task(&tool)).await.map_err(Stop::while_preparing)?;
        let task = &result["task"];
        if !task.is_object() {
            return Err(Stop::inconclusive(format!("`task` of the profile started no task: `{result}`")));
        }
        expect_task(task)?;
        // A task begins with the status working, and may have gone on before the response.
        ensure!(is_status(&task["status"]), "the status `working` of a task that begins", "`{task}`");
        ensure!(!ids.contains(&task["taskId"]), "a unique `taskId`", "`{}` twice", task["taskId"]);
        ids.push(task["taskId"].clone());
    }
    for id in ids {
        let polled = conversation.ok("tasks/get", json!({"taskId": id})).await;
        expect_task(&polled.map_err(Stop::while_preparing)?)?;
    }
    Ok(())
}

/// On stdio only one client can ask for a task.
async fn ids_cannot_be_guessed(server: Server) -> Outcome {
    needs_tasks(&server).await?;
    if !server.hosts.location.headers().is_empty() {
        return Err(Stop::not_applicable("tasks may be bound to the authorization of the profile's headers"));
    }
    server.tool("task")?;
    let mut conversation = server.open().await?;
    let mut ids: Vec<String> = Vec::new();
    for _ in 0..3 {
        let task = start(&server, &mut conversation, "task").await?;
        let id = task["taskId"].as_str().unwrap_or_default().to_owned();
        abandon(&mut conversation, &task).await?;
        ensure!(id.len() >= LEAST_ID, "ids that cannot be guessed", "the id `{id}`");
        for known in &ids {
            let differences = id.bytes().zip(known.bytes()).filter(|(a, b)| a != b).count();
            ensure!(
                differences > LEAST_DIFFERENCE,
                "ids that cannot be guessed from one another",
                "`{known}` and `{id}`"
            );
        }
        ids.push(id);
    }
    Ok(())
}
