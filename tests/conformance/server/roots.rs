//! A tool that asks in which folders the client works.

use agentwire_mcp_server::{Context, NoArguments, Server, ToolError};

pub(crate) fn offer(server: Server) -> Server {
    server.tool("test_list_roots", "Lists the client's folders", roots)
}

async fn roots(_: NoArguments, cx: Context) -> Result<String, ToolError> {
    let folders = cx.list_roots().await?;
    let uris: Vec<String> = folders.into_iter().map(|folder| folder.uri).collect();
    Ok(format!("The client works in: {}", uris.join(", ")))
}
