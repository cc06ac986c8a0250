//! The whole program of `agent.md`: `my-agent DIRECTORY`, where the directory is for its sessions.

use agentwire::acp::sessions::schema::*;
use agentwire::acp::sessions::{BoxError, FileStore, Turn, TurnError, agent};
use agentwire::serde_json::{self, Value};
use agentwire::stdio::stdio;

/// What the model wants to happen next.
enum Step {
    Say(String),
    Tool(String, Value),
    Run(String),
    Done,
}

/// Stands in for a model: it is given all that was said and done, and does what the person says.
fn model(history: &[SessionUpdate], tools: &[String]) -> Step {
    let is_message = |update: &&SessionUpdate| {
        matches!(update, SessionUpdate::UserMessageChunk(_) | SessionUpdate::AgentMessageChunk(_))
    };
    let last = history.iter().rev().find(is_message);
    // Where the last word is its own, there is nothing more to do.
    let Some(SessionUpdate::UserMessageChunk(asked)) = last else { return Step::Done };
    let asked = asked.content.as_text().unwrap_or_default();
    match asked.split_once(' ') {
        Some(("run", command)) => Step::Run(command.to_owned()),
        Some((tool, arguments)) if tools.iter().any(|name| name == tool) => {
            Step::Tool(tool.to_owned(), serde_json::from_str(arguments).unwrap_or_default())
        }
        _ => Step::Say(format!("Say `run` and a command, or one of these and its arguments: {tools:?}")),
    }
}

async fn run(turn: &Turn, command: String) -> Result<String, TurnError> {
    let plans_only = turn.mode().is_some_and(|mode| mode == "plan");
    if plans_only {
        return Ok(format!("I would run {command}"));
    }
    // The history only grows, so this is the only call of that id.
    let id = format!("run-{}", turn.history().await?.len());
    let call = ToolCall::new(id, format!("Run `{command}`")).kind(ToolKind::Execute);
    turn.update(call.clone()).await?;
    let options = [
        PermissionOption::new("yes", "Run it", PermissionOptionKind::AllowOnce),
        PermissionOption::new("no", "Do not run it", PermissionOptionKind::RejectOnce),
    ];
    let subject = ToolCallUpdate::new(&call.tool_call_id).title(call.title);
    let outcome = turn.request_permission(subject, options).await?;
    if !matches!(outcome, RequestPermissionOutcome::Selected(selected) if selected.option_id == "yes") {
        turn.update(ToolCallUpdate::new(call.tool_call_id).status(ToolCallStatus::Failed)).await?;
        return Ok("Then not.".to_owned());
    }
    let terminal = turn.terminal(CreateTerminalRequest::new(turn.session_id(), command)).await?;
    let shown = ToolCallContent::from(Terminal::new(terminal.id()));
    turn.update(ToolCallUpdate::new(&call.tool_call_id).status(ToolCallStatus::InProgress).content([shown]))
        .await?;
    terminal.wait().await?;
    let output = terminal.output().await?.output;
    turn.update(ToolCallUpdate::new(call.tool_call_id).status(ToolCallStatus::Completed)).await?;
    terminal.release().await?;
    Ok(output)
}

async fn answer(turn: Turn) -> Result<StopReason, BoxError> {
    let tools: Vec<_> = turn.mcp().tools().await.into_iter().map(|tool| tool.name).collect();
    loop {
        match model(&turn.history().await?, &tools) {
            Step::Say(text) => turn.say(text).await?,
            Step::Tool(name, arguments) => match turn.call_tool(name, arguments).await {
                Ok(result) => turn.say(result.text().into_owned()).await?,
                // A tool that fails is the model's business, not the end of the turn.
                Err(error) if !error.is_cancelled() => turn.say(error.to_string()).await?,
                Err(error) => return Err(error.into()),
            },
            Step::Run(command) => {
                let output = run(&turn, command).await?;
                turn.say(output).await?;
            }
            Step::Done => break,
        }
    }
    if turn.current_title().is_none() {
        turn.title(Some(turn.text())).await?; // what lists of sessions show
    }
    Ok(StopReason::EndTurn)
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let sessions = std::env::args_os().nth(1).ok_or("usage: my-agent DIRECTORY")?;
    let modes = SessionModeState::new(
        "act",
        [SessionMode::new("act", "Act"), SessionMode::new("plan", "Only say what it would do")],
    );
    agent(answer)
        .info(Implementation::new("my-agent", env!("CARGO_PKG_VERSION")))
        .modes(modes)
        .store(FileStore::open(sessions)?)
        .on_warning(|warning| eprintln!("{warning}"))
        .serve(stdio()?)
        .await?;
    Ok(())
}
