//! MCP over the ACP connection: the `acp` server entry, and `mcp/message` as a request and as a notification.

use agentwire_jsonrpc::{RawJson, wire};
use agentwire_wire_derive::{Build, Wire};
use serde::{Deserialize, Deserializer, Serialize, de};

use crate::common::{Meta, string_id};

string_id! {
    /// Identifies an MCP server that is reached through the connection itself. The side that offers the server chooses the id,
    /// which is unique among the servers of a connection.
    McpServerAcpId,
    /// Identifies a request to such a server while it runs. The caller chooses it, and proxies leave it as it is; it is not the
    /// id of the message around the request.
    McpRequestId,
}

/// An MCP server that is reached through the connection itself, with `mcp/message`. A draft.
#[derive(Clone, Debug, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct McpServerAcp {
    /// Its name.
    #[wire(required)]
    pub name: String,
    /// Identifies the server.
    #[wire(required)]
    pub server_id: McpServerAcpId,
    /// Extension metadata; receivers make no assumptions about its keys.
    #[wire(meta)]
    pub meta: Option<Meta>,
}

/// `mcp/message` as a request: the agent calls a method of an MCP server that the client has offered. Each call is a
/// request of its own, as in MCP since its revision of 2026-07-28; nothing is connected before.
///
/// Only where the agent has the capability for servers of type `acp`. A draft.
#[derive(Clone, Debug, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct MessageMcpRequest {
    /// The server.
    #[wire(required)]
    pub server_id: McpServerAcpId,
    /// Identifies the call; a new one each time.
    #[wire(required)]
    pub request_id: McpRequestId,
    /// MCP's method.
    #[wire(required)]
    pub method: String,
    /// Its params, an object, as they are.
    #[wire(raw_object)]
    pub params: Option<RawJson>,
    /// Extension metadata; receivers make no assumptions about its keys.
    #[wire(meta)]
    pub meta: Option<Meta>,
}

/// `mcp/message` as a notification: an MCP server's message to its caller while a request runs. A draft.
#[derive(Clone, Debug, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct MessageMcpNotification {
    /// The server.
    #[wire(required)]
    pub server_id: McpServerAcpId,
    /// The request that runs.
    #[wire(required)]
    pub request_id: McpRequestId,
    /// MCP's method.
    #[wire(required)]
    pub method: String,
    /// Its params, an object, as they are.
    #[wire(raw_object)]
    pub params: Option<RawJson>,
    /// Extension metadata; receivers make no assumptions about its keys.
    #[wire(meta)]
    pub meta: Option<Meta>,
}

/// The answer to `mcp/message`: how MCP's own request ended. An error of the message around it speaks of the way there.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
#[non_exhaustive]
pub enum MessageMcpResponse {
    /// A result. An answer that also has an error is read as this.
    Result {
        /// MCP's result, as it is; it may be null.
        result: RawJson,
        /// Free room of the message around it.
        #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "schema", schemars(extend("x-deserialize-default-on-error" = true)))]
        meta: Option<Meta>,
    },
    /// An error.
    Error {
        /// MCP's error.
        error: McpError,
        /// Free room of the message around it.
        #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "schema", schemars(extend("x-deserialize-default-on-error" = true)))]
        meta: Option<Meta>,
    },
}

impl From<RawJson> for MessageMcpResponse {
    fn from(result: RawJson) -> Self {
        Self::Result { result, meta: None }
    }
}

impl From<McpError> for MessageMcpResponse {
    fn from(error: McpError) -> Self {
        Self::Error { error, meta: None }
    }
}

impl<'de> Deserialize<'de> for MessageMcpResponse {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        struct Well {
            result: RawJson,
            #[serde(rename = "_meta", default, deserialize_with = "wire::default_on_error")]
            meta: Option<Meta>,
        }

        #[derive(Deserialize)]
        struct Badly {
            error: McpError,
            #[serde(rename = "_meta", default, deserialize_with = "wire::default_on_error")]
            meta: Option<Meta>,
        }

        let object = Meta::deserialize(deserializer)?;
        if object.contains_key("result") {
            let Well { result, meta } = object.decode().map_err(de::Error::custom)?;
            return Ok(Self::Result { result, meta });
        }
        let Badly { error, meta } = object.decode().map_err(de::Error::custom)?;
        Ok(Self::Error { error, meta })
    }
}

/// An error of MCP, which is none of ACP.
#[derive(Clone, Debug, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct McpError {
    /// MCP's code.
    #[wire(required)]
    pub code: i32,
    /// One short sentence for people.
    #[wire(required)]
    pub message: String,
    /// Anything more, as it is; null is something too.
    #[wire(raw)]
    pub data: Option<RawJson>,
    /// Members that this version does not know, unchanged: real peers send more than the schema lists.
    #[wire(extra)]
    pub extra: Meta,
}
