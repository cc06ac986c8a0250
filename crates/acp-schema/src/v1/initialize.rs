use agentwire_jsonrpc::Method;
use serde::{Deserialize, Serialize};

use super::{AgentCapabilities, AuthMethod, ClientCapabilities};
use crate::common::lenient::{items, lenient};
use crate::common::{Meta, ProtocolVersion, builder};

/// `initialize`: the client's first message, with what it speaks and can do.
///
/// See <https://agentclientprotocol.com/protocol/v1/initialization>.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct InitializeRequest {
    /// The latest version that the client speaks.
    pub protocol_version: ProtocolVersion,
    /// What the client can do; what is not named there it cannot.
    #[serde(default, deserialize_with = "lenient")]
    pub client_capabilities: ClientCapabilities,
    /// Who the client is. Send it: a later version requires it.
    #[serde(default, deserialize_with = "lenient", skip_serializing_if = "Option::is_none")]
    pub client_info: Option<Implementation>,
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
    InitializeRequest::new(protocol_version: ProtocolVersion) {
        plain client_capabilities: ClientCapabilities,
        option client_info: Implementation,
        option meta: Meta,
    }
}

impl Method for InitializeRequest {
    const NAME: &'static str = "initialize";
    type Response = InitializeResponse;
}

/// The answer to `initialize`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct InitializeResponse {
    /// The version both will speak: the client's where the agent speaks it too, else the agent's latest. A client
    /// that does not speak the answer should disconnect.
    pub protocol_version: ProtocolVersion,
    /// What the agent can do; what is not named there it cannot.
    #[serde(default, deserialize_with = "lenient")]
    pub agent_capabilities: AgentCapabilities,
    /// Ways to authenticate. Empty where there is nothing to authenticate.
    #[serde(default, deserialize_with = "items", skip_serializing_if = "Vec::is_empty")]
    pub auth_methods: Vec<AuthMethod>,
    /// Who the agent is. Send it: a later version requires it.
    #[serde(default, deserialize_with = "lenient", skip_serializing_if = "Option::is_none")]
    pub agent_info: Option<Implementation>,
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
    InitializeResponse::new(protocol_version: ProtocolVersion) {
        plain agent_capabilities: AgentCapabilities,
        list auth_methods: AuthMethod,
        option agent_info: Implementation,
        option meta: Meta,
    }
}

/// A program that speaks ACP: its name and version.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Implementation {
    /// The name that programs use, shown where there is no title.
    pub name: String,
    /// The name that people see.
    #[serde(default, deserialize_with = "lenient", skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The version, such as `1.0.0`: to show and to log, not to compare.
    pub version: String,
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
    Implementation::new(name: String, version: String) {
        option title: String,
        option meta: Meta,
    }
}
