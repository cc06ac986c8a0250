//! The messages of a tool to the client's log.

use std::time::Duration;

use agentwire_mcp_server::schema::LoggingLevel;
use agentwire_mcp_server::{Context, NoArguments, Server, ToolError};

pub(crate) fn offer(server: Server) -> Server {
    server.logging(LoggingLevel::Info).tool("test_tool_with_logging", "Logs while it works", log).tool(
        "test_logging_tool",
        "Logs while it works, for clients that asked for it in the call",
        log,
    )
}

async fn log(_: NoArguments, cx: Context) -> Result<&'static str, ToolError> {
    cx.log(LoggingLevel::Info, Some("everything"), "Tool execution started").await?;
    tokio::time::sleep(Duration::from_millis(50)).await;
    cx.log(LoggingLevel::Info, Some("everything"), "Tool processing data").await?;
    tokio::time::sleep(Duration::from_millis(50)).await;
    cx.log(LoggingLevel::Info, Some("everything"), "Tool execution completed").await?;
    Ok("Tool with logging executed successfully")
}
