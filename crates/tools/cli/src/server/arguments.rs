//! The command line of `server`.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use super::nodes::NodeOptions;
use super::operations::Pages;
use crate::arguments::values::{address, pause};

#[derive(Debug, Args)]
pub(crate) struct Server {
    #[command(flatten)]
    pub(crate) listen: Listen,
    /// Log each request and notification on stderr: the time, the method, how it ended, and after how many milliseconds; with
    /// --http also each request of HTTP to a path that is served, with its status
    #[arg(long)]
    pub(crate) log: bool,
    /// An authorization server whose tokens are taken, and no request without one; may be given again
    #[arg(long = "issuer", value_name = "URL")]
    pub(crate) issuers: Vec<String>,
    /// The audience in the tokens: the URL of this server, or another name [default: http://ADDR]
    #[arg(long, value_name = "URL", requires = "issuers")]
    pub(crate) audience: Option<String>,
    /// A scope that every request needs; may be given again
    #[arg(long = "scope", value_name = "SCOPE", requires = "issuers")]
    pub(crate) scopes: Vec<String>,
    #[command(flatten)]
    pub(crate) sharing: Sharing,
    #[command(flatten)]
    pub(crate) operations: Operations,
}

#[derive(Debug, Args)]
pub(crate) struct Sharing {
    #[command(flatten)]
    pub(crate) nodes: NodeOptions,
    /// Keep sessions and their streams in a folder, so that they outlive this server; one server at a time has a folder
    #[arg(long, value_name = "DIR", requires = "network")]
    pub(crate) store: Option<PathBuf>,
    /// A file with the key that seals what clients carry, the same for all servers that share; a second line has the key before it, which
    /// still opens. Each is 64 hexadecimal digits, or base64 of 32 bytes. Without --redis and --store the ids of sessions are sealed too:
    /// sessions go on at other servers with the key, and after a restart
    #[arg(long, value_name = "FILE", requires = "network")]
    pub(crate) keys: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct Operations {
    #[command(flatten)]
    pub(crate) pages: Pages,
    /// How many seconds /readyz answers that the server is about to end, after SIGTERM and before it refuses requests: as long as a load
    /// balancer takes to notice
    #[arg(long, value_name = "SECONDS", default_value = "0", value_parser = pause, requires = "network")]
    pub(crate) drain: Duration,
    /// How many seconds requests may take to finish after a signal to end; so may tasks that other nodes can read
    #[arg(long, value_name = "SECONDS", default_value = "5", value_parser = pause, requires = "network")]
    pub(crate) grace: Duration,
}

#[derive(Debug, Args)]
#[group(multiple = false)]
#[command(group = clap::ArgGroup::new("network").args(["http", "sse"]))]
pub(crate) struct Listen {
    /// Serve on stdin and stdout (the default)
    #[arg(long)]
    pub(crate) stdio: bool,
    /// Serve at HOST:PORT, or at PORT of 127.0.0.1, over Streamable HTTP at /mcp and HTTP+SSE at /sse; port 0 is any that is
    /// free
    #[arg(long, value_name = "ADDR", value_parser = address)]
    pub(crate) http: Option<String>,
    /// The same, and name the URL of HTTP+SSE
    #[arg(long, value_name = "ADDR", value_parser = address)]
    pub(crate) sse: Option<String>,
}
