//! The whole program of `agent.md`: `my-agent DIRECTORY`, where the directory is for its sessions.

use agentwire::acp::sessions::schema::*;
use agentwire::acp::sessions::{BoxError, FileStore, Message, RunningToolCall, Turn, TurnError, agent};
use agentwire::serde_json::{self, Value};
use agentwire::stdio::stdio;

/// How often the model may act in one turn.
const MAX_STEPS: usize = 50;

/// The next step that the model requests.
enum Step {
    Say(String),
    Tool(String, Value),
    Run(String),
    Done,
}

/// A stand-in for a model: gets the conversation, and follows the person's words.
fn model(messages: &[Message], tools: &[String]) -> Step {
    let asked = match messages.last() {
        Some(Message::User(user)) => user.text(),
        // Its tool has run, so it reports the result. After a message of its own, nothing is left to do.
        Some(Message::Assistant(said)) => match said.tool_uses.last() {
            Some(call) if call.result.text().trim().is_empty() => return Step::Say("It is done.".to_owned()),
            Some(call) => return Step::Say(call.result.text()),
            None => return Step::Done,
        },
        _ => return Step::Done,
    };
    match asked.split_once(' ') {
        Some(("run", command)) => Step::Run(command.to_owned()),
        Some((tool, arguments)) if tools.iter().any(|name| name == tool) => {
            Step::Tool(tool.to_owned(), serde_json::from_str(arguments).unwrap_or_default())
        }
        _ => Step::Say(format!("Say `run` and a command, or one of these and its arguments: {tools:?}")),
    }
}

/// A tool of the agent's own, which the person is asked about.
async fn run(turn: &Turn, command: String) -> Result<(), TurnError> {
    let call = turn.tool(format!("Run `{command}`")).name("run").kind(ToolKind::Execute);
    let call = call.input(serde_json::json!({ "command": command }));
    let run = async |call: RunningToolCall| {
        let shell = CreateTerminalRequest::new(turn.session_id(), "sh").args(["-c", &command]);
        let terminal = turn.terminal(shell).await?;
        call.show(&terminal).await?;
        Ok(terminal.finish().await?.output)
    };
    call.ask().run(run).await.map(drop)
}

async fn answer(turn: Turn) -> Result<StopReason, BoxError> {
    let plans_only = turn.mode().is_some_and(|mode| mode == "plan");
    let tools = turn.unless_cancelled(turn.mcp().tools()).await?;
    let tools: Vec<_> = tools.into_iter().map(|tool| tool.name).collect();
    for _ in 0..MAX_STEPS {
        let outcome = match model(&turn.messages().await?, &tools) {
            Step::Say(text) => turn.say(text).await,
            Step::Tool(name, arguments) => turn.call_tool(name, arguments).await.map(drop),
            Step::Run(command) if plans_only => turn.say(format!("I would run {command}")).await,
            Step::Run(command) => run(&turn, command).await,
            Step::Done => break,
        };
        match outcome {
            Ok(()) => {}
            Err(error) if error.ends_turn() => return Err(error.into()),
            Err(TurnError::NotPermitted { .. }) => turn.say("Then not.").await?,
            // A tool that fails is the model's business: the messages have the error as its result.
            Err(_) => {}
        }
    }
    if turn.current_title().is_none() {
        turn.title(Some(turn.text())).await?; // what lists of sessions show
    }
    Ok(StopReason::EndTurn)
}

#[tokio::main]
async fn main() -> Result<(), BoxError> {
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
