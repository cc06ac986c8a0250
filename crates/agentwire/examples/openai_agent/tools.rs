//! The tools that the model may call: those of the session's MCP servers, and two of the agent's own.
//!
//! The outcome of a call is an update of the session, so the client shows it, and the next request to the model has it.

use agentwire::acp::sessions::schema::{CreateTerminalRequest, ToolKind};
use agentwire::acp::sessions::{Turn, TurnError};
use agentwire::jsonrpc::{self, RawJson};
use agentwire::serde_json::{self, Value, json};
use serde::Serialize;

use crate::endpoint::Call;

/// A tool in the form of OpenAI's API.
#[derive(Serialize)]
pub(crate) struct Tool {
    r#type: &'static str,
    function: Function,
}

#[derive(Serialize)]
struct Function {
    name: String,
    description: String,
    parameters: RawJson,
}

/// Describes the tools.
pub(crate) async fn list(turn: &Turn) -> Result<Vec<Tool>, serde_json::Error> {
    let text = |name: &str| json!({ "type": "object", "properties": { name: { "type": "string" } }, "required": [name] });
    let mut tools = vec![
        tool("read_file", "Read a text file", &text("path"))?,
        tool("run_command", "Run a shell command and return its output", &text("command"))?,
    ];
    for hub in turn.mcp().tools().await {
        let description = hub.tool.description.unwrap_or_default();
        tools.push(tool(&hub.name, &description, &hub.tool.input_schema)?);
    }
    Ok(tools)
}

fn tool(name: &str, description: &str, parameters: &impl Serialize) -> Result<Tool, serde_json::Error> {
    let (name, description) = (name.to_owned(), description.to_owned());
    let function = Function { name, description, parameters: RawJson::encode(parameters)? };
    Ok(Tool { r#type: "function", function })
}

/// Runs a tool.
///
/// # Errors
///
/// Those that end the turn. Any other is a result for the model.
pub(crate) async fn run(turn: &Turn, call: &Call) -> Result<(), TurnError> {
    let text = if call.arguments.trim().is_empty() { "{}" } else { &call.arguments };
    let ended = match jsonrpc::read(text) {
        Ok(input @ Value::Object(_)) => run_with(turn, &call.name, input).await,
        _ => {
            let why = format!("The arguments are not a JSON object: {text}");
            turn.tool(&*call.name).name(&*call.name).run(async |_| Err::<(), _>(why.into())).await
        }
    };
    match ended {
        Err(error) if error.ends_turn() => Err(error),
        // The call is shown with its error, so the model reads it.
        Ok(()) | Err(_) => Ok(()),
    }
}

async fn run_with(turn: &Turn, name: &str, input: Value) -> Result<(), TurnError> {
    let argument = |name: &str| input[name].as_str().unwrap_or_default().to_owned();
    match name {
        "read_file" => {
            let path = argument("path");
            let tool = turn.tool(format!("Read {path}")).name(name).kind(ToolKind::Read).input(input);
            tool.run(async |_| Ok(turn.read_text_file(&path).await?)).await.map(drop)
        }
        "run_command" => {
            let command = argument("command");
            let tool = turn.tool(format!("Run `{command}`")).name(name).kind(ToolKind::Execute).input(input);
            let ran = tool.ask().run(async |running| {
                let shell = CreateTerminalRequest::new(turn.session_id(), "sh").args(["-c", &command]);
                let terminal = turn.terminal(shell).await?;
                running.show(&terminal).await?; // the user sees the output as it comes
                let ended = terminal.finish().await?;
                Ok(format!("{}\n{}", ended.output, ended.exit_status.unwrap_or_default()))
            });
            ran.await.map(drop)
        }
        name => turn.call_tool(name, input).await.map(drop),
    }
}
