//! The tools that the model may call: those of the session's MCP servers, and two of the agent's own.
//!
//! What comes of a call is an update of the session, so the client shows it, and the next request to the model has it.

use std::future::ready;

use agentwire::acp::sessions::schema::{
    Content, CreateTerminalRequest, ToolCall, ToolCallStatus, ToolCallUpdate, ToolKind,
};
use agentwire::acp::sessions::{Turn, TurnError};
use agentwire::jsonrpc::{self, RawJson};
use agentwire::serde_json::{Value, json};

use crate::endpoint::Call;

/// Describes the tools in the form of OpenAI's API.
pub(crate) async fn list(turn: &Turn) -> Vec<Value> {
    let text = |name: &str| json!({ "type": "object", "properties": { name: { "type": "string" } }, "required": [name] });
    let mut tools = vec![
        tool("read_file", "Read a text file", &text("path")),
        tool("run_command", "Run a shell command and return its output", &text("command")),
    ];
    for hub in turn.mcp().tools().await {
        let description = hub.tool.description.unwrap_or_default();
        tools.push(tool(&hub.name, &description, &json!(hub.tool.input_schema)));
    }
    tools
}

fn tool(name: &str, description: &str, parameters: &Value) -> Value {
    json!({ "type": "function", "function": { "name": name, "description": description, "parameters": parameters } })
}

/// Runs a tool.
///
/// # Errors
///
/// Those that end the turn. Any other is a result for the model.
pub(crate) async fn run(turn: &Turn, call: &Call) -> Result<(), TurnError> {
    let text = if call.arguments.trim().is_empty() { "{}" } else { &call.arguments };
    let Ok(input @ Value::Object(_)) = jsonrpc::read(text) else {
        let wrong = ready(Ok(format!("The arguments are not a JSON object: {text}")));
        return own(turn, call, ToolKind::Other, call.name.clone(), &json!({}), wrong).await;
    };
    let argument = |name: &str| input[name].as_str().unwrap_or_default().to_owned();
    match &*call.name {
        "read_file" => {
            let path = argument("path");
            let work = turn.read_text_file(&path);
            own(turn, call, ToolKind::Read, format!("Read {path}"), &input, work).await
        }
        "run_command" => {
            let command = argument("command");
            let work = run_command(turn, command.clone());
            own(turn, call, ToolKind::Execute, format!("Run `{command}`"), &input, work).await
        }
        name => match turn.call_tool(name, &input).await {
            Err(error @ (TurnError::Cancelled | TurnError::Over | TurnError::Store(_))) => Err(error),
            _ => Ok(()),
        },
    }
}

/// Shows a call, asks for permission where it does more than read, does the work, and shows what came of it.
async fn own(
    turn: &Turn,
    call: &Call,
    kind: ToolKind,
    title: String,
    input: &Value,
    work: impl Future<Output = Result<String, TurnError>>,
) -> Result<(), TurnError> {
    let id = turn.new_tool_call_id();
    let mut shown = ToolCall::new(id.clone(), &*title).name(&*call.name).kind(kind.clone());
    shown.raw_input = RawJson::encode(input).ok();
    turn.update(shown).await?;
    let subject = ToolCallUpdate::new(id.clone()).title(&*title).kind(kind.clone());
    let is_permitted = kind != ToolKind::Execute || turn.permits(&title, subject).await?;
    let (status, text) = match is_permitted {
        true => match work.await {
            Ok(text) => (ToolCallStatus::Completed, text),
            Err(error @ (TurnError::Cancelled | TurnError::Over | TurnError::Store(_))) => return Err(error),
            Err(error) => (ToolCallStatus::Failed, error.to_string()),
        },
        false => (ToolCallStatus::Failed, "The user did not permit this.".to_owned()),
    };
    turn.update_shortened(ToolCallUpdate::new(id).status(status).content([Content::from(text)])).await
}

async fn run_command(turn: &Turn, command: String) -> Result<String, TurnError> {
    let terminal = turn.terminal(CreateTerminalRequest::new(turn.session_id(), command)).await?;
    let exit = terminal.wait().await?;
    let output = terminal.output().await?.output;
    terminal.release().await?;
    Ok(format!("{output}\nexit code {:?}", exit.exit_code))
}
