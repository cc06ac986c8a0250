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
use super::{Sessions, Shared, rules};
use crate::handle::handle;
use crate::initialized::same_version;
use crate::list::{Listing, Pages};
use crate::rules::{absolute, advertised};
use crate::session_options::{Offered, OpenedSession};

handle! {
    /// The agent at the other end: the methods that a client calls in version 2.
    ///
    /// What the agent did not advertise, and what the protocol forbids, is refused here with an error that names the rule,
    /// and is not sent.
    pub struct Agent: ProtocolVersion::V2, capabilities
}

impl Agent {
    /// `initialize`: agrees on the version and returns the agent's capabilities. The first call on a connection.
    ///
    /// An agent that answers with another version is an error, after which nothing else can be called. One that fails may be
    /// tried again; [`unsupported_version`](super::unsupported_version) reads which versions an agent speaks that refuses
    /// this one.
    pub fn initialize(&self, request: InitializeRequest) -> Call<InitializeResponse> {
        let initialized = &self.shared.initialized;
        match initialized.begin(request.protocol_version, ProtocolVersion::V2, &request.capabilities) {
            Ok(()) => self.keep_answer(self.peer.call(&request).decode_by(read_answer)),
            Err(why) => self.peer.refuse_call(CallError::not_allowed(InitializeRequest::NAME, why)),
        }
    }

    /// What the agent is. None before `initialize` has been answered.
    pub fn info(&self) -> Option<&Implementation> {
        self.greeting().map(|answer| &answer.info)
    }

    /// `auth/login`: proves who the user is, by a method of type `agent` that the agent offered.
    pub fn login(&self, request: LoginAuthRequest) -> Call<LoginAuthResponse> {
        self.checked(&request, |greeting| rules::login(&request.method_id, greeting))
    }

    /// `auth/logout`: makes the agent forget who the user is. Only where it offers a way to log in.
    pub fn logout(&self, request: LogoutAuthRequest) -> Call<LogoutAuthResponse> {
        self.checked(&request, rules::offers_login)
    }

    /// `session/new`: begins a conversation.
    pub fn new_session(&self, request: NewSessionRequest) -> Call<NewSessionResponse> {
        let call = self.checked(&request, |greeting| {
            let NewSessionRequest { cwd, additional_directories, mcp_servers, .. } = &request;
            rules::session_setup(cwd, additional_directories, mcp_servers, &greeting.capabilities)
        });
        self.remember(None, call)
    }

    /// `session/resume`: takes up a conversation. With [`ReplayFrom`](agentwire_acp_schema::v2::ReplayFrom) it comes
    /// again, from there on, as updates before this returns. The session's state comes before this returns in any case.
    pub fn resume_session(&self, request: ResumeSessionRequest) -> Call<ResumeSessionResponse> {
        let call = self.checked(&request, |greeting| {
            let ResumeSessionRequest { cwd, additional_directories, mcp_servers, .. } = &request;
            rules::session_setup(cwd, additional_directories, mcp_servers, &greeting.capabilities)
        });
        self.remember(Some(request.session_id), call)
    }

    /// `session/close`: ends a session, whatever runs in it, and what it does in the background. An agent that does not
    /// know the session has nothing to close, and that counts as closed.
    pub fn close_session(&self, request: CloseSessionRequest) -> CloseCall {
        let call = self.checked(&request, |greeting| rules::sessions(&greeting.capabilities).map(drop));
        CloseCall { call, shared: self.shared.clone(), session_id: request.session_id }
    }

    /// `session/delete`: makes the agent forget a conversation.
    pub fn delete_session(&self, request: DeleteSessionRequest) -> Call<DeleteSessionResponse> {
        let call = self.checked(&request, |greeting| {
            advertised("session.delete", rules::sessions(&greeting.capabilities)?.delete.is_some())
        });
        let (shared, session_id) = (self.shared.clone(), request.session_id);
        call.check(move |deleted| {
            shared.forget(&session_id);
            Ok(deleted)
        })
    }

    /// `session/prompt`: one turn. When it returns, the agent is idle, and every update of the turn has been heard.
    /// [`updates`](PromptCall::updates) makes a stream of it.
    ///
    /// Dropping it cancels the turn, and so does the end of its time, if it has one.
    pub fn prompt(&self, request: PromptRequest) -> PromptCall {
        let rule = |greeting: &InitializeResponse| rules::prompt(&request.prompt, &greeting.capabilities);
        let checked = self.shared.initialized.check(PromptRequest::NAME, rule);
        PromptCall::new(self.peer.clone(), self.shared.clone(), request, checked)
    }

    /// `session/cancel`: ends what the session does in the foreground; the turn then ends as cancelled. Permission
    /// requests that wait for the user are the agent's to take back.
    pub fn cancel(&self, notification: CancelSessionNotification) -> Notify<'_> {
        let rule = |greeting: &InitializeResponse| rules::sessions(&greeting.capabilities).map(drop);
        match self.shared.initialized.check(CancelSessionNotification::NAME, rule) {
            Ok(()) => self.peer.notify(&notification),
            Err(error) => self.peer.refuse_notify(error),
        }
    }

    /// `tool_call/cancel`: ends one tool call, where the agent says that it can be ended now. That it has ended comes as
    /// an update.
    pub fn cancel_tool_call(&self, request: CancelToolCallRequest) -> Call<CancelToolCallResponse> {
        let CancelToolCallRequest { session_id, tool_call_id, .. } = &request;
        self.checked(&request, |_| {
            let can = self.shared.states.can_cancel_call(session_id, tool_call_id);
            if can { Ok(()) } else { Err(format!("the tool call {tool_call_id:?} cannot be cancelled now")) }
        })
    }

    /// `terminal/cancel`: ends the command of one terminal, where the agent says that it can be ended now. That it has
    /// ended comes as an update.
    pub fn cancel_terminal(&self, request: CancelTerminalRequest) -> Call<CancelTerminalResponse> {
        let CancelTerminalRequest { session_id, terminal_id, .. } = &request;
        self.checked(&request, |_| {
            let can = self.shared.states.can_cancel_terminal(session_id, terminal_id);
            if can { Ok(()) } else { Err(format!("the terminal {terminal_id:?} cannot be cancelled now")) }
        })
    }

    fn list_page(&self, request: &ListSessionsRequest) -> Call<ListSessionsResponse> {
        self.checked(request, |greeting| {
            rules::sessions(&greeting.capabilities)?;
            absolute(request.cwd.as_deref())
        })
    }
}

/// Reads the answer to `initialize`. Of one of another version only the version is read.
pub(crate) fn read_answer(answer: &RawJson) -> Result<InitializeResponse, serde_json::Error> {
    #[derive(Deserialize)]
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

            /// An empty list says nothing of the options: updates may have listed some before.
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
