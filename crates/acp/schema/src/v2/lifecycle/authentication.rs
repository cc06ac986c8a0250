//! The params and results of `auth/login` and `auth/logout`, and the entries of `authMethods`.

use std::borrow::Cow;

use agentwire_wire_derive::{Build, Wire};

use crate::common::{AuthMethodId, EnvVariable, Meta, empty_object, read_pairs};

/// `auth/login`: authenticates with one of the methods that the agent offered. Only where there is one.
///
/// See <https://agentclientprotocol.com/protocol/v2/initialization>.
#[derive(Clone, Debug, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct LoginAuthRequest {
    /// One of the offered methods. Never one of type `terminal`, which the client executes by itself.
    #[wire(required)]
    pub method_id: AuthMethodId,
    /// Extension metadata; receivers make no assumptions about its keys.
    #[wire(meta)]
    pub meta: Option<Meta>,
}

empty_object! {
    /// The answer to `auth/login`: success.
    LoginAuthResponse,
    /// `auth/logout`: ends the person's authentication. Only if the agent offers a way to authenticate.
    LogoutAuthRequest,
    /// The answer to `auth/logout`.
    LogoutAuthResponse,
}

/// A way to authenticate that an agent offers.
#[derive(Clone, Debug, PartialEq, Wire)]
#[wire(tag = "type")]
#[non_exhaustive]
pub enum AuthMethod {
    /// The client runs the agent's program again, in a terminal.
    #[wire("terminal", from)]
    Terminal(AuthMethodTerminal),
    /// The agent does it by itself when `auth/login` names this method.
    #[wire("agent", from)]
    Agent(AuthMethodAgent),
    /// A method of a type that this version does not know: the whole object. Show it by its member `name`.
    #[wire(unknown, requires("methodId" = AuthMethodId, "name" = String))]
    Unknown(Meta),
}

impl AuthMethod {
    /// Returns its id for `auth/login`; none only if an unknown type has no `methodId`.
    pub fn method_id(&self) -> Option<Cow<'_, str>> {
        match self {
            Self::Terminal(method) => Some(Cow::Borrowed(&method.method_id)),
            Self::Agent(method) => Some(Cow::Borrowed(&method.method_id)),
            Self::Unknown(object) => object.text("methodId"),
        }
    }
}

/// The client runs the agent's program again in a terminal, where the person authenticates. Exit status zero
/// means success. Only for clients with the capability `auth.terminal`.
#[derive(Clone, Debug, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct AuthMethodTerminal {
    /// Identifies the method. Do not pass it to `auth/login`.
    #[wire(required)]
    pub method_id: AuthMethodId,
    /// The name to show to people.
    #[wire(required)]
    pub name: String,
    /// A description for people.
    #[wire(lenient)]
    pub description: Option<String>,
    /// Arguments to add to the usual ones.
    #[wire(list)]
    pub args: Vec<String>,
    /// Environment variables to add, each name once; they replace variables of the same name.
    #[wire(list, read = read_pairs)]
    pub env: Vec<EnvVariable>,
    /// Extension metadata; receivers make no assumptions about its keys.
    #[wire(meta)]
    pub meta: Option<Meta>,
}

/// The agent authenticates the person by itself when `auth/login` names this method.
#[derive(Clone, Debug, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct AuthMethodAgent {
    /// Identifies the method.
    #[wire(required)]
    pub method_id: AuthMethodId,
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
