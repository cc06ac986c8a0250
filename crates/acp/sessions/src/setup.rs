//! The set-up of a session: its directories and its MCP servers.

use std::mem::size_of;
use std::path::{Path, PathBuf};
use std::time::Duration;

use agentwire_acp_agent::Error;
#[cfg(feature = "http")]
use agentwire_acp_schema::v1::HttpHeader;
use agentwire_acp_schema::v1::{McpServer, McpServerStdio};
#[cfg(feature = "http")]
use agentwire_mcp_hub::{HttpKind, HttpTarget};
use agentwire_mcp_hub::{ServerConfig, Target};
use agentwire_transport_stdio::{Command, Stderr};

use crate::settings::Settings;

/// How long a server may take to end after its stdin closes, and again after SIGTERM. Both together are at most as long as
/// a client waits for this agent to end.
const GRACE: Duration = Duration::from_millis(500);

/// How many copies of a directory are kept: by the session, by the header that it writes, and by a store in memory.
const COPIES: usize = 3;

/// The directories and MCP servers of a session, from the request that opens it.
pub(crate) struct Setup {
    /// The working directory, then the additional directories.
    pub(crate) roots: Vec<PathBuf>,
    /// The agent's own servers, then those of the request.
    pub(crate) servers: Vec<ServerConfig>,
}

impl Setup {
    /// Checks the directories and MCP servers of a request. Connects to no server.
    ///
    /// # Errors
    ///
    /// When they are over [`Settings::path_limit`] or [`Settings::setup_limit`], or a server is invalid.
    pub(crate) fn new(
        settings: &Settings,
        cwd: PathBuf,
        directories: Vec<PathBuf>,
        servers: &[McpServer],
    ) -> Result<Self, Error> {
        check(&cwd, &directories, servers, (settings.path_limit, settings.setup_limit))?;
        let mut all = settings.servers.clone();
        all.extend(configs(servers, &cwd)?);
        let roots = std::iter::once(cwd).chain(directories).collect();
        Ok(Self { roots, servers: all })
    }
}

/// Checks how much memory a session's directories and servers take.
///
/// # Errors
///
/// When a directory is longer than `path_limit` bytes, or all together take more than `limit` bytes of memory. The message
/// names the limit, not the path.
fn check(
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
    // Each server that is a process keeps its working directory.
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

/// Estimates the memory of a server's configuration, in bytes.
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
        // A server of an unknown kind is refused.
        _ => 0,
    };
    size_of::<ServerConfig>() + server.name().unwrap_or_default().len() + own
}

/// Converts the servers of a request into the configuration of the hub.
///
/// # Errors
///
/// When one of them is invalid.
fn configs(servers: &[McpServer], cwd: &Path) -> Result<Vec<ServerConfig>, Error> {
    let config = |server: &McpServer| {
        let name = server.name().unwrap_or_default();
        match target(server, cwd) {
            Ok(target) => Ok(ServerConfig::new(name, target)),
            Err(why) => Err(Error::invalid_params(format_args!("mcpServers: {name:?}: {why}"))),
        }
    };
    servers.iter().map(config).collect()
}

/// Returns the command or the URL of a server. A URL of type `http` may lead to a server that has only HTTP+SSE: the user
/// gives the URL, and MCP specifies how to detect the transport (*Backward Compatibility*).
fn target(server: &McpServer, cwd: &Path) -> Result<Target, String> {
    match server {
        McpServer::Stdio(server) => Ok(command(server, cwd).into()),
        #[cfg(feature = "http")]
        McpServer::Http(server) => remote(&server.url, &server.headers, HttpKind::Any),
        #[cfg(feature = "sse")]
        McpServer::Sse(server) => remote(&server.url, &server.headers, HttpKind::Sse),
        // Types that are not advertised have been refused before, with their names.
        _ => Err("it is of a kind not known here".into()),
    }
}

#[cfg(feature = "http")]
fn remote(url: &str, headers: &[HttpHeader], kind: HttpKind) -> Result<Target, String> {
    let target = HttpTarget::new(url).map_err(|why| why.to_string())?.kind(kind);
    let add = |target: HttpTarget, header: &HttpHeader| target.header(&header.name, &header.value);
    headers.iter().try_fold(target, add).map(Target::from).map_err(|why| why.to_string())
}

/// Returns the command that starts a server. Its stderr is captured for the report of a failure.
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
