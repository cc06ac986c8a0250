//! Programs under test: how they are started or reached.

pub(crate) mod driver;
pub(crate) mod location;
pub(crate) mod played;

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::requirements::protocol::Protocol;
use crate::requirements::requirement::Role;

/// The protocol and the party of a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum SubjectKind {
    /// An agent of ACP; the suite is the client.
    AcpAgent,
    /// A client of ACP; the suite is the agent.
    AcpClient,
    /// A proxy of ACP; the suite is the conductor.
    AcpProxy,
    /// A conductor of ACP; the suite is the client and both components, a proxy and an agent.
    AcpConductor,
    /// A server of MCP; the suite is the client.
    McpServer,
    /// A client of MCP; the suite is the server.
    McpClient,
}

impl SubjectKind {
    /// All of them.
    pub const ALL: &[Self] = &[
        Self::AcpAgent,
        Self::AcpClient,
        Self::AcpProxy,
        Self::AcpConductor,
        Self::McpServer,
        Self::McpClient,
    ];

    /// The protocol that it speaks.
    pub const fn protocol(self) -> Protocol {
        match self {
            Self::AcpAgent | Self::AcpClient | Self::AcpProxy | Self::AcpConductor => Protocol::Acp,
            Self::McpServer | Self::McpClient => Protocol::Mcp,
        }
    }

    /// Its party.
    pub const fn role(self) -> Role {
        match self {
            Self::AcpAgent => Role::Agent,
            Self::AcpClient | Self::McpClient => Role::Client,
            Self::AcpProxy => Role::Proxy,
            Self::AcpConductor => Role::Conductor,
            Self::McpServer => Role::Server,
        }
    }

    /// As the command line writes it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::AcpAgent => "acp-agent",
            Self::AcpClient => "acp-client",
            Self::AcpProxy => "acp-proxy",
            Self::AcpConductor => "acp-conductor",
            Self::McpServer => "mcp-server",
            Self::McpClient => "mcp-client",
        }
    }
}

impl fmt::Display for SubjectKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The transport of a conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Transport {
    /// Lines on standard input and output.
    Stdio,
    /// Streamable HTTP: of MCP, with or without sessions, or of ACP.
    Http,
    /// The HTTP+SSE transport of MCP's first revision.
    Sse,
    /// WebSocket, for ACP.
    Ws,
}

impl Transport {
    /// All of them.
    pub const ALL: &[Self] = &[Self::Stdio, Self::Http, Self::Sse, Self::Ws];

    /// As the command line writes it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Stdio => "stdio",
            Self::Http => "http",
            Self::Sse => "sse",
            Self::Ws => "ws",
        }
    }
}

impl fmt::Display for Transport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Transport {
    type Err = UnknownTransport;

    fn from_str(text: &str) -> Result<Self, UnknownTransport> {
        let known = Self::ALL.iter().copied().find(|transport| transport.as_str() == text);
        known.ok_or_else(|| UnknownTransport(text.into()))
    }
}

/// A text that names no transport.
#[derive(Debug, Clone, thiserror::Error)]
#[error("no transport is called {0:?}; there are stdio, http, sse (for MCP) and ws (for ACP)")]
pub struct UnknownTransport(String);

/// A program, its arguments and its surroundings.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct CommandLine {
    /// The program.
    pub program: String,
    /// Its arguments.
    pub arguments: Vec<String>,
    /// Variables that are added to the environment.
    pub env: Vec<(String, String)>,
    /// The folder in which it is started; without one, the suite's own.
    pub folder: Option<PathBuf>,
}

impl CommandLine {
    /// From a program and its arguments; nothing if there is no program.
    pub fn new(words: impl IntoIterator<Item = impl Into<String>>) -> Option<Self> {
        let mut words = words.into_iter().map(Into::into);
        let program = words.next()?;
        Some(Self { program, arguments: words.collect(), env: Vec::new(), folder: None })
    }

    /// Adds a variable.
    #[must_use]
    pub fn env(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.env.push((name.into(), value.into()));
        self
    }

    /// Starts it in a folder.
    #[must_use]
    pub fn folder(mut self, folder: impl Into<PathBuf>) -> Self {
        self.folder = Some(folder.into());
        self
    }

    /// Replaces placeholders such as `{target}` in each argument.
    #[must_use]
    pub fn filled(&self, values: &[(&str, &str)]) -> Self {
        let fill = |word: &String| {
            values
                .iter()
                .fold(word.clone(), |word, (name, value)| word.replace(&format!("{{{name}}}"), value))
        };
        Self {
            program: fill(&self.program),
            arguments: self.arguments.iter().map(fill).collect(),
            ..self.clone()
        }
    }
}

impl fmt::Display for CommandLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words = std::iter::once(self.program.as_str()).chain(self.arguments.iter().map(String::as_str));
        f.write_str(&shell_words::join(words))
    }
}

/// The location of a program.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Target {
    /// It is started.
    Command(CommandLine),
    /// It runs already.
    Url(String),
}

/// Without the values of a URL's query, which may be secret.
impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Command(command) => command.fmt(f),
            Self::Url(url) => f.write_str(&shown_url(url)),
        }
    }
}

/// A URL without the values of its query.
fn shown_url(url: &str) -> String {
    match url.split_once('?') {
        Some((before, query)) => {
            let names: Vec<&str> = query.split('&').map(name).collect();
            format!("{before}?{}", names.join("&"))
        }
        None => url.to_owned(),
    }
}

/// The name in a pair of a query, with its equals sign. A pair without one may be a secret as a whole.
fn name(pair: &str) -> &str {
    pair.find('=').map_or("…", |at| &pair[..=at])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_is_shown_without_what_may_be_secret() {
        assert_eq!(shown_url("https://host:1/a?key=secret&flag&other="), "https://host:1/a?key=&…&other=");
        assert_eq!(shown_url("http://host/mcp"), "http://host/mcp");
    }
}
