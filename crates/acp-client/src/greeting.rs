use std::sync::{Arc, OnceLock};

use agentwire_jsonrpc::RequestMethod;
use agentwire_peer::{Call, CallError, Peer};
use agentwire_sync::Mutex;

/// What both sides said in `initialize`: the client's capabilities, and the agent's answer.
#[derive(Debug)]
pub(crate) struct Greeting<C, A> {
    client: Mutex<Option<Arc<C>>>,
    agent: OnceLock<A>,
}

impl<C, A> Default for Greeting<C, A> {
    fn default() -> Self {
        Self { client: Mutex::default(), agent: OnceLock::new() }
    }
}

impl<C: Clone, A> Greeting<C, A> {
    /// Takes note of what the client advertises. False once an agent has answered to it.
    pub(crate) fn greet(&self, capabilities: &C) -> bool {
        if self.agent().is_some() {
            return false;
        }
        *self.client.lock() = Some(Arc::new(capabilities.clone()));
        true
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

    /// The agent's answer, which is to be had before anything else is asked.
    pub(crate) fn answered(&self, method: &str) -> Result<&A, CallError> {
        let first = "initialize must be called, and have succeeded, first";
        self.agent().ok_or_else(|| CallError::not_allowed(method, first))
    }

    /// Whether a request may be sent.
    pub(crate) fn check(
        &self,
        method: &'static str,
        rule: impl FnOnce(&A) -> Result<(), String>,
    ) -> Result<(), CallError> {
        rule(self.answered(method)?).map_err(|why| CallError::not_allowed(method, why))
    }

    /// A call that is refused where a rule forbids it.
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
