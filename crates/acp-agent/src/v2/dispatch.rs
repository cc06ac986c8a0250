use std::collections::BTreeMap;
use std::future::Future;
use std::sync::Arc;

use agentwire_acp_schema::v2::{
    AuthMethod, CancelSessionNotification, CancelTerminalRequest, CancelToolCallRequest, CloseSessionRequest,
    DeleteSessionRequest, Implementation, InitializeRequest, ListSessionsRequest, LoginAuthRequest,
    LogoutAuthRequest, NewSessionRequest, PromptRequest, ProtocolVersion, ResumeSessionRequest, SessionId,
    SetSessionConfigOptionRequest,
};
use agentwire_jsonrpc::{
    Notification, NotificationMethod, RawJson, Request, RequestId, RequestMethod, decode_params,
};
use agentwire_peer::{Clock, Handler, Peer, RequestContext, TokioClock};
use futures::future::{AbortHandle, Abortable, Aborted, Either, select};
use serde::Deserialize;

use super::client::{Agreed, Shared};
use super::running::Running;
use super::work::Work;
use super::{Agent, Client, Context, Turn, outgoing, rules};
use crate::Error;
use crate::outgoing::Checked;
use crate::wire::{Wire, broken, wire};

wire! {
    CancelTerminalRequest,
    CancelToolCallRequest,
    InitializeRequest,
    ListSessionsRequest,
    LoginAuthRequest,
    LogoutAuthRequest,
    NewSessionRequest,
    PromptRequest,
    ResumeSessionRequest,
    SetSessionConfigOptionRequest,
}

/// Puts an [`Agent`] behind a connection.
pub(crate) struct Dispatch<A> {
    agent: A,
    shared: Arc<Shared>,
    /// How many prompts may be under way: they are no requests any more once they are accepted.
    limit: usize,
}

impl<A: Agent> Dispatch<A> {
    pub(crate) fn new(agent: A, limit: usize) -> Self {
        Self { agent, shared: Arc::default(), limit }
    }

    fn client(&self, peer: &Peer, work: Option<Arc<Work>>) -> Client {
        Client { peer: peer.clone(), shared: self.shared.clone(), work }
    }

    /// What was agreed on. An error before `initialize` has been answered.
    fn ready(&self) -> Result<&Agreed, Error> {
        self.shared.agreed.get().ok_or_else(|| Error::invalid_request("initialize must be the first request"))
    }

    /// A session that is closed, or is being closed, is not there until it is resumed.
    fn open(&self, session: &SessionId) -> Result<(), Error> {
        self.shared.sessions.check_takes_work(session).map_err(|_| rules::session_not_found(session))
    }

    /// One that fails may be tried again.
    async fn initialize(&self, params: Option<RawJson>, context: Context) -> Result<RawJson, Error> {
        let twice = || Error::invalid_request("the connection is initialized already");
        if self.ready().is_ok() {
            return Err(twice());
        }
        let peer = context.request.peer().clone();
        let request = greeting(params)?;
        let mut response = self.agent.initialize(request.clone(), context).await?;
        response.protocol_version = ProtocolVersion::V2;
        checked::<InitializeRequest>(outgoing::auth_methods(&response.auth_methods))?;
        let auth = request.capabilities.auth.as_ref();
        if auth.is_none_or(|auth| auth.terminal.is_none()) {
            response.auth_methods.retain(|method| !matches!(method, AuthMethod::Terminal(_)));
        }
        let answer = InitializeRequest::encode(&peer, &response)?;
        self.shared.agreed.set(Agreed { client: request, agent: response }).map_err(|_| twice())?;
        Ok(answer)
    }

