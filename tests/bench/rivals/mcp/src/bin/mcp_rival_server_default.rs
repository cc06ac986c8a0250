//! The MCP server on rmcp as its examples set it up: `stdio()`, the threaded runtime, and the router that the macro builds
//! again for each call.

use rival_mcp::{Burst, Echo, with_more_tools};
use rmcp::handler::server::router::tool::ToolRouter;
use rmcp::handler::server::wrapper::Parameters;
use rmcp::model::RequestMetaObject;
use rmcp::transport::stdio;
use rmcp::{ErrorData, Peer, RoleServer, ServerHandler, ServiceExt, tool, tool_handler, tool_router};

struct Server;

#[tool_router(router = two_tools)]
impl Server {
    #[tool(description = "Say it again")]
    async fn echo(&self, Parameters(Echo { text }): Parameters<Echo>) -> String {
        text
    }

    #[tool(description = "Report progress n times")]
    async fn burst(
        &self,
        Parameters(Burst { n }): Parameters<Burst>,
        meta: RequestMetaObject,
        client: Peer<RoleServer>,
    ) -> Result<String, ErrorData> {
        rival_mcp::burst(n, meta, client).await
    }
}

impl Server {
    /// Stands for the function that the macro makes out of all the tools of an impl block.
    fn tool_router() -> ToolRouter<Self> {
        with_more_tools(Self::two_tools())
    }
}

#[tool_handler]
impl ServerHandler for Server {}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    Server.serve(stdio()).await?.waiting().await?;
    Ok(())
}
