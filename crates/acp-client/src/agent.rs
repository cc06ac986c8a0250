use std::sync::Arc;

#[cfg(feature = "unstable")]
use agentwire_acp_schema::v1::ClientCapabilities;
use agentwire_acp_schema::v1::{
    AgentCapabilities, AuthMethod, AuthenticateRequest, AuthenticateResponse, CancelNotification,
    CloseSessionRequest, CloseSessionResponse, DeleteSessionRequest, DeleteSessionResponse, Implementation,
    InitializeRequest, InitializeResponse, ListSessionsRequest, ListSessionsResponse, LoadSessionRequest,
    LoadSessionResponse, LogoutRequest, LogoutResponse, NewSessionRequest, NewSessionResponse, PromptRequest,
    ProtocolVersion, ResumeSessionRequest, ResumeSessionResponse, SessionConfigOption, SessionId,
    SessionModeState, SetSessionConfigOptionRequest, SetSessionConfigOptionResponse, SetSessionModeRequest,
    SetSessionModeResponse,
};
use agentwire_jsonrpc::{NotificationMethod, RequestMethod};
use agentwire_peer::{Call, CallError, Closed, Notify, Peer, RequestContext};
use serde::Serialize;
use serde::de::DeserializeOwned;

#[cfg(feature = "unstable")]
use crate::greeting::Greeting;
use crate::list::{Pages, Sessions};
use crate::offers::{Value, options};
use crate::prompt::{PromptCall, TurnGuard};
use crate::rules;
use crate::session::Shared;

