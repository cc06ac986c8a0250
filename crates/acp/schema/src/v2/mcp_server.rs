//! The entries of `mcpServers` in `session/new` and `session/resume`. Each entry has a `type`, also for stdio.

use std::borrow::Cow;

use agentwire_wire_derive::{Build, Wire};

use super::AbsolutePath;
use crate::common::{EnvVariable, HttpHeader, Meta, read_pairs};

/// An MCP server for a session, and how to connect to it.
///
/// See <https://agentclientprotocol.com/protocol/v2/session-setup#mcp-servers>.
#[derive(Clone, Debug, PartialEq, Wire)]
#[wire(tag = "type")]
#[non_exhaustive]
pub enum McpServer {
    /// Streamable HTTP; only where the agent has the capability `session.mcp.http`.
    #[wire("http", from)]
    Http(McpServerHttp),
    /// A program to start; only where the agent has the capability `session.mcp.stdio`.
    #[wire("stdio", from)]
    Stdio(McpServerStdio),
    /// A server of a type that this version does not know: the whole object. An agent refuses a request with one.
    #[wire(unknown)]
    Unknown(Meta),
}

impl McpServer {
    /// Returns its name; none only if an unknown type has no `name`.
    pub fn name(&self) -> Option<Cow<'_, str>> {
        match self {
            Self::Http(server) => Some(Cow::Borrowed(&server.name)),
            Self::Stdio(server) => Some(Cow::Borrowed(&server.name)),
            Self::Unknown(object) => object.text("name"),
        }
    }
}

/// An MCP server behind Streamable HTTP.
#[derive(Clone, Debug, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct McpServerHttp {
    /// Its name.
    #[wire(required)]
    pub name: String,
    /// Its URL.
    #[wire(required, schema(url))]
    pub url: String,
    /// Headers to send with every request; the agent sets the headers of MCP itself.
    #[wire(list, read = read_pairs)]
    pub headers: Vec<HttpHeader>,
    /// Extension metadata; receivers make no assumptions about its keys.
    #[wire(meta)]
    pub meta: Option<Meta>,
}

/// An MCP server that is a program to start.
#[derive(Clone, Debug, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct McpServerStdio {
    /// Its name.
    #[wire(required)]
    pub name: String,
    /// The program.
    #[wire(required)]
    pub command: AbsolutePath,
    /// Its arguments.
    #[wire(list)]
    pub args: Vec<String>,
    /// Environment variables to set for it. For a repeated name the agent refuses the server or uses the last value.
    #[wire(list, read = read_pairs)]
    pub env: Vec<EnvVariable>,
    /// Extension metadata; receivers make no assumptions about its keys.
    #[wire(meta)]
    pub meta: Option<Meta>,
}