    async fn dispatch(&self, request: Request, context: Context) -> Result<RawJson, Error> {
        let agent = &self.agent;
        let sessions = &self.shared.sessions;
        let Request { method, params, .. } = request;
        if &*method == InitializeRequest::NAME {
            return self.initialize(params, context).await;
        }
        let agreed = self.ready()?;
        let offered = &agreed.agent.capabilities;
        rules::offered(&method, &agreed.agent)?;
        match &*method {
            LoginAuthRequest::NAME => {
                let request = LoginAuthRequest::decode(params)?;
                rules::auth_method(&request.method_id, &agreed.agent.auth_methods)?;
                give(request, context, |p, c| agent.login(p, c)).await
            }
            LogoutAuthRequest::NAME => {
                give(LogoutAuthRequest::decode(params)?, context, |p, c| agent.logout(p, c)).await
            }
            NewSessionRequest::NAME => {
                let request = NewSessionRequest::decode(params)?;
                rules::session_setup(
                    &request.cwd,
                    &request.additional_directories,
                    &request.mcp_servers,
                    offered,
                )?;
                let peer = context.request.peer().clone();
                let response = agent.new_session(request, context).await?;
                checked::<NewSessionRequest>(outgoing::config_options(&response.config_options))?;
                sessions.note_options(&response.session_id, &response.config_options);
                NewSessionRequest::encode(&peer, &response)
            }
            ResumeSessionRequest::NAME => {
                let request = ResumeSessionRequest::decode(params)?;
                rules::session_setup(
                    &request.cwd,
                    &request.additional_directories,
                    &request.mcp_servers,
                    offered,
                )?;
                rules::replay(request.replay_from.as_ref())?;
                self.resume(request, context).await
            }
            CloseSessionRequest::NAME => self.close(CloseSessionRequest::decode(params)?, context).await,
            DeleteSessionRequest::NAME => {
                let request = DeleteSessionRequest::decode(params)?;
                let session = request.session_id.clone();
                let answer = give(request, context, |p, c| agent.delete_session(p, c)).await?;
                sessions.forget(&session);
                Ok(answer)
            }
            ListSessionsRequest::NAME => {
                let request = ListSessionsRequest::decode(params)?;
                rules::absolute("cwd", request.cwd.as_ref())?;
                let peer = context.request.peer().clone();
                let response = agent.list_sessions(request, context).await?;
                checked::<ListSessionsRequest>(outgoing::sessions(&response.sessions))?;
                ListSessionsRequest::encode(&peer, &response)
            }
            SetSessionConfigOptionRequest::NAME => {
                self.set_option(SetSessionConfigOptionRequest::decode(params)?, context).await
            }
            CancelToolCallRequest::NAME => {
                let request = CancelToolCallRequest::decode(params)?;
                if !sessions.can_cancel_call(&request.session_id, &request.tool_call_id) {
                    let why = format_args!("the call {:?} cannot be cancelled", request.tool_call_id);
                    return Err(Error::invalid_params(why));
                }
                give(request, context, |p, c| agent.cancel_tool_call(p, c)).await
            }
            CancelTerminalRequest::NAME => {
                let request = CancelTerminalRequest::decode(params)?;
                if !sessions.can_cancel_terminal(&request.session_id, &request.terminal_id) {
                    let why = format_args!("the terminal {:?} cannot be cancelled", request.terminal_id);
                    return Err(Error::invalid_params(why));
                }
                give(request, context, |p, c| agent.cancel_terminal(p, c)).await
            }
            method => agent.extension_request(method, params, context).await,
        }
    }

    /// The state is told before the answer, by the agent or else here.
    async fn resume(&self, request: ResumeSessionRequest, context: Context) -> Result<RawJson, Error> {
        let sessions = &self.shared.sessions;
        let peer = context.request.peer().clone();
        let session = request.session_id.clone();
        let (was_closed, told) = sessions.open(&session);
        let response = self.agent.resume_session(request, context).await;
        let response = response.and_then(|response| {
            checked::<ResumeSessionRequest>(outgoing::config_options(&response.config_options))?;
            Ok(response)
        });
        if response.is_err() && was_closed {
            sessions.close(&session);
        }
        let response = response?;
        sessions.note_options(&session, &response.config_options);
        sessions.tell_state(&peer, &session, told);
        ResumeSessionRequest::encode(&peer, &response)
    }

    /// What the session's prompts have to say is said before the answer, nothing after it. They do not have for ever.
    async fn close(&self, request: CloseSessionRequest, context: Context) -> Result<RawJson, Error> {
        let sessions = &self.shared.sessions;
        let peer = context.request.peer().clone();
        let session = request.session_id.clone();
        let _closing = sessions.begin_close(&session);
        let response = self.agent.close_session(request, context).await?;
        if let Some(ended) = sessions.all_ended(&session) {
            let clock = TokioClock::default();
            match clock.now().checked_add(self.agent.close_grace()) {
                Some(deadline) => {
                    if let Either::Right(_) = select(ended, clock.sleep_until(deadline)).await {
                        sessions.give_up(&peer, &session);
                    }
                }
                // Either way there is none any more.
                None => drop(ended.await),
            }
        }
        let answer = CloseSessionRequest::encode(&peer, &response)?;
        sessions.close(&session);
        Ok(answer)
    }

    /// An option that was not told, or a value that it does not have, is refused, and nothing is changed.
    async fn set_option(
        &self,
        request: SetSessionConfigOptionRequest,
        context: Context,
    ) -> Result<RawJson, Error> {
        let sessions = &self.shared.sessions;
        self.open(&request.session_id)?;
        if let Some(options) = sessions.options(&request.session_id) {
            outgoing::can_be_set(&request, &options).map_err(Error::invalid_params)?;
        }
        let peer = context.request.peer().clone();
        let response = self.agent.set_session_config_option(request.clone(), context).await?;
        let options = &response.config_options;
        checked::<SetSessionConfigOptionRequest>(
            outgoing::config_options(options).and_then(|()| outgoing::option_set(&request, options)),
        )?;
        sessions.note_options(&request.session_id, options);
        SetSessionConfigOptionRequest::encode(&peer, &response)
    }