/// The agent at the other end: what a client asks it.
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
    /// An agent that answers with a version that this client does not speak is an error, after which nothing
    /// else can be asked of it. One that fails may be tried again.
    pub fn initialize(&self, request: InitializeRequest) -> Call<InitializeResponse> {
        let why = if request.protocol_version != ProtocolVersion::V1 {
            "this client speaks version 1 of the protocol, and asks for no other"
        } else if self.shared.greeting.greet(&request.client_capabilities) {
            ""
        } else {
            "this connection has been initialized already"
        };
        if !why.is_empty() {
            return self.peer.refuse_call(CallError::not_allowed(InitializeRequest::NAME, why));
        }
        let shared = self.shared.clone();
        self.peer.call(&request).check(move |response| {
            if response.protocol_version != ProtocolVersion::V1 {
                let why = format!(
                    "the agent speaks version {} of the protocol, and this client speaks version {}",
                    response.protocol_version,
                    ProtocolVersion::V1
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
        self.greeting().map(|greeting| &greeting.agent_capabilities)
    }

    /// What the agent is, if it said so.
    pub fn info(&self) -> Option<&Implementation> {
        self.greeting().and_then(|greeting| greeting.agent_info.as_ref())
    }

    /// `authenticate`: proves who the user is, by a method of type `agent` that the agent offered.
    pub fn authenticate(&self, request: AuthenticateRequest) -> Call<AuthenticateResponse> {
        self.checked(&request, |greeting| {
            let method = greeting
                .auth_methods
                .iter()
                .find(|method| method.id().as_deref() == Some(&*request.method_id));
            match method {
                Some(AuthMethod::Agent(_)) => Ok(()),
                Some(_) => {
                    Err("a method that is not of type \"agent\" is used outside of the protocol".into())
                }
                None => Err("the agent did not offer that method".into()),
            }
        })
    }

    /// `logout`: makes the agent forget who the user is.
    pub fn logout(&self, request: LogoutRequest) -> Call<LogoutResponse> {
        self.gated(&request, "auth.logout", |agent| agent.auth.logout.is_some())
    }

    /// `session/new`: begins a conversation.
    pub fn new_session(&self, request: NewSessionRequest) -> Call<NewSessionResponse> {
        let call = self.checked(&request, |greeting| {
            rules::session_setup(
                &request.cwd,
                &request.additional_directories,
                &request.mcp_servers,
                &greeting.agent_capabilities,
            )
        });
        self.remember_new(call)
    }

    /// `session/load`: takes up a conversation; all of it comes again as updates before this returns.
    pub fn load_session(&self, request: LoadSessionRequest) -> Call<LoadSessionResponse> {
        let call = self.checked(&request, |greeting| {
            let agent = &greeting.agent_capabilities;
            rules::advertised("loadSession", agent.load_session)?;
            rules::session_setup(&request.cwd, &request.additional_directories, &request.mcp_servers, agent)
        });
        self.remember_loaded(request.session_id, call)
    }

    /// `session/resume`: takes up a conversation without hearing it again.
    pub fn resume_session(&self, request: ResumeSessionRequest) -> Call<ResumeSessionResponse> {
        let call = self.checked(&request, |greeting| {
            let agent = &greeting.agent_capabilities;
            rules::advertised("sessionCapabilities.resume", agent.session_capabilities.resume.is_some())?;
            rules::session_setup(&request.cwd, &request.additional_directories, &request.mcp_servers, agent)
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

    /// `session/close`: ends a session and whatever runs in it. Permission requests of the session that wait for
    /// the user are answered `cancelled` at once.
    pub fn close_session(&self, request: CloseSessionRequest) -> Call<CloseSessionResponse> {
        let call = self.checked(&request, |greeting| {
            let close = &greeting.agent_capabilities.session_capabilities.close;
            rules::advertised("sessionCapabilities.close", close.is_some())?;
            self.shared.cancel_turns(&request.session_id);
            Ok(())
        });
        let (shared, session_id) = (self.shared.clone(), request.session_id);
        call.on_answer(move |_| shared.offers.forget(&session_id))
    }

    /// `session/delete`: makes the agent forget a conversation.
    pub fn delete_session(&self, request: DeleteSessionRequest) -> Call<DeleteSessionResponse> {
        let call = self.gated(&request, "sessionCapabilities.delete", |agent| {
            agent.session_capabilities.delete.is_some()
        });
        let (shared, session_id) = (self.shared.clone(), request.session_id);
        call.on_answer(move |_| shared.offers.forget(&session_id))
    }

    /// `session/set_mode`: changes the mode, to one of those that the session offered when it was set up. Of a
    /// session that was not set up on this connection, or that was taken up without a word about modes, nothing is
    /// known, and the agent decides.
    pub fn set_session_mode(&self, request: SetSessionModeRequest) -> Call<SetSessionModeResponse> {
        self.checked(&request, |_| self.shared.offers.mode(&request.session_id, &request.mode_id))
    }

    /// `session/set_config_option`: changes an option, to one of the values that the session offered last; the answer
    /// has all options. Of a session of whose options nothing has been heard on this connection nothing is known, and
    /// the agent decides.
    pub fn set_session_config_option(
        &self,
        request: SetSessionConfigOptionRequest,
    ) -> Call<SetSessionConfigOptionResponse> {
        let call = self.checked(&request, |_| {
            let value = Value::from(&request.value);
            self.shared.offers.value(&request.session_id, &request.config_id, value)
        });
        let (shared, session_id) = (self.shared.clone(), request.session_id);
        call.on_answer(move |response| {
            shared.offers.options_answered(&session_id, options(&response.config_options));
        })
    }

    /// `session/prompt`: one turn. When it returns, every update of the turn has been heard.
    /// [`updates`](PromptCall::updates) makes a stream of it.
    ///
    /// Dropping it cancels the turn, and so does the end of its time, if it has one.
    pub fn prompt(&self, request: PromptRequest) -> PromptCall {
        self.prompt_by(&request, &request)
    }

    /// `session/cancel`: ends the turn, whose prompt then returns `cancelled`. Permission requests of the
    /// session that wait for the user are answered `cancelled` at once.
    pub fn cancel(&self, notification: CancelNotification) -> Notify<'_> {
        if let Err(error) = self.initialized(CancelNotification::NAME) {
            return self.peer.refuse_notify(error);
        }
        self.shared.cancel_turns(&notification.session_id);
        self.peer.notify(&notification)
    }

    /// A request of one's own; its name begins with `_`.
    pub fn extension_request<P, R>(&self, method: &str, params: &P) -> Call<R>
    where
        P: Serialize + ?Sized,
        R: DeserializeOwned + Send + 'static,
    {
        match self.initialized(method) {
            Ok(_) => self.peer.call_method(method, Some(params)),
            Err(error) => self.peer.refuse_call(error),
        }
    }

    /// A notification of one's own; its name begins with `_`.
    pub fn extension_notification<P: Serialize + ?Sized>(&self, method: &str, params: &P) -> Notify<'_> {
        match self.initialized(method) {
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

    fn gated<M: RequestMethod>(
        &self,
        request: &M,
        name: &'static str,
        has: impl FnOnce(&AgentCapabilities) -> bool,
    ) -> Call<M::Response> {
        self.checked(request, |greeting| rules::advertised(name, has(&greeting.agent_capabilities)))
    }

    /// A turn that a request begins, which is a prompt and maybe more.
    pub(crate) fn prompt_by<M: RequestMethod>(
        &self,
        request: &M,
        prompt: &PromptRequest,
    ) -> PromptCall<M::Response> {
        let mut id = None;
        let call = self.checked(request, |greeting| {
            rules::prompt(&prompt.prompt, &greeting.agent_capabilities)?;
            id = Some(self.peer.reserve_call());
            Ok(())
        });
        let turn = TurnGuard::new(self.shared.clone(), prompt.session_id.clone(), id);
        let Some(id) = id else {
            return PromptCall::new(call, turn);
        };
        let (agent, session_id) = (self.clone(), prompt.session_id.clone());
        let call = call.reserved(id).on_drop(move || {
            agent.shared.turn_dropped(&session_id, id, !agent.peer.is_queued(id));
            // The connection may be over, and then there is nobody to tell.
            let _told = agent.peer.notify_now(&CancelNotification::new(session_id));
        });
        PromptCall::new(call, turn)
    }

    pub(crate) fn remember_new(&self, call: Call<NewSessionResponse>) -> Call<NewSessionResponse> {
        self.remember(None, call, |session| {
            (Some(&session.session_id), session.modes.as_ref(), session.config_options.as_deref())
        })
    }

    pub(crate) fn remember_loaded(
        &self,
        session_id: SessionId,
        call: Call<LoadSessionResponse>,
    ) -> Call<LoadSessionResponse> {
        self.remember(Some(session_id), call, |session| {
            (None, session.modes.as_ref(), session.config_options.as_deref())
        })
    }

    pub(crate) fn remember_resumed(
        &self,
        session_id: SessionId,
        call: Call<ResumeSessionResponse>,
    ) -> Call<ResumeSessionResponse> {
        self.remember(Some(session_id), call, |session| {
            (None, session.modes.as_ref(), session.config_options.as_deref())
        })
    }

    /// Takes note of what a session offers when it is set up. Its id is known, or in the answer.
    pub(crate) fn remember<R: 'static>(
        &self,
        session_id: Option<SessionId>,
        call: Call<R>,
        look: fn(&R) -> Offered<'_>,
    ) -> Call<R> {
        let shared = self.shared.clone();
        call.on_answer(move |session| {
            let (id, modes, offered) = look(session);
            if let Some(id) = id.or(session_id.as_ref()) {
                shared.offers.set_up(id, session_id.is_none(), modes, offered.map(options));
            }
        })
    }

    #[cfg(feature = "unstable")]
    pub(crate) fn line(&self) -> (&Peer, &Greeting<ClientCapabilities, InitializeResponse>) {
        (&self.peer, &self.shared.greeting)
    }

    fn list_page(&self, request: &ListSessionsRequest) -> Call<ListSessionsResponse> {
        self.checked(request, |greeting| {
            let list = &greeting.agent_capabilities.session_capabilities.list;
            rules::advertised("sessionCapabilities.list", list.is_some())?;
            rules::absolute(request.cwd.as_deref())
        })
    }

    fn checked<M: RequestMethod>(
        &self,
        request: &M,
        rule: impl FnOnce(&InitializeResponse) -> Result<(), String>,
    ) -> Call<M::Response> {
        self.shared.greeting.checked(&self.peer, request, rule)
    }

    fn initialized(&self, method: &str) -> Result<&InitializeResponse, CallError> {
        self.shared.greeting.answered(method)
    }
}

/// What the answer that sets a session up says of it: its id, where the request had none; its modes; its options.
pub(crate) type Offered<'a> =
    (Option<&'a SessionId>, Option<&'a SessionModeState>, Option<&'a [SessionConfigOption]>);

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
