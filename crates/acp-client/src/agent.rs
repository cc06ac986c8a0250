use std::sync::Arc;

use agentwire_acp_schema::v1::{
    AgentCapabilities, AuthMethod, AuthenticateRequest, AuthenticateResponse, CancelNotification,
    CloseSessionRequest, CloseSessionResponse, DeleteSessionRequest, DeleteSessionResponse, Implementation,
    InitializeRequest, InitializeResponse, ListSessionsRequest, ListSessionsResponse, LoadSessionRequest,
    LoadSessionResponse, LogoutRequest, LogoutResponse, NewSessionRequest, NewSessionResponse, PromptRequest,
    PromptResponse, ProtocolVersion, ResumeSessionRequest, ResumeSessionResponse,
    SetSessionConfigOptionRequest, SetSessionConfigOptionResponse, SetSessionModeRequest,
    SetSessionModeResponse,
};
use agentwire_jsonrpc::{Method, Notice};
use agentwire_peer::{Call, CallError, Closed, Notify, Peer, RequestContext};
use serde::Serialize;
use serde::de::DeserializeOwned;

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
        if !self.shared.greet(&request) {
            let error = CallError::not_allowed(
                InitializeRequest::NAME,
                "this connection has been initialized already",
            );
            return self.peer.refuse_call(error);
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
            shared.set_agent(response.clone());
            Ok(response)
        })
    }

    /// What the agent said of itself. None before `initialize` has been answered.
    pub fn greeting(&self) -> Option<&InitializeResponse> {
        self.shared.agent()
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
            let method = greeting.auth_methods.iter().find(|method| method.id() == Some(&request.method_id));
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
        self.checked(&request, |greeting| {
            rules::session_setup(
                &request.cwd,
                &request.additional_directories,
                &request.mcp_servers,
                &greeting.agent_capabilities,
            )
        })
    }

    /// `session/load`: takes up a conversation; all of it comes again as updates before this returns.
    pub fn load_session(&self, request: LoadSessionRequest) -> Call<LoadSessionResponse> {
        self.checked(&request, |greeting| {
            let agent = &greeting.agent_capabilities;
            rules::advertised("loadSession", agent.load_session)?;
            rules::session_setup(&request.cwd, &request.additional_directories, &request.mcp_servers, agent)
        })
    }

    /// `session/resume`: takes up a conversation without hearing it again.
    pub fn resume_session(&self, request: ResumeSessionRequest) -> Call<ResumeSessionResponse> {
        self.checked(&request, |greeting| {
            let agent = &greeting.agent_capabilities;
            rules::advertised("sessionCapabilities.resume", agent.session_capabilities.resume.is_some())?;
            rules::session_setup(&request.cwd, &request.additional_directories, &request.mcp_servers, agent)
        })
    }

    /// `session/list`: the conversations that the agent knows, a page at a time.
    pub fn list_sessions(&self, request: ListSessionsRequest) -> Call<ListSessionsResponse> {
        self.checked(&request, |greeting| {
            let list = &greeting.agent_capabilities.session_capabilities.list;
            rules::advertised("sessionCapabilities.list", list.is_some())?;
            rules::absolute(request.cwd.as_deref())
        })
    }

    /// `session/close`: ends a session and whatever runs in it. Permission requests of the session that wait for
    /// the user are answered `cancelled` at once.
    pub fn close_session(&self, request: CloseSessionRequest) -> Call<CloseSessionResponse> {
        self.checked(&request, |greeting| {
            let close = &greeting.agent_capabilities.session_capabilities.close;
            rules::advertised("sessionCapabilities.close", close.is_some())?;
            self.shared.cancel_turn(&request.session_id);
            Ok(())
        })
    }

    /// `session/delete`: makes the agent forget a conversation.
    pub fn delete_session(&self, request: DeleteSessionRequest) -> Call<DeleteSessionResponse> {
        self.gated(&request, "sessionCapabilities.delete", |agent| {
            agent.session_capabilities.delete.is_some()
        })
    }

    /// `session/set_mode`: changes the mode, to one of those that the session offered.
    pub fn set_session_mode(&self, request: SetSessionModeRequest) -> Call<SetSessionModeResponse> {
        self.checked(&request, |_| Ok(()))
    }

    /// `session/set_config_option`: changes an option; the answer has all of them.
    pub fn set_session_config_option(
        &self,
        request: SetSessionConfigOptionRequest,
    ) -> Call<SetSessionConfigOptionResponse> {
        self.checked(&request, |_| Ok(()))
    }

    /// `session/prompt`: one turn. When it returns, every update of the turn has been heard.
    ///
    /// Dropping it cancels the turn, and so does the end of its time, if it has one.
    pub fn prompt(&self, request: PromptRequest) -> Call<PromptResponse> {
        let call = self.checked(&request, |greeting| {
            rules::prompt(&request.prompt, &greeting.agent_capabilities)?;
            self.shared.turn_begins(&request.session_id);
            Ok(())
        });
        let (agent, session_id) = (self.clone(), request.session_id);
        call.on_drop(move || {
            agent.shared.cancel_turn(&session_id);
            // The connection may be over, and then there is nobody to tell.
            let _told = agent.peer.post(&CancelNotification::new(session_id));
        })
    }

    /// `session/cancel`: ends the turn, whose prompt then returns `cancelled`. Permission requests of the
    /// session that wait for the user are answered `cancelled` at once.
    pub fn cancel(&self, notification: CancelNotification) -> Notify<'_> {
        if let Err(error) = self.initialized(CancelNotification::NAME) {
            return self.peer.refuse_notify(error);
        }
        self.shared.cancel_turn(&notification.session_id);
        self.peer.notify(&notification)
    }

    /// A request of one's own; its name begins with `_`.
    pub fn extension_request<P, R>(&self, method: &str, params: &P) -> Call<R>
    where
        P: Serialize + ?Sized,
        R: DeserializeOwned,
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

    fn gated<M: Method>(
        &self,
        request: &M,
        name: &'static str,
        has: impl FnOnce(&AgentCapabilities) -> bool,
    ) -> Call<M::Response> {
        self.checked(request, |greeting| rules::advertised(name, has(&greeting.agent_capabilities)))
    }

    fn checked<M: Method>(
        &self,
        request: &M,
        rule: impl FnOnce(&InitializeResponse) -> Result<(), String>,
    ) -> Call<M::Response> {
        let checked = self
            .initialized(M::NAME)
            .and_then(|greeting| rule(greeting).map_err(|why| CallError::not_allowed(M::NAME, why)));
        match checked {
            Ok(()) => self.peer.call(request),
            Err(error) => self.peer.refuse_call(error),
        }
    }

    fn initialized(&self, method: &str) -> Result<&InitializeResponse, CallError> {
        let first = "initialize must be called, and have succeeded, first";
        self.greeting().ok_or_else(|| CallError::not_allowed(method, first))
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
