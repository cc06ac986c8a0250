//! The handle through which an agent of version 1 calls its client, and the context of a request.

use std::path::Path;
use std::sync::Arc;

use agentwire_acp_schema::v1::{
    ClientCapabilities, CompleteElicitationNotification, CreateElicitationRequest, CreateElicitationResponse,
    CreateTerminalRequest, CreateTerminalResponse, ElicitationMode, Implementation, KillTerminalRequest,
    KillTerminalResponse, ReadTextFileRequest, ReadTextFileResponse, ReleaseTerminalRequest,
    ReleaseTerminalResponse, RequestPermissionRequest, RequestPermissionResponse, SessionNotification,
    SessionUpdate, TerminalOutputRequest, TerminalOutputResponse, WaitForTerminalExitRequest,
    WaitForTerminalExitResponse, WriteTextFileRequest, WriteTextFileResponse,
};
use agentwire_jsonrpc::{NotificationMethod, RequestMethod};
use agentwire_peer::runtime::PeerExt;
use agentwire_peer::{Call, CallError, Notify, Peer, RequestContext};

use crate::connection_state::{ConnectionState, Handshake};
use crate::extension::extension_methods;
use crate::outgoing;

/// The connected client: the methods that an agent calls on it.
///
/// A method that the client did not advertise fails without being sent. So does a request with a relative path.
///
/// ```
/// use agentwire_acp_agent::{Error, RemoteClient};
/// use agentwire_acp_schema::v1::{ReadTextFileRequest, SessionId, SessionNotification};
///
/// async fn quote(client: &RemoteClient, session: &SessionId, path: &str) -> Result<(), Error> {
///     let file = client.read_text_file(ReadTextFileRequest::new(session, path)).await?;
///     client.session_update(SessionNotification::message(session, file.content)).await?;
///     Ok(())
/// }
/// ```
#[derive(Clone, Debug)]
pub struct RemoteClient {
    pub(crate) peer: Peer,
    pub(crate) state: Arc<ConnectionState>,
}

impl RemoteClient {
    pub(crate) fn new(peer: Peer, state: Arc<ConnectionState>) -> Self {
        Self { peer, state }
    }

    /// Returns the client's capabilities, or `None` before `initialize` is answered.
    pub fn capabilities(&self) -> Option<&ClientCapabilities> {
        self.state.handshake.get().map(Handshake::client_capabilities)
    }

    /// Returns the client's name and version, or `None` if it sent none.
    pub fn info(&self) -> Option<&Implementation> {
        self.state.handshake.get().and_then(|handshake| handshake.client.client_info.as_ref())
    }

