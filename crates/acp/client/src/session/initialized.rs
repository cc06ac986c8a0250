//! The state of `initialize` on a connection, and the checks that need it.

use std::sync::{Arc, OnceLock};

use agentwire_acp_schema::v1::ProtocolVersion;
use agentwire_jsonrpc::RequestMethod;
use agentwire_peer::runtime::PeerExt;
use agentwire_peer::{Call, CallError, Peer};
use agentwire_sync::Mutex;

/// The outcome of `initialize`: the client's capabilities, and the agent's answer.
#[derive(Debug)]
pub(crate) struct Initialized<C, A> {
    client: Mutex<Option<Arc<C>>>,
    agent: OnceLock<A>,
}

impl<C, A> Default for Initialized<C, A> {
    fn default() -> Self {
        Self { client: Mutex::default(), agent: OnceLock::new() }
    }
}

impl<C: Clone, A> Initialized<C, A> {
    /// Stores the client's capabilities. Returns false if the agent has already answered `initialize`.
    pub(crate) fn set_client(&self, capabilities: &C) -> bool {
        if self.agent().is_some() {
            return false;
        }
        *self.client.lock() = Some(Arc::new(capabilities.clone()));
        true
    }

    /// Stores the client's capabilities for an `initialize` that requests a version. Fails if this client does not support
    /// that version, or if the agent has already answered.
    pub(crate) fn begin(
        &self,
        asked: ProtocolVersion,
        speaks: ProtocolVersion,
        capabilities: &C,
    ) -> Result<(), String> {
        if asked != speaks {
            return Err(format!(
                "this client speaks version {speaks} of the protocol, and asks for no other"
            ));
        }
        let is_first = self.set_client(capabilities);
        if is_first { Ok(()) } else { Err("this connection has been initialized already".into()) }
    }

    pub(crate) fn client(&self) -> Option<Arc<C>> {
        self.client.lock().clone()
    }

    pub(crate) fn set_agent(&self, response: A) {
        self.agent.get_or_init(|| response);
    }

    pub(crate) fn agent(&self) -> Option<&A> {
        self.agent.get()
    }

    /// Returns the agent's answer, or an error for a method that is called before it.
    pub(crate) fn answered(&self, method: &str) -> Result<&A, CallError> {
        let first = "initialize must be called, and have succeeded, first";
        self.agent().ok_or_else(|| CallError::not_allowed(method, first))
    }

    /// Checks a request before it is sent.
    pub(crate) fn check(
        &self,
        method: &'static str,
        rule: impl FnOnce(&A) -> Result<(), String>,
    ) -> Result<(), CallError> {
        rule(self.answered(method)?).map_err(|why| CallError::not_allowed(method, why))
    }

    /// Makes a call, or a refused call if a rule forbids it.
    pub(crate) fn checked<M: RequestMethod>(
        &self,
        peer: &Peer,
        request: &M,
        rule: impl FnOnce(&A) -> Result<(), String>,
    ) -> Call<M::Response> {
        match self.check(M::NAME, rule) {
            Ok(()) => peer.call(request),
            Err(error) => peer.refuse_call(error),
        }
    }
}

/// Fails where an agent answers `initialize` with another version than the client speaks.
pub(crate) fn same_version(answered: ProtocolVersion, speaks: ProtocolVersion) -> Result<(), String> {
    if answered == speaks {
        return Ok(());
    }
    Err(format!(
        "the agent speaks version {answered} of the protocol, and this client speaks version {speaks}"
    ))
}
