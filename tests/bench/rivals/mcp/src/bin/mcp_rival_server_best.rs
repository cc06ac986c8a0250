//! The MCP server on rmcp as it measures best: the opt-in non-blocking pipes, a stored router, no line limit in the way of
//! a large argument. `THREADS=1` runs it on one thread, which is better for some rows and worse for others.

use rival_mcp::{Burst, Echo, with_more_tools};
use rmcp::handler::server::router::tool::ToolRouter;
use rmcp::handler::server::wrapper::Parameters;
use rmcp::model::RequestMetaObject;
use rmcp::transport::async_rw::AsyncRwTransport;
use rmcp::transport::io::stdio_pipes;
use rmcp::{ErrorData, Peer, RoleServer, ServerHandler, ServiceExt, tool, tool_handler, tool_router};
use tokio::runtime::Builder;

struct Server {
    tool_router: ToolRouter<Self>,
}

#[tool_router]
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

#[tool_handler(router = self.tool_router)]
impl ServerHandler for Server {}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let one_thread = std::env::var("THREADS").is_ok_and(|threads| threads == "1");
    let mut builder = if one_thread { Builder::new_current_thread() } else { Builder::new_multi_thread() };
    builder.enable_all().build()?.block_on(async {
        let (read, write) = stdio_pipes();
        let transport = AsyncRwTransport::new_server(read, write).with_max_line_length(usize::MAX);
        let server = Server { tool_router: with_more_tools(Server::tool_router()) };
        server.serve(transport).await?.waiting().await?;
        Ok(())
    })
}
