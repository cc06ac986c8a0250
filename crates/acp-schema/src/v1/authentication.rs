use std::borrow::Cow;
use std::collections::BTreeMap;

use agentwire_jsonrpc::Method;

use crate::common::AuthMethodId;
use crate::wire::{empty_object, object, tagged_union};

object! {
    /// `authenticate`: the client picks one of the ways to authenticate that the agent offered.
    ///
    /// See <https://agentclientprotocol.com/protocol/v1/authentication>.
    AuthenticateRequest {
        /// One of the offered methods; never one of type `terminal`, which the client carries out by itself.
        required method_id: AuthMethodId,
        meta,
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

tagged_union! {
    /// A way to authenticate that an agent offers.
    ///
    /// An object without the member `type` is of type `agent`.
    AuthMethod by "type" {
        /// The client runs the agent's program once more, in a terminal.
        "terminal" => Terminal(AuthMethodTerminal) from AuthMethodTerminal,
    }
    untagged {
        /// The agent does it by itself when `authenticate` names this method.
        "agent" => Agent(AuthMethodAgent) from AuthMethodAgent
    }
    else {
        /// A method of a type that this version does not know: the whole object.
        Unknown
    }
}

impl AuthMethod {
    /// What `authenticate` calls it; none only where an unknown type has no `id`.
    pub fn id(&self) -> Option<Cow<'_, str>> {
        match self {
            Self::Terminal(method) => Some(Cow::Borrowed(&method.id)),
            Self::Agent(method) => Some(Cow::Borrowed(&method.id)),
            Self::Unknown(object) => object.text("id"),
        }
    }
}

object! {
    /// The client runs the agent's program once more in a terminal, where the person authenticates. Exit status zero
    /// means that it worked. Only for clients with the capability `auth.terminal`.
    AuthMethodTerminal {
        /// Names the method. It must not be passed to `authenticate`.
        required id: AuthMethodId,
        /// What to call it in front of people.
        required name: String,
        /// A sentence about it, for people.
        lenient description: Option<String>,
        /// Arguments to add to those that the agent is usually started with.
        list args: Vec<String>,
        /// Environment variables to add; they win over those of the same name.
        list env: BTreeMap<String, String>,
        meta,
    }
}

object! {
    /// The agent authenticates the person by itself when `authenticate` names this method.
    AuthMethodAgent {
        /// Names the method.
        required id: AuthMethodId,
        /// What to call it in front of people.
        required name: String,
        /// A sentence about it, for people.
        lenient description: Option<String>,
        meta,
    }
}