    /// A prompt is known from the moment its request arrives, so that a cancel right behind it finds it.
    fn prompt(
        &self,
        request: Result<PromptRequest, Error>,
        context: RequestContext,
    ) -> impl Future<Output = Result<RawJson, Error>> {
        let begun = request.and_then(|request| {
            let agreed = self.ready()?;
            rules::offered(PromptRequest::NAME, &agreed.agent)?;
            rules::prompt(&request.prompt, &agreed.agent.capabilities)?;
            self.open(&request.session_id)?;
            let (drop, dropped) = AbortHandle::new_pair();
            let (place, work) =
                self.shared.sessions.begin(&request.session_id, self.limit, drop).ok_or_else(|| {
                    Error::internal_error("too many prompts are under way")
                        .with_data(&BTreeMap::from([("limit", self.limit)]))
                })?;
            let peer = context.peer().clone();
            let client = self.client(&peer, Some(work.clone()));
            let running = Running::new(self.shared.clone(), peer, place);
            Ok((request, running, dropped, Turn { client, request: context, work }))
        });
        async move {
            let (request, running, dropped, turn) = begun?;
            let held = turn.clone();
            let outcome = Abortable::new(self.agent.prompt(request, turn), dropped).await;
            let outcome = outcome.unwrap_or_else(|Aborted| Err(Error::request_cancelled()));
            running.answer(outcome, held.is_cancelled())
        }
    }
}

impl<A: Agent> Handler for Dispatch<A> {
    fn request(
        &self,
        request: Request,
        context: RequestContext,
    ) -> impl Future<Output = Result<RawJson, Error>> {
        if context.request_id().is_some_and(RequestId::is_null) {
            let why = Error::invalid_request("the id of a request is no null");
            return Either::Left(Either::Left(std::future::ready(Err(why))));
        }
        if &*request.method == PromptRequest::NAME {
            // A prompt must be noted before this returns.
            return Either::Left(Either::Right(self.prompt(PromptRequest::decode(request.params), context)));
        }
        let context = Context { client: self.client(context.peer(), None), request: context };
        // Boxed, since it is as large as the largest of all methods and would be moved with every prompt.
        Either::Right(Box::pin(self.dispatch(request, context)))
    }

    fn notification(&self, notification: Notification, peer: &Peer) {
        if self.ready().is_err() {
            return;
        }
        let client = self.client(peer, None);
        if &*notification.method == CancelSessionNotification::NAME {
            // A notification that cannot be read is passed over, as any that is not known.
            if let Ok(cancel) = decode_params::<CancelSessionNotification>(notification.params) {
                self.shared.sessions.cancel(&cancel.session_id);
                self.agent.cancel(cancel, &client);
            }
        } else if !notification.method.starts_with("$/") {
            self.agent.extension_notification(&notification.method, notification.params, &client);
        }
    }
}

/// Reads `initialize`. What a version later than this one has made of its members is passed over where it cannot be read:
/// that client still waits to hear which version it is to speak.
fn greeting(params: Option<RawJson>) -> Result<InitializeRequest, Error> {
    #[derive(Deserialize)]
    struct Later {
        info: Option<RawJson>,
        capabilities: Option<RawJson>,
        #[serde(rename = "_meta")]
        meta: Option<RawJson>,
    }

    let asked = asked_version(params.as_ref())?;
    if asked < ProtocolVersion::V2 {
        return Err(rules::unsupported(asked, &[ProtocolVersion::V2]));
    }
    let mut request = if asked == ProtocolVersion::V2 {
        InitializeRequest::decode(params)?
    } else {
        let Later { info, capabilities, meta } = decode_params(params)?;
        let info = info.and_then(|info| info.decode().ok());
        let info = info.unwrap_or_else(|| Implementation::new("unknown", "unknown"));
        let mut request = InitializeRequest::new(ProtocolVersion::V2, info);
        request.capabilities = capabilities.and_then(|can| can.decode().ok()).unwrap_or_default();
        request.meta = meta.and_then(|meta| meta.decode().ok());
        request
    };
    request.protocol_version = ProtocolVersion::V2;
    Ok(request)
}

/// The version that the params of `initialize` ask for, in whatever shape the rest of them is.
pub(crate) fn asked_version(params: Option<&RawJson>) -> Result<ProtocolVersion, Error> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Asked {
        protocol_version: ProtocolVersion,
    }

    decode_params(params.cloned()).map(|asked: Asked| asked.protocol_version)
}

fn checked<M: RequestMethod>(checked: Checked) -> Result<(), Error> {
    checked.map_err(|why| broken(M::NAME, &why))
}

async fn give<P, F>(
    request: P,
    context: Context,
    method: impl FnOnce(P, Context) -> F,
) -> Result<RawJson, Error>
where
    P: Wire,
    F: Future<Output = Result<P::Response, Error>>,
{
    let peer = context.request.peer().clone();
    P::encode(&peer, &method(request, context).await?)
}
