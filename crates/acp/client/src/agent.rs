//! The handle through which a client of version 1 calls its agent.

use agentwire_acp_schema::v1::{
    AgentCapabilities, AuthMethod, AuthenticateRequest, AuthenticateResponse, CancelNotification,
    CloseSessionRequest, CloseSessionResponse, DeleteSessionRequest, DeleteSessionResponse, Implementation,
    InitializeRequest, InitializeResponse, ListSessionsRequest, ListSessionsResponse, LoadSessionRequest,
    LoadSessionResponse, LogoutRequest, LogoutResponse, NewSessionRequest, NewSessionResponse, PromptRequest,
    ProtocolVersion, ResumeSessionRequest, ResumeSessionResponse, SessionConfigOption, SessionId,
    SetSessionConfigOptionRequest, SetSessionConfigOptionResponse, SetSessionModeRequest,
    SetSessionModeResponse,
};
use agentwire_jsonrpc::{NotificationMethod, RequestMethod};
use agentwire_peer::runtime::{CallExt, PeerExt};
use agentwire_peer::{Call, CallError, Notify};

use crate::handle::handle;
use crate::list::Sessions;
use crate::rules;
use crate::session::ConnectionState;
use crate::session::initialized::same_version;
use crate::session::options::{Offered, OpenedSession};
use crate::session::prompt::{PromptCall, TurnGuard};

handle! {
    /// The connected agent: the methods that a client calls on it.
    ///
    /// A call that the agent did not advertise, or that breaks a rule of the protocol, fails with an error that names
    /// the rule, and is not sent.
    ///
    /// A call is sent when it is first awaited. Dropping it cancels it at the agent. Clones are handles on the same
    /// connection.
    ///
    /// ```no_run
    /// use std::time::Duration;
    ///
    /// use agentwire_acp_client::{AgentHandle, CallError};
    /// use agentwire_acp_schema::v1::*;
    ///
    /// async fn newest(agent: &AgentHandle) -> Result<Option<SessionInfo>, CallError> {
    ///     let hello = InitializeRequest::new(ProtocolVersion::V1);
    ///     agent.initialize(hello).timeout(Duration::from_secs(30)).await?;
    ///     match agent.capabilities().is_some_and(|agent| agent.session_capabilities.list.is_some()) {
    ///         true => agent.sessions(ListSessionsRequest::new()).try_next().await,
    ///         false => Ok(None),
    ///     }
    /// }
    /// ```
    pub struct AgentHandle: ProtocolVersion::V1, agent_capabilities
}

impl AgentHandle {
    /// `initialize`: agrees on the version and returns the agent's capabilities. The first call on a connection.
    ///
    /// Fails where the agent answers with a version that this client does not speak; no other method can be called
    /// then. After a failure it may be called again.
    pub fn initialize(&self, request: InitializeRequest) -> Call<InitializeResponse> {
        let InitializeRequest { protocol_version, client_capabilities, .. } = &request;
        let initialized = &self.shared.initialized;
        match initialized.begin(*protocol_version, ProtocolVersion::V1, client_capabilities) {
            Ok(()) => self.keep_answer(self.peer.call(&request)),
            Err(why) => self.peer.refuse_call(CallError::not_allowed(InitializeRequest::NAME, why)),
        }
    }

    /// Returns the agent's name and version, or `None` if it sent none.
    pub fn info(&self) -> Option<&Implementation> {
        self.initialize_response().and_then(|answer| answer.agent_info.as_ref())
    }

