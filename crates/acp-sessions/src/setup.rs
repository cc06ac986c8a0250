//! What a session is set up with: its MCP servers.

use std::path::Path;
use std::time::Duration;

use agentwire_acp_agent::Error;
use agentwire_acp_schema::v1::{HttpHeader, McpServer, McpServerStdio};
use agentwire_mcp_hub::{HttpKind, HttpTarget, ServerConfig, Target};
use agentwire_transport_stdio::{Command, Stderr};

/// How long a server may take to end when its stdin does, and again when it is asked to. A client that ends us
/// waits no longer for both than it waits for a server of its own.
const GRACE: Duration = Duration::from_millis(500);

/// The servers that a client listed, as the hub knows them.
///
/// # Errors
///
/// When one of them cannot be a server, which is said of the request: nothing is connected to yet.
pub(crate) fn servers(servers: &[McpServer], cwd: &Path) -> Result<Vec<ServerConfig>, Error> {
    let config = |server: &McpServer| {
        let name = server.name().unwrap_or_default();
        match target(server, cwd) {
            Ok(target) => Ok(ServerConfig::new(name, target)),
            Err(why) => Err(Error::invalid_params(format_args!("mcpServers: {name:?}: {why}"))),
        }
    };
    servers.iter().map(config).collect()
}

/// Where a server is. One of the type `http` may be at a URL that only has the older transport: clients take a URL
/// from their user and cannot know, and MCP says how to find out.
fn target(server: &McpServer, cwd: &Path) -> Result<Target, String> {
    match server {
        McpServer::Stdio(server) => Ok(command(server, cwd).into()),
        McpServer::Http(server) => remote(&server.url, &server.headers, HttpKind::Any),
        McpServer::Sse(server) => remote(&server.url, &server.headers, HttpKind::Sse),
        _ => Err("it is of a kind not known here".into()),
    }
}

fn remote(url: &str, headers: &[HttpHeader], kind: HttpKind) -> Result<Target, String> {
    let target = HttpTarget::new(url).map_err(|why| why.to_string())?.kind(kind);
    let add = |target: HttpTarget, header: &HttpHeader| target.header(&header.name, &header.value);
    headers.iter().try_fold(target, add).map(Target::from).map_err(|why| why.to_string())
}

/// How a server is started. What it says on stderr is kept for the case that it fails.
fn command(server: &McpServerStdio, cwd: &Path) -> Command {
    let mut command = Command::new(&server.command)
        .args(&server.args)
        .current_dir(cwd)
        .stderr(Stderr::Capture)
        .grace(GRACE);
    for variable in &server.env {
        command = command.env(&variable.name, &variable.value);
    }
    command
}
