use std::fmt;

use agentwire_jsonrpc::Method;
use agentwire_mcp_schema::{
    ClientCapabilities, EmptyResult, Implementation, ListRootsRequest, ListRootsResult, Narrow, PingRequest,
    Revision,
};
use agentwire_peer::{Call, Peer};

use crate::era::Caller;

/// A handle on the client that a request came from. Cloning is cheap.
#[derive(Clone)]
pub struct Client {
    peer: Peer,
    caller: Caller,
}

impl Client {
    pub(crate) fn new(peer: Peer, caller: Caller) -> Self {
        Self { peer, caller }
    }

    /// Who the client says it is. Since 2026-07-28 it need not say so.
    pub fn info(&self) -> Option<&Implementation> {
        self.caller.info()
    }

    /// What the client says it can do. Since 2026-07-28 it may say something else with each request.
    pub fn capabilities(&self) -> &ClientCapabilities {
        self.caller.capabilities()
    }

    /// The revision of the protocol that was agreed on, or that the request is in.
    pub fn revision(&self) -> Revision {
        self.caller.revision()
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
    /// to go to before 2025-11-25: the call fails with [`CallError::NotAllowed`](crate::CallError::NotAllowed), which
    /// says what it was. So does every call since 2026-07-28, where a client takes no requests.
    pub fn call<M: Method + Narrow>(&self, request: M) -> Call<M::Response> {
        self.caller.call(&self.peer, request)
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client").field("info", &self.info()).finish_non_exhaustive()
    }
}