    /// `session/update`: sends an update of a session. Awaiting it waits while the send queue is full. This bounds the
    /// agent's memory when the client reads slowly.
    ///
    /// These fail without being sent: a notice or a compaction for a client that did not advertise it, a relative path, an
    /// option whose current value is not in its list, and a cost that is not a number. Boolean options are removed from
    /// the update for a client that did not advertise them.
    pub fn session_update(&self, mut notification: SessionNotification) -> Notify<'_> {
        match outgoing::check_update(&mut notification.update, self.capabilities()) {
            Ok(()) => self.peer.notify(&notification),
            Err(why) => self.peer.refuse_notify(CallError::not_allowed(SessionNotification::NAME, why)),
        }
    }

    /// Checks an update as [`session_update`](Self::session_update) does, without sending it. An agent that stores an
    /// update before it sends it calls this first.
    ///
    /// # Errors
    ///
    /// [`CallError::NotAllowed`] if `session_update` would refuse the update.
    pub fn check_update(&self, update: &SessionUpdate) -> Result<(), CallError> {
        outgoing::check_update(&mut update.clone(), self.capabilities())
            .map_err(|why| CallError::not_allowed(SessionNotification::NAME, why))
    }

    /// `session/request_permission`: asks the user. Fails without being sent if it has no options, or two options with the same
    /// id.
    pub fn request_permission(&self, request: RequestPermissionRequest) -> Call<RequestPermissionResponse> {
        let call = &request.tool_call;
        let checked = outgoing::check_permission_options(&request.options).and_then(|()| {
            outgoing::check_tool_call(
                call.locations.as_deref().unwrap_or_default(),
                call.content.as_deref().unwrap_or_default(),
            )
        });
        match checked {
            Ok(()) => self.peer.call(&request),
            Err(why) => self.peer.refuse_call(CallError::not_allowed(RequestPermissionRequest::NAME, why)),
        }
    }

    /// `fs/read_text_file`: reads a file with the editor's unsaved changes. Lines are counted from 1.
    pub fn read_text_file(&self, request: ReadTextFileRequest) -> Call<ReadTextFileResponse> {
        if request.line == Some(0) {
            let why = "lines are counted from 1";
            return self.peer.refuse_call(CallError::not_allowed(ReadTextFileRequest::NAME, why));
        }
        self.gated(&request, Some(&request.path), "fs.readTextFile", |client| client.fs.read_text_file)
    }

    /// `fs/write_text_file`: writes a file through the editor, and creates it if it does not exist.
    pub fn write_text_file(&self, request: WriteTextFileRequest) -> Call<WriteTextFileResponse> {
        self.gated(&request, Some(&request.path), "fs.writeTextFile", |client| client.fs.write_text_file)
    }

    /// `terminal/create`: starts a command. Release the terminal when done with it.
    pub fn create_terminal(&self, request: CreateTerminalRequest) -> Call<CreateTerminalResponse> {
        self.terminal(&request, request.cwd.as_deref())
    }

    /// `terminal/output`: returns what the command has printed so far.
    pub fn terminal_output(&self, request: TerminalOutputRequest) -> Call<TerminalOutputResponse> {
        self.terminal(&request, None)
    }

    /// `terminal/wait_for_exit`: waits for the command to end.
    pub fn wait_for_terminal_exit(
        &self,
        request: WaitForTerminalExitRequest,
    ) -> Call<WaitForTerminalExitResponse> {
        self.terminal(&request, None)
    }

    /// `terminal/kill`: kills the command. Its output stays available until the terminal is released.
    pub fn kill_terminal(&self, request: KillTerminalRequest) -> Call<KillTerminalResponse> {
        self.terminal(&request, None)
    }

    /// `terminal/release`: kills the command if it still runs, and releases the terminal.
    pub fn release_terminal(&self, request: ReleaseTerminalRequest) -> Call<ReleaseTerminalResponse> {
        self.terminal(&request, None)
    }

    /// `elicitation/create`: asks the user for input other than a permission. Fails without being sent if the client
    /// did not advertise the mode, or if the URL contains credentials.
    pub fn create_elicitation(&self, request: CreateElicitationRequest) -> Call<CreateElicitationResponse> {
        if let ElicitationMode::Url(mode) = &request.mode
            && let Err(why) = outgoing::check_url(&mode.url)
        {
            return self.peer.refuse_call(CallError::not_allowed(CreateElicitationRequest::NAME, why));
        }
        let (name, has): (_, fn(&ClientCapabilities) -> bool) = match request.mode {
            ElicitationMode::Url(_) => ("elicitation.url", takes_urls),
            ElicitationMode::Form(_) => ("elicitation.form", takes_forms),
            _ => ("elicitation in that mode", |_| false),
        };
        self.gated(&request, None, name, has)
    }

    /// `elicitation/complete`: reports that the user has completed an elicitation by URL.
    pub fn complete_elicitation(&self, notification: CompleteElicitationNotification) -> Notify<'_> {
        if self.capabilities().is_some_and(takes_urls) {
            self.peer.notify(&notification)
        } else {
            self.peer.refuse_notify(not_advertised(CompleteElicitationNotification::NAME, "elicitation.url"))
        }
    }

    extension_methods! {}

    fn terminal<M: RequestMethod>(&self, request: &M, cwd: Option<&Path>) -> Call<M::Response> {
        self.gated(request, cwd, "terminal", |client| client.terminal)
    }

    fn gated<M: RequestMethod>(
        &self,
        request: &M,
        path: Option<&Path>,
        name: &'static str,
        has: impl FnOnce(&ClientCapabilities) -> bool,
    ) -> Call<M::Response> {
        if !self.capabilities().is_some_and(has) {
            return self.peer.refuse_call(not_advertised(M::NAME, name));
        }
        match outgoing::check_absolute(path) {
            Err(why) => self.peer.refuse_call(CallError::not_allowed(M::NAME, why)),
            Ok(()) => self.peer.call(request),
        }
    }
}

fn takes_forms(client: &ClientCapabilities) -> bool {
    client.elicitation.as_ref().is_some_and(|elicitation| elicitation.form.is_some())
}

fn takes_urls(client: &ClientCapabilities) -> bool {
    client.elicitation.as_ref().is_some_and(|elicitation| elicitation.url.is_some())
}

fn not_advertised(method: &'static str, capability: &str) -> CallError {
    CallError::not_allowed(method, outgoing::not_advertised(capability))
}

/// The context of one request: its client and its cancellation.
///
/// ```
/// use agentwire_acp_agent::Context;
/// use agentwire_acp_schema::v1::{PromptResponse, StopReason};
///
/// /// Works until it is done or the turn is cancelled.
/// async fn turn(context: Context, work: impl Future<Output = ()> + Unpin) -> PromptResponse {
///     use futures_util::future::{Either, select};
///     match select(work, std::pin::pin!(context.cancelled())).await {
///         Either::Left(_) => PromptResponse::new(StopReason::EndTurn),
///         Either::Right(_) => PromptResponse::new(StopReason::Cancelled),
///     }
/// }
/// ```
#[derive(Clone, Debug)]
pub struct Context {
    pub(crate) client: RemoteClient,
    pub(crate) request: RequestContext,
    #[cfg(feature = "unstable")]
    pub(crate) drafts: crate::unstable::Drafts,
}

impl Context {
    pub(crate) fn new(client: RemoteClient, request: RequestContext) -> Self {
        Self {
            client,
            request,
            #[cfg(feature = "unstable")]
            drafts: crate::unstable::Drafts::default(),
        }
    }

    /// Returns the client that sent the request.
    pub fn client(&self) -> &RemoteClient {
        &self.client
    }

    /// Completes when the client cancels the request: a turn by `session/cancel` or `session/close`, any request by
    /// `$/cancel_request`.
    pub fn cancelled(&self) -> agentwire_peer::Cancelled {
        self.request.cancelled()
    }

    /// Returns whether the client has cancelled the request.
    pub fn is_cancelled(&self) -> bool {
        self.request.is_cancelled()
    }
}
