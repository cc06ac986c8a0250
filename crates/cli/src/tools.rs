//! `agentwire tools`: what tools a server has.

use agentwire_mcp_client::schema::Tool;
use anyhow::Result;

use crate::arguments::Tools;
use crate::connect::with_server;
use crate::output::JsonLines;
use crate::text::{self, Notes};

/// Lists them, one a line.
pub(crate) async fn list(arguments: Tools, json: bool, notes: &Notes) -> Result<()> {
    with_server(
        arguments.connect,
        notes,
        |client| client,
        async |server| {
            let mut tools = server.tools();
            while let Some(tool) = tools.try_next().await? {
                if json {
                    JsonLines.print(&tool)?;
                } else {
                    text::print_line(&summary(&tool))?;
                }
            }
            Ok(())
        },
    )
    .await
}

/// The tool's name, its arguments, and the first line of what it says of itself.
fn summary(tool: &Tool) -> String {
    let schema = tool.input_schema.as_map();
    let names = schema.get("properties").and_then(|properties| properties.as_object());
    let names: Vec<_> = names.into_iter().flat_map(|names| names.keys().cloned()).collect();
    let about = tool.description.as_deref().and_then(|text| text.lines().next()).unwrap_or_default();
    format!("{} {{{}}}  {about}", tool.name, names.join(", "))
}
