//! A tool that reports its progress.

use std::time::Duration;

use agentwire_mcp_server::{Context, NoArguments, Server, ToolError};

pub(crate) fn offer(server: Server) -> Server {
    server.tool("test_tool_with_progress", "Reports progress on its way", advance)
}

async fn advance(_: NoArguments, cx: Context) -> Result<&'static str, ToolError> {
    for percent in [0.0, 50.0, 100.0] {
        cx.progress(percent, Some(100.0), Some("on the way")).await?;
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    Ok("Tool with progress executed successfully")
}
