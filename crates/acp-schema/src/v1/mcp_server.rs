use serde::{Deserialize, Serialize};

use super::EnvVariable;
use crate::common::lenient::{lenient, null_as_empty};
use crate::common::{Meta, builder, tagged_union};

/// An MCP server that a session should use, and how to reach it.
///
/// An object without the member `type` is a program on stdio. See
/// <https://agentclientprotocol.com/protocol/v1/session-setup#mcp-servers>.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum McpServer {
    /// Streamable HTTP; only where the agent has the capability `mcpCapabilities.http`.
    Http(McpServerHttp),
    /// HTTP with server-sent events, which MCP has deprecated; only where the agent has the capability
    /// `mcpCapabilities.sse`.
    Sse(McpServerSse),
    /// A program to start. Every agent can.
    Stdio(McpServerStdio),
    /// A server of a type that this version does not know: the whole object.
    Unknown(Meta),
}

tagged_union! {
    McpServer by "type" {
        "http" => Http(McpServerHttp),
        "sse" => Sse(McpServerSse),
    }
    untagged "stdio" => Stdio(McpServerStdio)
}

impl McpServer {
    /// What to call it; none only where an unknown type has no `name`.
    pub fn name(&self) -> Option<&str> {
        match self {
            Self::Http(server) => Some(&server.name),
            Self::Sse(server) => Some(&server.name),
            Self::Stdio(server) => Some(&server.name),
            Self::Unknown(object) => object.get("name")?.as_str(),
        }
    }
}

impl From<McpServerHttp> for McpServer {
    fn from(server: McpServerHttp) -> Self {
        Self::Http(server)
    }
}

impl From<McpServerSse> for McpServer {
    fn from(server: McpServerSse) -> Self {
        Self::Sse(server)
    }
}

impl From<McpServerStdio> for McpServer {
    fn from(server: McpServerStdio) -> Self {
        Self::Stdio(server)
    }
}

/// An MCP server behind Streamable HTTP.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct McpServerHttp {
    /// What to call it.
    pub name: String,
    /// Where it is.
    pub url: String,
    /// Headers to send with every request. Always written, also when empty.
    #[serde(deserialize_with = "null_as_empty")]
    pub headers: Vec<HttpHeader>,
    /// Free room; see [`Meta`].
    #[serde(
        rename = "_meta",
        default,
        deserialize_with = "lenient",
        skip_serializing_if = "Option::is_none"
    )]
    pub meta: Option<Meta>,
}

builder! {
    McpServerHttp::new(name: String, url: String) {
        list headers: HttpHeader,
        option meta: Meta,
    }
}

/// An MCP server behind HTTP with server-sent events.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct McpServerSse {
    /// What to call it.
    pub name: String,
    /// Where it is.
    pub url: String,
    /// Headers to send with every request. Always written, also when empty.
    #[serde(deserialize_with = "null_as_empty")]
    pub headers: Vec<HttpHeader>,
    /// Free room; see [`Meta`].
    #[serde(
        rename = "_meta",
        default,
        deserialize_with = "lenient",
        skip_serializing_if = "Option::is_none"
    )]
    pub meta: Option<Meta>,
}

builder! {
    McpServerSse::new(name: String, url: String) {
        list headers: HttpHeader,
        option meta: Meta,
    }
}

/// An MCP server that is a program to start.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct McpServerStdio {
    /// What to call it.
    pub name: String,
    /// The program, by the protocol an absolute path.
    pub command: String,
    /// Its arguments. Always written, also when empty.
    #[serde(deserialize_with = "null_as_empty")]
    pub args: Vec<String>,
    /// Environment variables to set for it. Always written, also when empty.
    #[serde(deserialize_with = "null_as_empty")]
    pub env: Vec<EnvVariable>,
    /// Free room; see [`Meta`].
    #[serde(
        rename = "_meta",
        default,
        deserialize_with = "lenient",
        skip_serializing_if = "Option::is_none"
    )]
    pub meta: Option<Meta>,
}

builder! {
    McpServerStdio::new(name: String, command: String) {
        list args: String,
        list env: EnvVariable,
        option meta: Meta,
    }
}

/// An HTTP header.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct HttpHeader {
    /// Its name.
    pub name: String,
    /// Its value.
    pub value: String,
    /// Free room; see [`Meta`].
    #[serde(
        rename = "_meta",
        default,
        deserialize_with = "lenient",
        skip_serializing_if = "Option::is_none"
    )]
    pub meta: Option<Meta>,
}

builder! {
    HttpHeader::new(name: String, value: String) {
        option meta: Meta,
    }
}
