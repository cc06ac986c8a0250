//! `agentwire tools`: lists the tools of a server, or shows one of them.

use agentwire_jsonrpc::{RawJson, did_you_mean};
use agentwire_mcp_client::schema::{JsonSchema, TaskSupport, Tool, ToolAnnotations};
use agentwire_mcp_client::{BoxError, RemoteServer};
use anyhow::Result;

use crate::connect::{Output, with_server};
use crate::failure::Usage;
use crate::mcp::arguments::Tools;
use crate::output::list_line::with_description;
use crate::output::pretty::pretty;
use crate::output::print_json;
use crate::output::signature::signature;
use crate::output::text;
use crate::output::text::quoted;

/// Prints the tools, one a line, or the complete description of one tool.
pub(crate) async fn tools(arguments: Tools, output: Output<'_>) -> Result<()> {
    let json = output.json;
    let Tools { connect, mut words, .. } = arguments;
    let name = words.pop();
    with_server(connect, output, async |server| {
        match &name {
            Some(name) => show(&find(&server, name).await?, json)?,
            // Collects all pages before printing: a list that changes between two pages is read again from its start.
            None => {
                for tool in server.tools().collect().await? {
                    if json {
                        print_json(&tool)?;
                    } else {
                        text::print_line(&tool_line(&tool))?;
                    }
                }
            }
        }
        Ok(())
    })
    .await
}

/// The tool's signature and the first line of its description.
pub(crate) fn tool_line(tool: &Tool) -> String {
    with_description(&signature(tool), tool.description.as_deref())
}

/// The tool with this name.
///
/// # Errors
///
/// If the list cannot be read, or has no such tool.
pub(crate) async fn find(server: &RemoteServer, name: &str) -> Result<Tool, BoxError> {
    let tools = server.tools().collect().await?;
    let position = tools.iter().position(|tool| tool.name == name);
    match position {
        Some(position) => Ok(tools.into_iter().nth(position).expect("the position is one of the list")),
        None => Err(Usage(no_such_tool(name, &tools)).into()),
    }
}

/// The error text for an unknown tool.
pub(crate) fn no_such_tool(name: &str, tools: &[Tool]) -> String {
    let meant = did_you_mean(name, tools.iter().map(|tool| &*tool.name));
    format!("the server has no tool {}{meant}", quoted(name))
}

/// Prints the complete description of a tool.
fn show(tool: &Tool, json: bool) -> std::io::Result<()> {
    if json {
        return print_json(tool);
    }
    text::print_line(&signature(tool))?;
    let title = tool.title.as_deref().or_else(|| tool.annotations.as_ref()?.title.as_deref());
    if let Some(title) = title.filter(|title| tool.description.as_deref().map(str::trim_end) != Some(title)) {
        text::print_line(title)?;
    }
    if let Some(description) = &tool.description {
        text::print(&format!("\n{}", description.trim_end()))?;
    }
    let hints = hints(tool);
    if !hints.is_empty() {
        text::print_line("")?;
        text::print_line(&hints.join(", "))?;
    }
    schema("Input", &tool.input_schema)?;
    match &tool.output_schema {
        Some(output) => schema("Output", output),
        None => Ok(()),
    }
}

fn schema(title: &str, schema: &JsonSchema) -> std::io::Result<()> {
    let json = RawJson::encode(schema).map_err(std::io::Error::other)?;
    text::print(&format!("\n{title}:\n{}", pretty(json.as_str())))
}

/// The server's hints about the behaviour of the tool. They may be wrong.
fn hints(tool: &Tool) -> Vec<&'static str> {
    let none = ToolAnnotations::default();
    let annotations = tool.annotations.as_ref().unwrap_or(&none);
    let support = tool.execution.as_ref().and_then(|execution| execution.task_support.as_ref());
    let rows = [
        (annotations.read_only_hint == Some(true), "only reads"),
        (annotations.destructive_hint == Some(true), "may destroy"),
        (annotations.destructive_hint == Some(false), "destroys nothing"),
        (annotations.idempotent_hint == Some(true), "the same when it is called again"),
        (annotations.open_world_hint == Some(true), "reaches other systems"),
        (annotations.open_world_hint == Some(false), "reaches no other systems"),
        (support == Some(&TaskSupport::Optional), "may run as a task"),
        (support == Some(&TaskSupport::Required), "runs as a task"),
    ];
    rows.into_iter().filter(|(holds, _)| *holds).map(|(_, words)| words).collect()
}
