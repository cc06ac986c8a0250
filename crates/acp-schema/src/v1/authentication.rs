use std::collections::BTreeMap;

use agentwire_jsonrpc::Method;
use serde::{Deserialize, Serialize};

use crate::common::lenient::{lenient, null_as_empty};
use crate::common::{AuthMethodId, Meta, builder, empty_object, tagged_union};

/// `authenticate`: the client picks one of the ways to authenticate that the agent offered.
///
/// See <https://agentclientprotocol.com/protocol/v1/authentication>.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct AuthenticateRequest {
    /// One of the offered methods; never one of type `terminal`, which the client carries out by itself.
    pub method_id: AuthMethodId,
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
    AuthenticateRequest::new(method_id: AuthMethodId) {
        option meta: Meta,
    }
}

impl Method for AuthenticateRequest {
    const NAME: &'static str = "authenticate";
    type Response = AuthenticateResponse;
}

empty_object! {
    /// The answer to `authenticate`: it worked.
    AuthenticateResponse,
    /// `logout`: forget who the person is. Only where the agent has the capability `auth.logout`.
    LogoutRequest,
    /// The answer to `logout`.
    LogoutResponse,
}

impl Method for LogoutRequest {
    const NAME: &'static str = "logout";
    type Response = LogoutResponse;
}

/// A way to authenticate that an agent offers.
///
/// An object without the member `type` is of type `agent`.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum AuthMethod {
    /// The client runs the agent's program once more, in a terminal.
    Terminal(AuthMethodTerminal),
    /// The agent does it by itself when `authenticate` names this method.
    Agent(AuthMethodAgent),
    /// A method of a type that this version does not know: the whole object.
    Unknown(Meta),
}

tagged_union! {
    AuthMethod by "type" {
        "terminal" => Terminal(AuthMethodTerminal),
    }
    untagged "agent" => Agent(AuthMethodAgent)
}

impl AuthMethod {
    /// What `authenticate` calls it; none only where an unknown type has no `id`.
    pub fn id(&self) -> Option<&str> {
        match self {
            Self::Terminal(method) => Some(&method.id),
            Self::Agent(method) => Some(&method.id),
            Self::Unknown(object) => object.get("id")?.as_str(),
        }
    }
}

impl From<AuthMethodTerminal> for AuthMethod {
    fn from(method: AuthMethodTerminal) -> Self {
        Self::Terminal(method)
    }
}

impl From<AuthMethodAgent> for AuthMethod {
    fn from(method: AuthMethodAgent) -> Self {
        Self::Agent(method)
    }
}

/// The client runs the agent's program once more in a terminal, where the person authenticates. Exit status zero
/// means that it worked. Only for clients with the capability `auth.terminal`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct AuthMethodTerminal {
    /// Names the method. It must not be passed to `authenticate`.
    pub id: AuthMethodId,
    /// What to call it in front of people.
    pub name: String,
    /// A sentence about it, for people.
    #[serde(default, deserialize_with = "lenient", skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Arguments to add to those that the agent is usually started with.
    #[serde(default, deserialize_with = "null_as_empty", skip_serializing_if = "Vec::is_empty")]
    pub args: Vec<String>,
    /// Environment variables to add; they win over those of the same name.
    #[serde(default, deserialize_with = "null_as_empty", skip_serializing_if = "BTreeMap::is_empty")]
    pub env: BTreeMap<String, String>,
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
    AuthMethodTerminal::new(id: AuthMethodId, name: String) {
        option description: String,
        list args: String,
        plain env: BTreeMap<String, String>,
        option meta: Meta,
    }
}

/// The agent authenticates the person by itself when `authenticate` names this method.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct AuthMethodAgent {
    /// Names the method.
    pub id: AuthMethodId,
    /// What to call it in front of people.
    pub name: String,
    /// A sentence about it, for people.
    #[serde(default, deserialize_with = "lenient", skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
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
    AuthMethodAgent::new(id: AuthMethodId, name: String) {
        option description: String,
        option meta: Meta,
    }
}
