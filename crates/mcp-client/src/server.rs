use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use agentwire_jsonrpc::{Method, RawJson};
use agentwire_mcp_schema::{
    CallToolRequest, ClientCapabilities, CompleteRequest, GetPromptRequest, HasMeta, Implementation,
    InitializeResult, ListPromptsRequest, ListResourceTemplatesRequest, ListResourcesRequest,
    ListToolsRequest, LoggingLevel, MethodInfo, Narrow, PingRequest, ReadResourceRequest, Revision,
    ServerCapabilities, SetLevelRequest, SubscribeRequest, UnsubscribeRequest,
};
use agentwire_peer::{CallError, Closed, Peer};
use serde::Serialize;

use crate::{Call, Pages};

/// A handle on the server, after the handshake. Cloning is cheap.
///
/// Every method that asks something gives a [`Call`] to be awaited.
#[derive(Clone)]
pub struct Server {
    peer: Peer,
    session: Arc<Session>,
}

/// What the handshake agreed on, and how long to wait.
pub(crate) struct Session {
    pub(crate) greeting: InitializeResult,
    pub(crate) revision: Revision,
    pub(crate) client_capabilities: ClientCapabilities,
    pub(crate) timeout: Option<Duration>,
    pub(crate) progress_maximum: Option<Duration>,
}

impl Server {
    pub(crate) fn new(peer: Peer, session: Session) -> Self {
        Self { peer, session: Arc::new(session) }
    }

    /// Who the server says it is.
    pub fn info(&self) -> &Implementation {
        &self.session.greeting.server_info
    }

    /// What the server offers.
    pub fn capabilities(&self) -> &ServerCapabilities {
        &self.session.greeting.capabilities
    }

    /// How to use the server, in words for the model.
    pub fn instructions(&self) -> Option<&str> {
        self.session.greeting.instructions.as_deref()
    }

    /// The revision of the protocol that was agreed on.
    pub fn revision(&self) -> Revision {
        self.session.revision
    }

    /// The server's tools.
    pub fn tools(&self) -> Pages<ListToolsRequest> {
        Pages::new(self.clone())
    }

    /// The server's resources.
    pub fn resources(&self) -> Pages<ListResourcesRequest> {
        Pages::new(self.clone())
    }

    /// The patterns of the resources that the server does not list one by one.
    pub fn resource_templates(&self) -> Pages<ListResourceTemplatesRequest> {
        Pages::new(self.clone())
    }

    /// The server's prompts.
    pub fn prompts(&self) -> Pages<ListPromptsRequest> {
        Pages::new(self.clone())
    }

    /// Calls a tool. The arguments are anything whose JSON is an object, or `()` for none.
    ///
    /// A tool that failed gives a result with `is_error`, which is for the model to read, not an error.
    pub fn call_tool<A: Serialize>(&self, name: impl Into<String>, arguments: A) -> Call<CallToolRequest> {
        let request = CallToolRequest::new(name);
        let encoded = match RawJson::encode(&arguments) {
            Ok(none) if none.is_null() => Ok(request),
            Ok(object) if object.as_str().starts_with('{') => Ok(request.arguments(object)),
            Ok(_) => Err("the arguments are no object".into()),
            Err(error) => Err(format!("the arguments cannot be sent: {error}")),
        };
        match encoded {
            Ok(request) => self.call(request),
            Err(why) => self.refuse(CallError::not_allowed(CallToolRequest::NAME, why)),
        }
    }

    /// Reads a resource.
    pub fn read_resource(&self, uri: impl Into<String>) -> Call<ReadResourceRequest> {
        self.call(ReadResourceRequest::new(uri))
    }

    /// Asks to hear of changes to a resource; see [`Client::on_resource_updated`](crate::Client::on_resource_updated).
    pub fn subscribe(&self, uri: impl Into<String>) -> Call<SubscribeRequest> {
        self.call(SubscribeRequest::new(uri))
    }

    /// Asks not to hear of changes to a resource any more.
    pub fn unsubscribe(&self, uri: impl Into<String>) -> Call<UnsubscribeRequest> {
        self.call(UnsubscribeRequest::new(uri))
    }

    /// Gets a prompt with its arguments filled in.
    pub fn get_prompt(&self, request: GetPromptRequest) -> Call<GetPromptRequest> {
        self.call(request)
    }

    /// Asks how an argument might go on.
    pub fn complete(&self, request: CompleteRequest) -> Call<CompleteRequest> {
        self.call(request)
    }

    /// Asks for log messages from that level upwards; see [`Client::on_log`](crate::Client::on_log).
    pub fn set_logging_level(&self, level: LoggingLevel) -> Call<SetLevelRequest> {
        self.call(SetLevelRequest::new(level))
    }

    /// Asks whether the server is still there.
    pub fn ping(&self) -> Call<PingRequest> {
        self.call(PingRequest::default())
    }

    /// Asks anything that the protocol has.
    ///
    /// What the server did not say it can do is not asked: the call fails with [`CallError::NotAllowed`]. What
    /// its revision does not have is left out, and fails the call in the same way where nothing would be left.
    pub fn call<M: Method + Narrow + HasMeta>(&self, mut request: M) -> Call<M> {
        let Session { revision, client_capabilities, .. } = &*self.session;
        let is_allowed = MethodInfo::find_in(M::NAME, *revision)
            .is_some_and(|method| method.is_allowed(*revision, client_capabilities, self.capabilities()));
        if !is_allowed {
            return self
                .refuse(CallError::not_allowed(M::NAME, "the server did not say that it offers this"));
        }
        request.narrow(*revision);
        if let Err(misfit) = request.fits(*revision) {
            return self.refuse(CallError::not_allowed(M::NAME, misfit.to_string()));
        }
        Call::new(self.peer.clone(), Ok(request), self.session.timeout, self.session.progress_maximum)
    }

    /// Completes when the server has closed its side, or is gone, with the reason where there is one.
    pub async fn closed(&self) -> Closed {
        self.peer.closed().await
    }

    fn refuse<M>(&self, error: CallError) -> Call<M> {
        Call::new(self.peer.clone(), Err(error), None, None)
    }
}

impl fmt::Debug for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Server")
            .field("info", self.info())
            .field("revision", &self.revision())
            .finish_non_exhaustive()
    }
}
