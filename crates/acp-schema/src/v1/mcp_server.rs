use std::borrow::Cow;

use crate::common::{EnvVariable, HttpHeader};
use crate::wire::{object, tagged_union};

tagged_union! {
    /// An MCP server that a session should use, and how to reach it.
    ///
    /// An object without the member `type` is a program on stdio. See
    /// <https://agentclientprotocol.com/protocol/v1/session-setup#mcp-servers>.
    McpServer by "type" {
        /// Streamable HTTP; only where the agent has the capability `mcpCapabilities.http`.
        "http" => Http(McpServerHttp) from McpServerHttp,
        /// HTTP with server-sent events, which MCP has deprecated; only where the agent has the capability
        /// `mcpCapabilities.sse`.
        "sse" => Sse(McpServerSse) from McpServerSse,
    }
    untagged {
        /// A program to start. Every agent can.
        "stdio" => Stdio(McpServerStdio) from McpServerStdio
    }
    else {
        /// A server of a type that this version does not know: the whole object.
        Unknown
    }
}

impl McpServer {
    /// What to call it; none only where an unknown type has no `name`.
    pub fn name(&self) -> Option<Cow<'_, str>> {
        match self {
            Self::Http(server) => Some(Cow::Borrowed(&server.name)),
            Self::Sse(server) => Some(Cow::Borrowed(&server.name)),
            Self::Stdio(server) => Some(Cow::Borrowed(&server.name)),
            Self::Unknown(object) => object.text("name"),
        }
    }
}

object! {
    /// An MCP server behind Streamable HTTP.
    McpServerHttp {
        /// What to call it.
        required name: String,
        /// Where it is.
        required url: String,
        /// Headers to send with every request. Always written, also when empty.
        required_list headers: Vec<HttpHeader>,
        meta,
    }
}

object! {
    /// An MCP server behind HTTP with server-sent events.
    McpServerSse {
        /// What to call it.
        required name: String,
        /// Where it is.
        required url: String,
        /// Headers to send with every request. Always written, also when empty.
        required_list headers: Vec<HttpHeader>,
        meta,
    }
}

object! {
    /// An MCP server that is a program to start.
    McpServerStdio {
        /// What to call it.
        required name: String,
        /// The program, by the protocol an absolute path.
        required command: String,
        /// Its arguments. Always written, also when empty.
        required_list args: Vec<String>,
        /// Environment variables to set for it. Always written, also when empty.
        required_list env: Vec<EnvVariable>,
        meta,
    }
}
