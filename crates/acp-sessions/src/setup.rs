//! What a session is set up with: its directories and its MCP servers.

use std::mem::size_of;
use std::path::{Path, PathBuf};
use std::time::Duration;

use agentwire_acp_agent::Error;
use agentwire_acp_schema::v1::{HttpHeader, McpServer, McpServerStdio};
use agentwire_mcp_hub::{HttpKind, HttpTarget, ServerConfig, Target};
use agentwire_transport_stdio::{Command, Stderr};

/// How long a server may take to end when its stdin does, and again when it is asked to. A client that ends us
/// waits no longer for both than it waits for a server of its own.
const GRACE: Duration = Duration::from_millis(500);

/// How often a directory is kept: by the session, by the header that it writes, and by a store in memory.
const COPIES: usize = 3;

/// Checks how much a client wants to be kept of a session's directories and servers.
///
/// # Errors
///
/// When a directory is longer than `path_limit` bytes, or all takes more than `limit` bytes of memory. The message names the
/// limit, not the path.
pub(crate) fn check(
    cwd: &Path,
    directories: &[PathBuf],
    servers: &[McpServer],
    (path_limit, limit): (usize, usize),
) -> Result<(), Error> {
    let mut all = std::iter::once(("cwd", cwd))
        .chain(directories.iter().map(|path| ("additionalDirectories", path.as_path())));
    if let Some((what, path)) = all.find(|(_, path)| path.as_os_str().len() > path_limit) {
        let bytes = path.as_os_str().len();
        let why = format!("{what}: a path has {bytes} bytes, and the limit of a path is {path_limit}");
        return Err(Error::invalid_params(why));
    }
    let directory = |path: &Path| size_of::<PathBuf>() + path.as_os_str().len();
    let directories: usize = directories.iter().map(|path| directory(path)).sum();
    // Each server that is a process keeps where it starts.
    let servers: usize = servers.iter().map(|server| memory(server) + directory(cwd)).sum();
    let bytes = COPIES * (directory(cwd) + directories) + servers;
    if bytes > limit {
        return Err(Error::invalid_params(format_args!(
            "cwd, additionalDirectories and mcpServers take {bytes} bytes of memory, and the limit of a session's set-up is \
             {limit}"
        )));
    }
    Ok(())
}

/// About how much memory a server's configuration takes, in bytes.
fn memory(server: &McpServer) -> usize {
    let text = |text: &str| size_of::<String>() + text.len();
    let pair = |name: &str, value: &str| text(name) + text(value);
    let own: usize = match server {
        McpServer::Stdio(server) => {
            let arguments: usize = server.args.iter().map(|argument| text(argument)).sum();
            let environment: usize = server.env.iter().map(|one| pair(&one.name, &one.value)).sum();
            server.command.len() + arguments + environment
        }
        McpServer::Http(server) => {
            text(&server.url) + server.headers.iter().map(|one| pair(&one.name, &one.value)).sum::<usize>()
        }
        McpServer::Sse(server) => {
            text(&server.url) + server.headers.iter().map(|one| pair(&one.name, &one.value)).sum::<usize>()
        }
        // It is refused.
        _ => 0,
    };
    size_of::<ServerConfig>() + server.name().unwrap_or_default().len() + own
}

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
