//! The commands in a prompt.

use agentwire_acp_schema::v1::unstable::MessageMcpResponse;
use agentwire_acp_schema::{v1, v2};
use agentwire_acp_sessions::schema::{
    CreateTerminalRequest, PermissionOption, PermissionOptionKind, RequestPermissionOutcome, SessionUpdate,
    StopReason, ToolCallUpdate,
};
use agentwire_acp_sessions::{BoxError, PermissionPolicy, Turn, TurnError};
use serde_json::{Value, json};

use crate::mcp_over_acp::{self, Servers};

/// Executes each line of a prompt. Any other line is sent back.
pub(crate) async fn run(turn: Turn, servers: Servers) -> Result<StopReason, BoxError> {
    let text = turn.text();
    for line in text.lines() {
        let (command, rest) = line.split_once(' ').unwrap_or((line, ""));
        match command {
            "say" => turn.say(rest).await?,
            "think" => turn.think(rest).await?,
            "wait" => {
                turn.say("waiting").await?;
                turn.cancelled().await;
            }
            "fail" => return Err(rest.into()),
            "title" => turn.title(Some(rest.to_owned())).await?,
            "mode" => turn.set_mode(rest).await?,
            "usage" => {
                let cost = json!({"amount": 0.25, "currency": "EUR"});
                update(
                    &turn,
                    json!({"sessionUpdate": "usage_update", "used": 10, "size": 1000, "cost": cost}),
                )
                .await?;
            }
            "notice" => {
                let notice = json!({"sessionUpdate": "notice", "severity": "info", "title": "Take note"});
                attempt(&turn, update(&turn, notice).await).await?;
            }
            "compaction" => attempt(&turn, compact(&turn).await).await?,
            "plan" => plan(&turn).await?,
            "tool" => tool(&turn).await?,
            "permission" => permission(&turn).await?,
            "read" => {
                let read = turn.read_text_file(rest).await;
                attempt(&turn, read).await?;
            }
            "write" => {
                let (path, text) = rest.split_once(' ').unwrap_or((rest, "text"));
                let written = turn.write_text_file(path, text).await;
                attempt(&turn, written).await?;
            }
            "terminal" => {
                let ran = terminal(&turn, rest).await;
                attempt(&turn, ran).await?;
            }
            "ask" => ask(&turn, json!({"mode": "form", "requestedSchema": schema()})).await?,
            "visit" => {
                let mode =
                    json!({"mode": "url", "elicitationId": "visit-1", "url": "https://example.com/visit"});
                ask(&turn, mode).await?;
            }
            "mcp" => {
                let (tool, text) = rest.split_once(' ').unwrap_or((rest, "text"));
                if let Some(server) = servers.of(turn.session_id()) {
                    let called = call_over_acp(&turn, &server, tool, text).await;
                    attempt(&turn, called).await?;
                } else {
                    let call =
                        turn.call_tool(tool, json!({"text": text})).permissions(PermissionPolicy::Allow);
                    let called = call.await;
                    attempt(&turn, called).await?;
                }
            }
            "roots" => turn.say(format!("{:?}", turn.roots())).await?,
            _ => turn.say(line).await?,
        }
    }
    Ok(StopReason::EndTurn)
}

/// Sends the fault, unless the turn is over.
async fn attempt<T>(turn: &Turn, outcome: Result<T, TurnError>) -> Result<(), TurnError> {
    match outcome {
        Ok(_) => turn.say("done").await,
        Err(error) if error.ends_turn() => Err(error),
        Err(error) => turn.say(format!("error: {}", BoxError::from(error))).await,
    }
}

async fn update(turn: &Turn, update: Value) -> Result<(), TurnError> {
    match serde_json::from_value::<SessionUpdate>(update) {
        Ok(update) => turn.update(update).await,
        Err(error) => turn.say(format!("error: {error}")).await,
    }
}

async fn compact(turn: &Turn) -> Result<(), TurnError> {
    let summary = json!([{"type": "text", "text": "All of it"}]);
    for update in [
        json!({"sessionUpdate": "compaction_update", "compactionId": "c", "status": "in_progress"}),
        json!({"sessionUpdate": "compaction_update", "compactionId": "c", "status": "completed", "summary": summary}),
    ] {
        self::update(turn, update).await?;
    }
    Ok(())
}

async fn plan(turn: &Turn) -> Result<(), TurnError> {
    for status in ["pending", "in_progress", "completed"] {
        let entries = json!([
            {"content": "First", "priority": "high", "status": "completed"},
            {"content": "Second", "priority": "low", "status": status},
        ]);
        update(turn, json!({"sessionUpdate": "plan", "entries": entries})).await?;
    }
    Ok(())
}

/// A tool call with a location and a diff.
async fn tool(turn: &Turn) -> Result<(), TurnError> {
    let (id, path) = (turn.new_tool_call_id(), turn.cwd().join("file.txt"));
    let locations = json!([{"path": path, "line": 1}]);
    let content = json!([
        {"type": "diff", "path": path, "oldText": "one\n", "newText": "two\n"},
        {"type": "content", "content": {"type": "text", "text": "changed"}},
    ]);
    for update in [
        json!({"sessionUpdate": "tool_call", "toolCallId": id, "title": "Change a file", "kind": "edit",
            "name": "edit", "status": "pending", "locations": locations}),
        json!({"sessionUpdate": "tool_call_update", "toolCallId": id, "status": "in_progress"}),
        json!({"sessionUpdate": "tool_call_update", "toolCallId": id, "status": "completed", "content": content}),
    ] {
        self::update(turn, update).await?;
    }
    Ok(())
}

