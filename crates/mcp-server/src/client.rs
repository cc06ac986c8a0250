use std::fmt;
use std::sync::Arc;

use agentwire_jsonrpc::Method;
use agentwire_mcp_schema::{
    ClientCapabilities, EmptyResult, Implementation, ListRootsRequest, ListRootsResult, MethodInfo, Narrow,
    PingRequest, Revision,
};
use agentwire_peer::{Call, CallError, Peer};

use crate::session::{Negotiated, Session};

/// A handle on the client that a request came from. Cloning is cheap.
#[derive(Clone)]
pub struct Client {
    peer: Peer,
    session: Arc<Session>,
}

impl Client {
    pub(crate) fn new(peer: Peer, session: Arc<Session>) -> Self {
        Self { peer, session }
    }

    /// Who the client says it is.
    pub fn info(&self) -> &Implementation {
        &self.negotiated().client_info
    }

    /// What the client says it can do.
    pub fn capabilities(&self) -> &ClientCapabilities {
        &self.negotiated().client_capabilities
    }

    /// The revision of the protocol that was agreed on.
    pub fn revision(&self) -> Revision {
        self.negotiated().revision
    }

    /// Asks whether the client is still there.
    pub fn ping(&self) -> Call<EmptyResult> {
        self.call(PingRequest::default())
    }

    /// Asks for the folders that the client works in.
    pub fn list_roots(&self) -> Call<ListRootsResult> {
        self.call(ListRootsRequest::default())
    }

    /// Asks the client for anything the protocol has, to be awaited.
    ///
    /// What the client did not say it can do is not asked, nor what its revision has no words for, such as a page
    /// to go to before 2025-11-25: the call fails with [`CallError::NotAllowed`], which says what it was.
    pub fn call<M: Method + Narrow>(&self, mut request: M) -> Call<M::Response> {
        let Negotiated { revision, client_capabilities, capabilities, .. } = self.negotiated();
        let is_allowed = MethodInfo::find_in(M::NAME, *revision)
            .is_some_and(|method| method.is_allowed(*revision, client_capabilities, capabilities));
        if !is_allowed {
            let why = "the client did not say that it can answer this";
            return self.peer.refuse_call(CallError::not_allowed(M::NAME, why));
        }
        // Of what it said, only what the revision has can be meant.
        let mut can = client_capabilities.clone();
        can.narrow(*revision);
        let lacking = request.lacks(&|capability| can.has(capability));
        request.narrow(*revision);
        if let Err(misfit) = request.fits(*revision) {
            return self.peer.refuse_call(CallError::not_allowed(M::NAME, misfit.to_string()));
        }
        if let Some(capability) = lacking {
            let why = format!("the client did not say that it has the capability `{capability}`");
            return self.peer.refuse_call(CallError::not_allowed(M::NAME, why));
        }
        self.peer.call(&request)
    }

    fn negotiated(&self) -> &Negotiated {
        self.session.negotiated().expect("only requests after the handshake have a client")
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client").field("info", self.info()).finish_non_exhaustive()
    }
}
