//! `RemoteClient`: the handle on the client that sent a request.

use std::fmt;

use agentwire_jsonrpc::{NotificationMethod, RequestMethod};
use agentwire_mcp_schema::core_tasks::RelatedTaskMetadata;
use agentwire_mcp_schema::{
    ClientCapabilities, Downgrade, ElicitationCompleteNotification, EmptyResult, HasMeta, Implementation,
    ListRootsRequest, ListRootsResult, MethodInfo, PingRequest, Revision,
};
use agentwire_peer::runtime::PeerExt;
use agentwire_peer::{Call, CallError, Peer};

use crate::request::client_context::ClientContext;
use crate::request::yield_timer::yield_once;

/// A handle on the client that a request came from. Cloning is cheap.
///
/// ```
/// use agentwire_mcp_server::Context;
///
/// async fn greet(cx: Context) -> String {
///     let client = cx.client();
///     let name = client.info().map_or("stranger", |info| &info.name);
///     format!("Hello {name}, which speaks {}", client.revision())
/// }
/// # let _ = greet;
/// ```
#[derive(Clone)]
pub struct RemoteClient {
    /// None for a modern request, whose client takes no requests.
    peer: Option<Peer>,
    caller: ClientContext,
    /// The id of the task in a session that the request has become.
    task: Option<Box<str>>,
}

impl RemoteClient {
    pub(crate) fn new(peer: Option<Peer>, caller: ClientContext, task: Option<Box<str>>) -> Self {
        Self { peer, caller, task }
    }

    /// The client's name and version. Optional since revision 2026-07-28.
    pub fn info(&self) -> Option<&Implementation> {
        self.caller.info()
    }

    /// The client's capabilities. Since revision 2026-07-28 they may differ between requests.
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

    /// Asks for the folders that the client works in. It fails since 2026-07-28, where
    /// [`Context::list_roots`](crate::Context::list_roots) does not.
    pub fn list_roots(&self) -> Call<ListRootsResult> {
        self.call(ListRootsRequest::default())
    }

    /// Notifies the client that the task on a [`Page`](crate::Page) is done, so that the client need not wait or ask any
    /// more. Only 2025-11-25 has this; nothing is sent to other clients, nor to those that know no pages.
    ///
    /// # Errors
    ///
    /// When the connection is over.
    pub async fn elicitation_complete(&self, elicitation_id: impl Into<String>) -> Result<(), CallError> {
        let known = MethodInfo::find_in(ElicitationCompleteNotification::NAME, self.revision());
        if known.is_none() || !self.capabilities().has("elicitation.url") {
            yield_once().await;
            return Ok(());
        }
        let Some(peer) = &self.peer else { return Ok(()) };
        // The request that led to the page may have been answered already.
        peer.unrelated().notify(&ElicitationCompleteNotification::new(elicitation_id)).await
    }

    /// Asks the client for anything the protocol has, to be awaited.
    ///
    /// The call fails with [`CallError::NotAllowed`](crate::CallError::NotAllowed) if the client lacks the capability,
    /// or if its revision has no form for the request, such as for a page before 2025-11-25. So does every call since
    /// 2026-07-28, where a client takes no requests: [`Context::elicit`](crate::Context::elicit) and the methods beside
    /// it work in both.
    pub fn call<M: RequestMethod + Downgrade + HasMeta>(&self, mut request: M) -> Call<M::Response> {
        if let Some(task) = &self.task {
            RelatedTaskMetadata::new(&**task).write_to(request.meta_slot());
        }
        self.caller.call(self.peer.as_ref(), request)
    }
}

impl fmt::Debug for RemoteClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RemoteClient").field("info", &self.info()).finish_non_exhaustive()
    }
}
