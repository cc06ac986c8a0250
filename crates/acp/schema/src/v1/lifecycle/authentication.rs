//! The params and results of `authenticate` and `logout`, and the entries of `authMethods`.

use std::borrow::Cow;
use std::collections::BTreeMap;

use agentwire_wire_derive::{Build, Wire};

use crate::common::{AuthMethodId, Meta, empty_object};

/// `authenticate`: authenticates with one of the methods that the agent offered.
///
/// See <https://agentclientprotocol.com/protocol/v1/authentication>.
#[derive(Clone, Debug, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct AuthenticateRequest {
    /// One of the offered methods. Never one of type `terminal`, which the client executes by itself.
    #[wire(required)]
    pub method_id: AuthMethodId,
    /// Extension metadata; receivers make no assumptions about its keys.
    #[wire(meta)]
    pub meta: Option<Meta>,
}

empty_object! {
    /// The answer to `authenticate`: success.
    AuthenticateResponse,
    /// `logout`: ends the person's authentication. Only if the agent has the capability `auth.logout`.
    LogoutRequest,
    /// The answer to `logout`.
    LogoutResponse,
}

/// A way to authenticate that an agent offers.
///
/// An object without the member `type` is of type `agent`.
#[derive(Clone, Debug, PartialEq, Wire)]
#[wire(tag = "type")]
#[non_exhaustive]
pub enum AuthMethod {
    /// The client runs the agent's program again, in a terminal.
    #[wire("terminal", from)]
    Terminal(AuthMethodTerminal),
    /// The agent does it by itself when `authenticate` names this method.
    #[wire("agent", untagged, from)]
    Agent(AuthMethodAgent),
    /// A method of a type that this version does not know: the whole object.
    #[wire(unknown)]
    Unknown(Meta),
}

impl AuthMethod {
    /// Returns its id for `authenticate`; none only if an unknown type has no `id`.
    pub fn id(&self) -> Option<Cow<'_, str>> {
        match self {
            Self::Terminal(method) => Some(Cow::Borrowed(&method.id)),
            Self::Agent(method) => Some(Cow::Borrowed(&method.id)),
            Self::Unknown(object) => object.text("id"),
        }
    }
}

/// The client runs the agent's program again in a terminal, where the person authenticates. Exit status zero
/// means success. Only for clients with the capability `auth.terminal`.
#[derive(Clone, Debug, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct AuthMethodTerminal {
    /// Identifies the method. Do not pass it to `authenticate`.
    #[wire(required)]
    pub id: AuthMethodId,
    /// The name to show to people.
    #[wire(required)]
    pub name: String,
    /// A description for people.
    #[wire(lenient)]
    pub description: Option<String>,
    /// Arguments to add to the usual ones.
    #[wire(list)]
    pub args: Vec<String>,
    /// Environment variables to add; they replace variables of the same name.
    #[wire(list)]
    pub env: BTreeMap<String, String>,
    /// Extension metadata; receivers make no assumptions about its keys.
    #[wire(meta)]
    pub meta: Option<Meta>,
}

/// The agent authenticates the person by itself when `authenticate` names this method.
#[derive(Clone, Debug, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct AuthMethodAgent {
    /// Identifies the method.
    #[wire(required)]
    pub id: AuthMethodId,
    /// The name to show to people.
    #[wire(required)]
    pub name: String,
    /// A description for people.
    #[wire(lenient)]
    pub description: Option<String>,
    /// Extension metadata; receivers make no assumptions about its keys.
    #[wire(meta)]
    pub meta: Option<Meta>,
}
