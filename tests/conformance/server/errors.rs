//! The two ways in which a tool fails: so that the model sees it, and so that the protocol does.

use agentwire_mcp_server::schema::code::MissingCapabilities;
use agentwire_mcp_server::schema::{ClientCapabilities, SamplingCapability};
use agentwire_mcp_server::{Context, NoArguments, Server, ToolError};

pub(crate) fn offer(server: Server) -> Server {
    server.tool("test_error_handling", "Always fails", fail).tool(
        "test_missing_capability",
        "Refuses clients that cannot sample",
        need_sampling,
    )
}

async fn fail(_: NoArguments, _: Context) -> Result<String, ToolError> {
    Err(ToolError::new("This tool intentionally returns an error for testing"))
}

async fn need_sampling(_: NoArguments, cx: Context) -> Result<&'static str, ToolError> {
    if cx.client().capabilities().sampling.is_some() {
        return Ok("The client can sample.");
    }
    let mut required = ClientCapabilities::default();
    required.sampling = Some(SamplingCapability::default());
    Err(ToolError::protocol(MissingCapabilities::new(required).into()))
}
