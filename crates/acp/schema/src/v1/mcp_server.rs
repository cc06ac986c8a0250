//! The entries of `mcpServers` in `session/new`, `session/load` and `session/resume`. An entry without `type` is a stdio
//! server.

use std::borrow::Cow;

use agentwire_wire_derive::{Build, Wire};

use crate::common::{EnvVariable, HttpHeader, Meta, read_pairs};

/// An MCP server for a session, and how to connect to it.
///
/// An object without the member `type` is a program on stdio. See
/// <https://agentclientprotocol.com/protocol/v1/session-setup#mcp-servers>.
#[derive(Clone, Debug, PartialEq, Wire)]
#[wire(tag = "type")]
#[non_exhaustive]
pub enum McpServer {
    /// Streamable HTTP; only where the agent has the capability `mcpCapabilities.http`.
    #[wire("http", from)]
    Http(McpServerHttp),
    /// HTTP with server-sent events, which MCP has deprecated; only where the agent has the capability
    /// `mcpCapabilities.sse`.
    #[wire("sse", from)]
    Sse(McpServerSse),
    /// A program to start. Every agent supports it.
    #[wire("stdio", untagged, from)]
    Stdio(McpServerStdio),
    /// A server of a type that this version does not know: the whole object.
    #[wire(unknown)]
    Unknown(Meta),
}

impl McpServer {
    /// Returns its name; none only if an unknown type has no `name`.
    pub fn name(&self) -> Option<Cow<'_, str>> {
        match self {
            Self::Http(server) => Some(Cow::Borrowed(&server.name)),
            Self::Sse(server) => Some(Cow::Borrowed(&server.name)),
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
    #[wire(required)]
    pub url: String,
    /// Headers to send with every request. Always written, also when empty.
    #[wire(required_list, read = read_pairs)]
    pub headers: Vec<HttpHeader>,
    /// Extension metadata; receivers make no assumptions about its keys.
    #[wire(meta)]
    pub meta: Option<Meta>,
}

/// An MCP server behind HTTP with server-sent events.
#[derive(Clone, Debug, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct McpServerSse {
    /// Its name.
    #[wire(required)]
    pub name: String,
    /// Its URL.
    #[wire(required)]
    pub url: String,
    /// Headers to send with every request. Always written, also when empty.
    #[wire(required_list, read = read_pairs)]
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
    /// The program, by the protocol an absolute path.
    #[wire(required)]
    pub command: String,
    /// Its arguments. Always written, also when empty.
    #[wire(required_list)]
    pub args: Vec<String>,
    /// Environment variables to set for it. Always written, also when empty.
    #[wire(required_list, read = read_pairs)]
    pub env: Vec<EnvVariable>,
    /// Extension metadata; receivers make no assumptions about its keys.
    #[wire(meta)]
    pub meta: Option<Meta>,
}
