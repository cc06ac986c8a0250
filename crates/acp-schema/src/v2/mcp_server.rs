use std::borrow::Cow;

use agentwire_wire_derive::{Build, Wire};

use super::AbsolutePath;
use crate::common::{EnvVariable, HttpHeader, Meta};

/// An MCP server that a session should use, and how to reach it.
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
    /// What to call it; none only where an unknown type has no `name`.
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
    /// What to call it.
    #[wire(required)]
    pub name: String,
    /// Where it is.
    #[wire(required, schema(url))]
    pub url: String,
    /// Headers to send with every request; those that MCP itself sets stay the agent's.
    #[wire(list)]
    pub headers: Vec<HttpHeader>,
    /// Free room: its keys belong to whoever sent them.
    #[wire(meta)]
    pub meta: Option<Meta>,
}

/// An MCP server that is a program to start.
#[derive(Clone, Debug, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct McpServerStdio {
    /// What to call it.
    #[wire(required)]
    pub name: String,
    /// The program.
    #[wire(required)]
    pub command: AbsolutePath,
    /// Its arguments.
    #[wire(list)]
    pub args: Vec<String>,
    /// Environment variables to set for it. Of two with one name the agent refuses both or takes the later.
    #[wire(list)]
    pub env: Vec<EnvVariable>,
    /// Free room: its keys belong to whoever sent them.
    #[wire(meta)]
    pub meta: Option<Meta>,
}
