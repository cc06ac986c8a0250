//! The MCP server on rmcp over HTTP, as its hyper example sets it up (which costs less than axum), with a stored router.
//!
//! `FORM` selects the form of its responses, as for every measured server. In a session rmcp can only send events, so for
//! `session-json` it has no session. It prints its address and exits when its standard input ends.

use std::io::{self, Read, Write};
use std::sync::Arc;

use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto::Builder;
use hyper_util::service::TowerToHyperService;
use rival_mcp::{Burst, Echo};
use rmcp::handler::server::router::tool::ToolRouter;
use rmcp::handler::server::wrapper::Parameters;
use rmcp::model::RequestMetaObject;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use rmcp::{ErrorData, Peer, RoleServer, ServerHandler, tool, tool_handler, tool_router};

#[derive(Clone)]
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

    #[tool(description = "Say n letters")]
    async fn big(&self, Parameters(Burst { n }): Parameters<Burst>) -> String {
        "a".repeat(usize::try_from(n).unwrap_or(0))
    }
}

#[tool_handler(router = self.tool_router)]
impl ServerHandler for Server {}

#[tokio::main]
async fn main() -> io::Result<()> {
    let form = std::env::var("FORM").unwrap_or_default();
    let mut config = StreamableHttpServerConfig::default();
    if form.ends_with("json") {
        config = config.with_legacy_session_mode(false).with_json_response(true);
    }
    let server = Server { tool_router: Server::tool_router() };
    let sessions = Arc::new(LocalSessionManager::default());
    let service = StreamableHttpService::new(move || Ok(server.clone()), sessions, config);
    let service = TowerToHyperService::new(service);
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
    writeln!(io::stdout(), "{}", listener.local_addr()?)?;
    std::thread::spawn(|| {
        let _ = io::stdin().read_to_end(&mut Vec::new());
        std::process::exit(0);
    });
    loop {
        let (stream, _) = listener.accept().await?;
        stream.set_nodelay(true)?;
        let service = service.clone();
        tokio::spawn(async move {
            let builder = Builder::new(TokioExecutor::new());
            let _ = builder.serve_connection(TokioIo::new(stream), service).await;
        });
    }
}
