use std::sync::Arc;

#[cfg(feature = "unstable")]
use agentwire_acp_schema::v2::ClientCapabilities;
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
use agentwire_peer::{Call, CallError, Closed, Notify, Peer, RequestContext};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::close::CloseCall;
use super::prompt::PromptCall;
use super::{Sessions, Shared, rules};
#[cfg(feature = "unstable")]
use crate::greeting::Greeting;
use crate::list::{Listing, Pages};
use crate::rules::{absolute, advertised};

/// The agent at the other end: what a client asks it in version 2.
///
/// What the agent did not advertise, and what the protocol forbids, is refused here with an error that names
/// the rule, without being sent.
#[derive(Clone, Debug)]
pub struct Agent {
    peer: Peer,
    shared: Arc<Shared>,
}

impl Agent {
    pub(crate) fn new(peer: Peer, shared: Arc<Shared>) -> Self {
        Self { peer, shared }
    }

    /// `initialize`: agrees on the version and hears what the agent can do. The first call on a connection.
    ///
    /// An agent that answers with another version is an error, after which nothing else can be asked of it. One that
    /// fails may be tried again; [`unsupported_version`](super::unsupported_version) reads which versions an agent
    /// speaks that refuses this one.
    pub fn initialize(&self, request: InitializeRequest) -> Call<InitializeResponse> {
        let why = if request.protocol_version != ProtocolVersion::V2 {
            "this client speaks version 2 of the protocol, and asks for no other"
        } else if self.shared.greeting.greet(&request.capabilities) {
            ""
        } else {
            "this connection has been initialized already"
        };
        if !why.is_empty() {
            return self.peer.refuse_call(CallError::not_allowed(InitializeRequest::NAME, why));
        }
        let shared = self.shared.clone();
        self.peer.call(&request).decode_by(read_greeting).check(move |response| {
            if response.protocol_version != ProtocolVersion::V2 {
                let why = format!(
                    "the agent speaks version {} of the protocol, and this client speaks version {}",
                    response.protocol_version,
                    ProtocolVersion::V2
                );
                return Err(CallError::not_allowed(InitializeRequest::NAME, why));
            }
            shared.greeting.set_agent(response.clone());
            Ok(response)
        })
    }

    /// What the agent said of itself. None before `initialize` has been answered.
    pub fn greeting(&self) -> Option<&InitializeResponse> {
        self.shared.greeting.agent()
    }

    /// What the agent can do. None before `initialize` has been answered.
    pub fn capabilities(&self) -> Option<&AgentCapabilities> {
        self.greeting().map(|greeting| &greeting.capabilities)
    }

    /// What the agent is. None before `initialize` has been answered.
    pub fn info(&self) -> Option<&Implementation> {
        self.greeting().map(|greeting| &greeting.info)
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
        self.remember_new(call)
    }

    /// `session/resume`: takes up a conversation. With [`ReplayFrom`](agentwire_acp_schema::v2::ReplayFrom) it comes
    /// again, from there on, as updates before this returns. The session's state comes before this returns in any case.
    pub fn resume_session(&self, request: ResumeSessionRequest) -> Call<ResumeSessionResponse> {
        let call = self.checked(&request, |greeting| {
            let ResumeSessionRequest { cwd, additional_directories, mcp_servers, .. } = &request;
            rules::session_setup(cwd, additional_directories, mcp_servers, &greeting.capabilities)
        });
        self.remember_resumed(request.session_id, call)
    }

    /// `session/list`: the conversations that the agent knows, one by one; pages are asked for as they are needed.
    pub fn sessions(&self, request: ListSessionsRequest) -> Sessions {
        let agent = self.clone();
        Sessions(Pages::new(request, move |request| agent.list_page(request)))
    }