/// A tool call that completes only if the user allows it.
async fn permission(turn: &Turn) -> Result<(), TurnError> {
    let id = turn.new_tool_call_id();
    let call = json!({"sessionUpdate": "tool_call", "toolCallId": id, "title": "Do it", "status": "pending"});
    update(turn, call).await?;
    let options = vec![
        PermissionOption::new("yes", "Yes", PermissionOptionKind::AllowOnce),
        PermissionOption::new("no", "No", PermissionOptionKind::RejectOnce),
    ];
    let outcome = turn.request_permission(ToolCallUpdate::new(id.clone()), options).await;
    let allowed = match &outcome {
        Ok(RequestPermissionOutcome::Selected(option)) => *option.option_id == *"yes",
        Err(error) if error.ends_turn() => return outcome.map(drop),
        _ => false,
    };
    let statuses: &[&str] = if allowed { &["in_progress", "completed"] } else { &["failed"] };
    for status in statuses {
        update(turn, json!({"sessionUpdate": "tool_call_update", "toolCallId": id, "status": status}))
            .await?;
    }
    Ok(())
}

/// A command in a terminal that a tool call shows.
async fn terminal(turn: &Turn, command: &str) -> Result<(), TurnError> {
    let id = turn.new_tool_call_id();
    let request = CreateTerminalRequest::new(turn.session_id(), "sh").args(["-c", command]);
    let terminal = turn.terminal(request).await?;
    let content = json!([{"type": "terminal", "terminalId": terminal.id()}]);
    let call = json!({"sessionUpdate": "tool_call", "toolCallId": id, "title": command, "kind": "execute",
        "status": "in_progress", "content": content});
    update(turn, call).await?;
    let ended = terminal.wait().await;
    terminal.output().await?;
    terminal.release().await?;
    let status = if ended?.exit_code == Some(0) { "completed" } else { "failed" };
    update(turn, json!({"sessionUpdate": "tool_call_update", "toolCallId": id, "status": status})).await
}

/// Calls a tool of the client's MCP server, and shows what it returns.
async fn call_over_acp(turn: &Turn, server: &str, tool: &str, text: &str) -> Result<(), TurnError> {
    let id = turn.new_tool_call_id();
    let call =
        json!({"sessionUpdate": "tool_call", "toolCallId": id, "title": tool, "status": "in_progress"});
    update(turn, call).await?;
    let (status, blocks) = match mcp_over_acp::call_tool(turn, server, tool, text).await? {
        MessageMcpResponse::Result { result, .. } => {
            let result: Value = serde_json::from_str(result.as_str()).unwrap_or_default();
            ("completed", result["content"].as_array().cloned().unwrap_or_default())
        }
        MessageMcpResponse::Error { error, .. } => {
            ("failed", vec![json!({"type": "text", "text": error.message})])
        }
        _ => ("failed", Vec::new()),
    };
    let content: Vec<Value> =
        blocks.into_iter().map(|block| json!({"type": "content", "content": block})).collect();
    let done =
        json!({"sessionUpdate": "tool_call_update", "toolCallId": id, "status": status, "content": content});
    update(turn, done).await
}

fn schema() -> Value {
    json!({"type": "object", "properties": {"name": {"type": "string", "title": "Name"}}, "required": ["name"]})
}

/// Asks the user for input, and sends the user's response.
async fn ask(turn: &Turn, mut mode: Value) -> Result<(), BoxError> {
    mode["sessionId"] = json!(turn.session_id());
    let id = mode["elicitationId"].as_str().map(str::to_owned);
    let answer = if let Some(client) = turn.client().v1() {
        let request =
            v1::CreateElicitationRequest::new("Well?", serde_json::from_value::<v1::ElicitationMode>(mode)?);
        let answer = turn.unless_cancelled(client.create_elicitation(request)).await?;
        answer.map(|answer| json!(answer))
    } else if let Some(client) = turn.client().v2() {
        let request =
            v2::CreateElicitationRequest::new("Well?", serde_json::from_value::<v2::ElicitationMode>(mode)?);
        let answer = turn.unless_cancelled(client.create_elicitation(request)).await?;
        answer.map(|answer| json!(answer))
    } else {
        return Ok(());
    };
    match answer {
        Ok(answer) => {
            if let Some(id) = id.filter(|_| answer["action"] == "accept") {
                complete(turn, &id).await?;
            }
            let action = answer["action"].as_str().unwrap_or_default();
            // An unknown action counts as `cancel`.
            let known = ["accept", "decline", "cancel"].into_iter().find(|known| *known == action);
            let name = answer["content"]["name"].as_str().filter(|_| known == Some("accept"));
            turn.say(format!("{} {}", known.unwrap_or("cancel"), name.unwrap_or_default())).await?;
        }
        Err(error) => turn.say(format!("error: {}", BoxError::from(error))).await?,
    }
    Ok(())
}

async fn complete(turn: &Turn, id: &str) -> Result<(), BoxError> {
    if let Some(client) = turn.client().v1() {
        client.complete_elicitation(v1::CompleteElicitationNotification::new(id)).await?;
    } else if let Some(client) = turn.client().v2() {
        client.complete_elicitation(v2::CompleteElicitationNotification::new(id)).await?;
    }
    Ok(())
}
