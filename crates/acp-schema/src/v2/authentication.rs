use std::borrow::Cow;

use agentwire_jsonrpc::Method;

use crate::common::{AuthMethodId, EnvVariable};
use crate::wire::{empty_object, object, tagged_union};

object! {
    /// `auth/login`: the client picks one of the ways to authenticate that the agent offered. Only where there is one.
    ///
    /// See <https://agentclientprotocol.com/protocol/v2/initialization>.
    LoginAuthRequest {
        /// One of the offered methods; never one of type `terminal`, which the client carries out by itself.
        required method_id: AuthMethodId,
        meta,
    }
}

impl Method for LoginAuthRequest {
    const NAME: &'static str = "auth/login";
    type Response = LoginAuthResponse;
}

empty_object! {
    /// The answer to `auth/login`: it worked.
    LoginAuthResponse,
    /// `auth/logout`: forget who the person is. Only where the agent offers a way to authenticate.
    LogoutAuthRequest,
    /// The answer to `auth/logout`.
    LogoutAuthResponse,
}

impl Method for LogoutAuthRequest {
    const NAME: &'static str = "auth/logout";
    type Response = LogoutAuthResponse;
}

tagged_union! {
    /// A way to authenticate that an agent offers.
    AuthMethod by "type" {
        /// The client runs the agent's program once more, in a terminal.
        "terminal" => Terminal(AuthMethodTerminal) from AuthMethodTerminal,
        /// The agent does it by itself when `auth/login` names this method.
        "agent" => Agent(AuthMethodAgent) from AuthMethodAgent,
    }
    else requiring "methodId" => AuthMethodId, "name" => String {
        /// A method of a type that this version does not know: the whole object. It may be shown by its member `name`.
        Unknown
    }
}

impl AuthMethod {
    /// What `auth/login` calls it; none only where an unknown type has no `methodId`.
    pub fn method_id(&self) -> Option<Cow<'_, str>> {
        match self {
            Self::Terminal(method) => Some(Cow::Borrowed(&method.method_id)),
            Self::Agent(method) => Some(Cow::Borrowed(&method.method_id)),
            Self::Unknown(object) => object.text("methodId"),
        }
    }
}

object! {
    /// The client runs the agent's program once more in a terminal, where the person authenticates. Exit status zero
    /// means that it worked. Only for clients with the capability `auth.terminal`.
    AuthMethodTerminal {
        /// Names the method. It must not be passed to `auth/login`.
        required method_id: AuthMethodId,
        /// What to call it in front of people.
        required name: String,
        /// A sentence about it, for people.
        lenient description: Option<String>,
        /// Arguments to add to those that the agent is usually started with.
        list args: Vec<String>,
        /// Environment variables to add, each name once; they win over those of the same name.
        list env: Vec<EnvVariable>,
        meta,
    }
}

object! {
    /// The agent authenticates the person by itself when `auth/login` names this method.
    AuthMethodAgent {
        /// Names the method.
        required method_id: AuthMethodId,
        /// What to call it in front of people.
        required name: String,
        /// A sentence about it, for people.
        lenient description: Option<String>,
        meta,
    }
}