    /// `session/list`: the conversations that the agent knows, one page of them. See also
    /// [`sessions`](Self::sessions).
    pub fn list_sessions(&self, request: ListSessionsRequest) -> Call<ListSessionsResponse> {
        self.list_page(&request)
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
            shared.offers.forget(&session_id);
            shared.states.forget(&session_id);
            Ok(deleted)
        })
    }

    /// `session/set_config_option`: changes an option, to one of the values that the session offered last; the answer
    /// has all options. Of a session of whose options nothing has been heard on this connection nothing is known, and
    /// the agent decides.
    pub fn set_session_config_option(
        &self,
        request: SetSessionConfigOptionRequest,
    ) -> Call<SetSessionConfigOptionResponse> {
        let call = self.checked(&request, |_| {
            let value = rules::value(&request.value);
            self.shared.offers.value(&request.session_id, &request.config_id, value)
        });
        let (shared, session_id) = (self.shared.clone(), request.session_id);
        call.on_answer(move |response| {
            let options = rules::options(&response.config_options);
            shared.offers.options_answered(&session_id, options);
        })
    }

    /// `session/prompt`: one turn. When it returns, the agent is idle, and every update of the turn has been heard.
    /// [`updates`](PromptCall::updates) makes a stream of it.
    ///
    /// Dropping it cancels the turn, and so does the end of its time, if it has one.
    pub fn prompt(&self, request: PromptRequest) -> PromptCall {
        let rule = |greeting: &InitializeResponse| rules::prompt(&request.prompt, &greeting.capabilities);
        let checked = self.shared.greeting.check(PromptRequest::NAME, rule);
        PromptCall::new(self.peer.clone(), self.shared.clone(), request, checked)
    }

    /// `session/cancel`: ends what the session does in the foreground; the turn then ends as cancelled. Permission
    /// requests that wait for the user are the agent's to take back.
    pub fn cancel(&self, notification: CancelSessionNotification) -> Notify<'_> {
        let rule = |greeting: &InitializeResponse| rules::sessions(&greeting.capabilities).map(drop);
        match self.shared.greeting.check(CancelSessionNotification::NAME, rule) {
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

    /// A request of one's own; its name begins with `_`.
    pub fn extension_request<P, R>(&self, method: &str, params: &P) -> Call<R>
    where
        P: Serialize + ?Sized,
        R: DeserializeOwned + Send + 'static,
    {
        match self.shared.greeting.answered(method) {
            Ok(_) => self.peer.call_method(method, Some(params)),
            Err(error) => self.peer.refuse_call(error),
        }
    }

    /// A notification of one's own; its name begins with `_`.
    pub fn extension_notification<P: Serialize + ?Sized>(&self, method: &str, params: &P) -> Notify<'_> {
        match self.shared.greeting.answered(method) {
            Ok(_) => self.peer.notify_method(method, Some(params)),
            Err(error) => self.peer.refuse_notify(error),
        }
    }

    /// Completes when the agent has closed its side, or is gone, with the reason where there is one.
    pub async fn closed(&self) -> Closed {
        self.peer.closed().await
    }

    /// Whether the connection is over.
    pub fn is_closed(&self) -> bool {
        self.peer.is_closed()
    }

    pub(crate) fn remember_new(&self, call: Call<NewSessionResponse>) -> Call<NewSessionResponse> {
        self.remember(None, call, |session| (Some(&session.session_id), &session.config_options))
    }

    pub(crate) fn remember_resumed(
        &self,
        session_id: SessionId,
        call: Call<ResumeSessionResponse>,
    ) -> Call<ResumeSessionResponse> {
        self.remember(Some(session_id), call, |session| (None, &session.config_options))
    }

    /// Takes note of what a session offers when it is set up. Its id is known, or in the answer. An empty list says
    /// nothing: updates may have said more before.
    pub(crate) fn remember<R: 'static>(
        &self,
        session_id: Option<SessionId>,
        call: Call<R>,
        look: fn(&R) -> (Option<&SessionId>, &[SessionConfigOption]),
    ) -> Call<R> {
        let shared = self.shared.clone();
        call.on_answer(move |session| {
            let (id, offered) = look(session);
            let offered = (!offered.is_empty()).then(|| rules::options(offered));
            if let Some(id) = id.or(session_id.as_ref()) {
                shared.offers.set_up(id, session_id.is_none(), None, offered);
            }
        })
    }

    #[cfg(feature = "unstable")]
    pub(crate) fn line(&self) -> (&Peer, &Greeting<ClientCapabilities, InitializeResponse>) {
        (&self.peer, &self.shared.greeting)
    }

    fn list_page(&self, request: &ListSessionsRequest) -> Call<ListSessionsResponse> {
        self.checked(request, |greeting| {
            rules::sessions(&greeting.capabilities)?;
            absolute(request.cwd.as_deref())
        })
    }

    fn checked<M: RequestMethod>(
        &self,
        request: &M,
        rule: impl FnOnce(&InitializeResponse) -> Result<(), String>,
    ) -> Call<M::Response> {
        self.shared.greeting.checked(&self.peer, request, rule)
    }
}

/// Reads the answer to `initialize`. Of one of another version only the version is read.
pub(crate) fn read_greeting(answer: &RawJson) -> Result<InitializeResponse, serde_json::Error> {
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

/// What a client holds of one request while it answers it.
#[derive(Clone, Debug)]
pub struct Context {
    pub(crate) agent: Agent,
    pub(crate) request: RequestContext,
}

impl Context {
    /// The agent that asked.
    pub fn agent(&self) -> &Agent {
        &self.agent
    }

    /// Completes when the agent no longer wants the answer.
    pub fn cancelled(&self) -> agentwire_peer::Cancelled {
        self.request.cancelled()
    }

    /// Whether the agent no longer wants the answer.
    pub fn is_cancelled(&self) -> bool {
        self.request.is_cancelled()
    }
}