    /// `authenticate`: authenticates the user, by a method of type `agent` that the agent offered.
    pub fn authenticate(&self, request: AuthenticateRequest) -> Call<AuthenticateResponse> {
        self.checked(&request, |response| {
            let method = response
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

    /// `logout`: ends the authentication.
    pub fn logout(&self, request: LogoutRequest) -> Call<LogoutResponse> {
        self.gated(&request, "auth.logout", |agent| agent.auth.logout.is_some())
    }

    /// `session/new`: creates a session.
    pub fn new_session(&self, request: NewSessionRequest) -> Call<NewSessionResponse> {
        let call = self.checked(&request, |response| {
            rules::session_setup(
                &request.cwd,
                &request.additional_directories,
                &request.mcp_servers,
                &response.agent_capabilities,
            )
        });
        self.remember(None, call)
    }

    /// `session/load`: opens a stored session. All its updates are delivered before this returns.
    pub fn load_session(&self, request: LoadSessionRequest) -> Call<LoadSessionResponse> {
        let call = self.checked(&request, |response| {
            let agent = &response.agent_capabilities;
            rules::advertised("loadSession", agent.load_session)?;
            rules::session_setup(&request.cwd, &request.additional_directories, &request.mcp_servers, agent)
        });
        self.remember(Some(request.session_id), call)
    }

    /// `session/resume`: opens a stored session without replaying its updates.
    pub fn resume_session(&self, request: ResumeSessionRequest) -> Call<ResumeSessionResponse> {
        let call = self.checked(&request, |response| {
            let agent = &response.agent_capabilities;
            rules::advertised("sessionCapabilities.resume", agent.session_capabilities.resume.is_some())?;
            rules::session_setup(&request.cwd, &request.additional_directories, &request.mcp_servers, agent)
        });
        self.remember(Some(request.session_id), call)
    }

    /// `session/close`: ends a session and its running turns. Permission requests of the session that wait for
    /// the user are answered `cancelled` at once.
    pub fn close_session(&self, request: CloseSessionRequest) -> Call<CloseSessionResponse> {
        let call = self.checked(&request, |response| {
            let close = &response.agent_capabilities.session_capabilities.close;
            rules::advertised("sessionCapabilities.close", close.is_some())?;
            self.shared.cancel_turns(&request.session_id);
            Ok(())
        });
        let (shared, session_id) = (self.shared.clone(), request.session_id);
        call.on_result(move |_| shared.options.forget(&session_id))
    }

    /// `session/delete`: deletes a stored session.
    pub fn delete_session(&self, request: DeleteSessionRequest) -> Call<DeleteSessionResponse> {
        let call = self.gated(&request, "sessionCapabilities.delete", |agent| {
            agent.session_capabilities.delete.is_some()
        });
        let (shared, session_id) = (self.shared.clone(), request.session_id);
        call.on_result(move |_| shared.options.forget(&session_id))
    }

    /// `session/set_mode`: changes the mode, to one of those that the session offered. If no answer
    /// on this connection has listed the modes, the request is sent, and the agent decides.
    pub fn set_session_mode(&self, request: SetSessionModeRequest) -> Call<SetSessionModeResponse> {
        self.checked(&request, |_| self.shared.options.check_mode(&request.session_id, &request.mode_id))
    }

    /// `session/prompt`: runs one turn. Every update of the turn has been delivered when this returns.
    /// [`updates`](PromptCall::updates) turns it into a stream.
    ///
    /// Dropping it cancels the turn, and so does the end of its time, if it has one.
    pub fn prompt(&self, request: PromptRequest) -> PromptCall {
        self.prompt_by(&request, &request)
    }

    /// `session/cancel`: cancels the turn, whose prompt then returns `cancelled`. The session's pending permission
    /// requests are answered `cancelled` at once.
    pub fn cancel(&self, notification: CancelNotification) -> Notify<'_> {
        if let Err(error) = self.shared.initialized.answered(CancelNotification::NAME) {
            return self.peer.refuse_notify(error);
        }
        self.shared.cancel_turns(&notification.session_id);
        self.peer.notify(&notification)
    }

    fn gated<M: RequestMethod>(
        &self,
        request: &M,
        name: &'static str,
        has: impl FnOnce(&AgentCapabilities) -> bool,
    ) -> Call<M::Response> {
        self.checked(request, |response| rules::advertised(name, has(&response.agent_capabilities)))
    }

    /// Runs a turn whose request holds the prompt and may hold more.
    pub(crate) fn prompt_by<M: RequestMethod>(
        &self,
        request: &M,
        prompt: &PromptRequest,
    ) -> PromptCall<M::Response> {
        let mut id = None;
        let call = self.checked(request, |response| {
            rules::prompt(&prompt.prompt, &response.agent_capabilities)?;
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
            // The connection may be closed.
            let _sent = agent.peer.notify_now(&CancelNotification::new(session_id));
        });
        PromptCall::new(call, turn)
    }

    fn list_page(&self, request: &ListSessionsRequest) -> Call<ListSessionsResponse> {
        self.checked(request, |response| {
            let list = &response.agent_capabilities.session_capabilities.list;
            rules::advertised("sessionCapabilities.list", list.is_some())?;
            rules::absolute(request.cwd.as_deref())
        })
    }
}

macro_rules! opened {
    ($($Answer:ty: $($session_id:ident)?;)*) => {$(
        impl OpenedSession for $Answer {
            type Option = SessionConfigOption;

            fn offered(&self) -> Offered<'_, SessionConfigOption> {
                let id = [$(&self.$session_id)?].first().copied();
                (id, self.modes.as_ref(), self.config_options.as_deref())
            }
        }
    )*};
}

opened! {
    NewSessionResponse: session_id;
    LoadSessionResponse: ;
    ResumeSessionResponse: ;
}

#[cfg(feature = "unstable")]
opened! { agentwire_acp_schema::v1::unstable::ForkSessionResponse: session_id; }
