use std::borrow::Cow;

use super::AbsolutePath;
use crate::common::{EnvVariable, HttpHeader};
use crate::wire::{object, tagged_union};

tagged_union! {
    /// An MCP server that a session should use, and how to reach it.
    ///
    /// See <https://agentclientprotocol.com/protocol/v2/session-setup#mcp-servers>.
    McpServer by "type" {
        /// Streamable HTTP; only where the agent has the capability `session.mcp.http`.
        "http" => Http(McpServerHttp) from McpServerHttp,
        /// A program to start; only where the agent has the capability `session.mcp.stdio`.
        "stdio" => Stdio(McpServerStdio) from McpServerStdio,
    }
    else {
        /// A server of a type that this version does not know: the whole object. An agent refuses a request with one.
        Unknown
    }
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

object! {
    /// An MCP server behind Streamable HTTP.
    McpServerHttp {
        /// What to call it.
        required name: String,
        /// Where it is.
        #[cfg_attr(feature = "schema", schemars(url))]
        required url: String,
        /// Headers to send with every request; those that MCP itself sets stay the agent's.
        list headers: Vec<HttpHeader>,
        meta,
    }
}

object! {
    /// An MCP server that is a program to start.
    McpServerStdio {
        /// What to call it.
        required name: String,
        /// The program.
        required command: AbsolutePath,
        /// Its arguments.
        list args: Vec<String>,
        /// Environment variables to set for it. Of two with one name the agent refuses both or takes the later.
        list env: Vec<EnvVariable>,
        meta,
    }
}
