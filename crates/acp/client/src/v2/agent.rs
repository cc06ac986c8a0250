//! The handle that calls an agent of version 2.

use agentwire_acp_schema::v2::{
    AgentCapabilities, CancelSessionNotification, CancelTerminalRequest, CancelTerminalResponse,
    CancelToolCallRequest, CancelToolCallResponse, CloseSessionRequest, DeleteSessionRequest,
    DeleteSessionResponse, Implementation, InitializeRequest, InitializeResponse, ListSessionsRequest,
    ListSessionsResponse, LoginAuthRequest, LoginAuthResponse, LogoutAuthRequest, LogoutAuthResponse,
    NewSessionRequest, NewSessionResponse, PromptRequest, ProtocolVersion, ResumeSessionRequest,
    ResumeSessionResponse, SessionConfigOption, SessionId, SetSessionConfigOptionRequest,
    SetSessionConfigOptionResponse,
};
use agentwire_jsonrpc::{NotificationMethod, RawJson, RequestMethod};
use agentwire_peer::runtime::{CallExt, PeerExt};
use agentwire_peer::{Call, CallError, Notify};
use serde::Deserialize;

use super::close::CloseCall;
use super::prompt::PromptCall;
use super::{ConnectionState, Sessions, rules};
use crate::handle::handle;
use crate::list::Listing;
use crate::rules::{absolute, advertised};
use crate::session::initialized::same_version;
use crate::session::options::{Offered, OpenedSession};

handle! {
    /// The agent at the other end: the methods that a client calls in version 2.
    ///
    /// A call that the agent did not advertise, or that breaks a rule of the protocol, fails with an error that names
    /// the rule, and is not sent.
    pub struct AgentHandle: ProtocolVersion::V2, capabilities
}

impl AgentHandle {
    /// `initialize`: agrees on the version and returns the agent's capabilities. The first call on a connection.
    ///
    /// Fails where the agent answers with another version; no other method can be called then. After a failure it may
    /// be called again. [`unsupported_version`](super::unsupported_version) reads the agent's versions from its
    /// refusal.
    pub fn initialize(&self, request: InitializeRequest) -> Call<InitializeResponse> {
        let initialized = &self.shared.initialized;
        match initialized.begin(request.protocol_version, ProtocolVersion::V2, &request.capabilities) {
            Ok(()) => self.keep_answer(self.peer.call(&request).decode_by(read_answer)),
            Err(why) => self.peer.refuse_call(CallError::not_allowed(InitializeRequest::NAME, why)),
        }
    }

    /// Returns the agent's name and version, or none before `initialize` is answered.
    pub fn info(&self) -> Option<&Implementation> {
        self.initialize_response().map(|answer| &answer.info)
    }

    /// `auth/login`: authenticates the user, by a method of type `agent` that the agent offered.
    pub fn login(&self, request: LoginAuthRequest) -> Call<LoginAuthResponse> {
        self.checked(&request, |response| rules::login(&request.method_id, response))
    }

    /// `auth/logout`: ends the authentication. Only for an agent that offers a method to log in.
    pub fn logout(&self, request: LogoutAuthRequest) -> Call<LogoutAuthResponse> {
        self.checked(&request, rules::offers_login)
    }

    /// `session/new`: begins a conversation.
    pub fn new_session(&self, request: NewSessionRequest) -> Call<NewSessionResponse> {
        let call = self.checked(&request, |response| {
            let NewSessionRequest { cwd, additional_directories, mcp_servers, .. } = &request;
            rules::session_setup(cwd, additional_directories, mcp_servers, &response.capabilities)
        });
        self.remember(None, call)
    }

    /// `session/resume`: opens a stored session. With [`ReplayFrom`](agentwire_acp_schema::v2::ReplayFrom) its updates
    /// from there on are delivered before this returns. The session's state is always delivered before this returns.
    pub fn resume_session(&self, request: ResumeSessionRequest) -> Call<ResumeSessionResponse> {
        let call = self.checked(&request, |response| {
            let ResumeSessionRequest { cwd, additional_directories, mcp_servers, .. } = &request;
            rules::session_setup(cwd, additional_directories, mcp_servers, &response.capabilities)
        });
        self.remember(Some(request.session_id), call)
    }

    /// `session/close`: closes a session and ends its work, also in the background. Succeeds where the agent does not
    /// know the session.
    pub fn close_session(&self, request: CloseSessionRequest) -> CloseCall {
        let call = self.checked(&request, |response| rules::sessions(&response.capabilities).map(drop));
        CloseCall { call, shared: self.shared.clone(), session_id: request.session_id }
    }

