use agentwire_jsonrpc::{Method, Notice, RawJson};
use serde::{Deserialize, Deserializer, Serialize, de};

use crate::common::Meta;
use crate::wire::lenient::lenient;
use crate::wire::{object, string_id};

string_id! {
    /// Names an MCP server that is reached through the connection itself. Whoever offers the server chooses it, and no two
    /// servers that are visible on a connection have the same.
    McpServerAcpId,
    /// Names a request to such a server while it runs. The caller chooses it, and proxies leave it as it is; it is not the
    /// id of the message around the request.
    McpRequestId,
}

object! {
    /// An MCP server that is reached through the connection itself, with `mcp/message`. A draft.
    McpServerAcp {
        /// What to call it.
        required name: String,
        /// Names the server.
        required server_id: McpServerAcpId,
        meta,
    }
}

object! {
    /// `mcp/message` as a request: the agent calls a method of an MCP server that the client has offered. Each call is a
    /// request of its own, as in MCP since its revision of 2026-07-28; nothing is connected before.
    ///
    /// Only where the agent has the capability for servers of type `acp`. A draft.
    MessageMcpRequest {
        /// The server.
        required server_id: McpServerAcpId,
        /// Names the call; a new one each time.
        required request_id: McpRequestId,
        /// MCP's method.
        required method: String,
        /// Its params, an object, as they are.
        raw_object params: Option<RawJson>,
        meta,
    }
}

impl Method for MessageMcpRequest {
    const NAME: &'static str = "mcp/message";
    type Response = MessageMcpResponse;
}

object! {
    /// `mcp/message` as a notification: what an MCP server tells its caller while a request runs. A draft.
    MessageMcpNotification {
        /// The server.
        required server_id: McpServerAcpId,
        /// The request that runs.
        required request_id: McpRequestId,
        /// MCP's method.
        required method: String,
        /// Its params, an object, as they are.
        raw_object params: Option<RawJson>,
        meta,
    }
}

impl Notice for MessageMcpNotification {
    const NAME: &'static str = "mcp/message";
}

/// The answer to `mcp/message`: how MCP's own request ended. An error of the message around it speaks of the way there.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
#[non_exhaustive]
pub enum MessageMcpResponse {
    /// Well. It is taken for that also when there is an error beside the result.
    Result {
        /// MCP's result, as it is; it may be null.
        result: RawJson,
        /// Free room of the message around it.
        #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "schema", schemars(extend("x-deserialize-default-on-error" = true)))]
        meta: Option<Meta>,
    },
    /// Badly.
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
            #[serde(rename = "_meta", default, deserialize_with = "lenient")]
            meta: Option<Meta>,
        }

        #[derive(Deserialize)]
        struct Badly {
            error: McpError,
            #[serde(rename = "_meta", default, deserialize_with = "lenient")]
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

object! {
    /// An error of MCP, which is none of ACP.
    McpError {
        /// MCP's code.
        required code: i32,
        /// One short sentence for people.
        required message: String,
        /// Anything more, as it is; null is something too.
        raw data: Option<RawJson>,
        extra,
    }
}