    /// `session/delete`: makes the agent forget a conversation.
    pub fn delete_session(&self, request: DeleteSessionRequest) -> Call<DeleteSessionResponse> {
        let call = self.checked(&request, |response| {
            advertised("session.delete", rules::sessions(&response.capabilities)?.delete.is_some())
        });
        let (shared, session_id) = (self.shared.clone(), request.session_id);
        call.on_result(move |_| shared.forget(&session_id))
    }

    /// `session/prompt`: runs one turn. When this returns the agent is idle, and every update of the turn has been
    /// delivered. [`updates`](PromptCall::updates) turns it into a stream.
    ///
    /// Dropping it cancels the turn, and so does the end of its time, if it has one.
    pub fn prompt(&self, request: PromptRequest) -> PromptCall {
        let rule = |response: &InitializeResponse| rules::prompt(&request.prompt, &response.capabilities);
        let checked = self.shared.initialized.check(PromptRequest::NAME, rule);
        PromptCall::new(self.peer.clone(), self.shared.clone(), request, checked)
    }

    /// `session/cancel`: ends what the session does in the foreground; the turn then ends as cancelled. Permission
    /// requests that wait for the user are the agent's to take back.
    pub fn cancel(&self, notification: CancelSessionNotification) -> Notify<'_> {
        let rule = |response: &InitializeResponse| rules::sessions(&response.capabilities).map(drop);
        match self.shared.initialized.check(CancelSessionNotification::NAME, rule) {
            Ok(()) => self.peer.notify(&notification),
            Err(error) => self.peer.refuse_notify(error),
        }
    }

    /// `tool_call/cancel`: cancels one tool call, whose last update must allow it. An update reports its end.
    pub fn cancel_tool_call(&self, request: CancelToolCallRequest) -> Call<CancelToolCallResponse> {
        let CancelToolCallRequest { session_id, tool_call_id, .. } = &request;
        self.checked(&request, |_| {
            let can = self.shared.states.can_cancel_call(session_id, tool_call_id);
            if can { Ok(()) } else { Err(format!("the tool call {tool_call_id:?} cannot be cancelled now")) }
        })
    }

    /// `terminal/cancel`: ends the command of one terminal, whose last update must allow it. An update reports its end.
    pub fn cancel_terminal(&self, request: CancelTerminalRequest) -> Call<CancelTerminalResponse> {
        let CancelTerminalRequest { session_id, terminal_id, .. } = &request;
        self.checked(&request, |_| {
            let can = self.shared.states.can_cancel_terminal(session_id, terminal_id);
            if can { Ok(()) } else { Err(format!("the terminal {terminal_id:?} cannot be cancelled now")) }
        })
    }

    fn list_page(&self, request: &ListSessionsRequest) -> Call<ListSessionsResponse> {
        self.checked(request, |response| {
            rules::sessions(&response.capabilities)?;
            absolute(request.cwd.as_deref())
        })
    }
}

/// Reads the answer to `initialize`. Of one of another version only the version is read.
pub(crate) fn read_answer(answer: &RawJson) -> Result<InitializeResponse, serde_json::Error> {
    #[derive(Deserialize)]
    #[serde(expecting = "an object")]
    #[serde(rename_all = "camelCase")]
    struct Version {
        protocol_version: ProtocolVersion,
    }

    let Version { protocol_version } = answer.decode()?;
    match protocol_version {
        ProtocolVersion::V2 => answer.decode(),
        other => Ok(InitializeResponse::new(other, Implementation::new("", ""))),
    }
}

impl Listing for ListSessionsRequest {
    type Item = agentwire_acp_schema::v2::SessionInfo;

    fn at(&mut self, cursor: String) {
        self.cursor = Some(cursor.into());
    }

    fn split(page: ListSessionsResponse) -> (Vec<Self::Item>, Option<String>) {
        (page.sessions, page.next_cursor.map(|cursor| cursor.to_string()))
    }
}

macro_rules! opened {
    ($($Answer:ty: $($session_id:ident)?;)*) => {$(
        impl OpenedSession for $Answer {
            type Option = SessionConfigOption;

            /// An empty list is ignored: earlier updates may have listed options.
            fn offered(&self) -> Offered<'_, SessionConfigOption> {
                let id = [$(&self.$session_id)?].first().copied();
                let options = (!self.config_options.is_empty()).then_some(&*self.config_options);
                (id, None, options)
            }
        }
    )*};
}

opened! {
    NewSessionResponse: session_id;
    ResumeSessionResponse: ;
}

#[cfg(feature = "unstable")]
opened! { agentwire_acp_schema::v2::unstable::ForkSessionResponse: session_id; }
