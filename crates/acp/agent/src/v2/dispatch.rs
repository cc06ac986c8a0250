//! Dispatches the messages of a connection of version 2 to the methods of an [`Agent`].

use std::collections::BTreeMap;
use std::future::Future;
use std::sync::Arc;

use agentwire_acp_schema::v2::{
    AuthMethod, CancelSessionNotification, CancelTerminalRequest, CancelToolCallRequest, CloseSessionRequest,
    DeleteSessionRequest, Implementation, InitializeRequest, ListSessionsRequest, LoginAuthRequest,
    LogoutAuthRequest, NewSessionRequest, PromptRequest, ProtocolVersion, ResumeSessionRequest,
    SetSessionConfigOptionRequest,
};
use agentwire_jsonrpc::{
    Notification, NotificationMethod, RawJson, Request, RequestId, RequestMethod, decode_params,
};
use agentwire_peer::{Clock, Handler, Peer, RequestContext, TokioClock};
use futures_util::future::{AbortHandle, Abortable, Aborted, Either, select};
use serde::Deserialize;

use super::connection_state::{ConnectionState, Handshake};
use super::methods::Connection;
use super::work::Work;
use super::work_guard::WorkGuard;
use super::{Agent, Context, RemoteClient, Turn, outgoing, rules};
use crate::method::{Method, answer, broken_answer};
use crate::{Error, prompt};

/// The handler of a connection: an [`Agent`] and the state of its connection.
pub(crate) struct Dispatch<A> {
    agent: A,
    state: Arc<ConnectionState>,
    /// The maximum number of concurrent prompts. The connection's request limit does not count a prompt after its
    /// acceptance.
    limit: usize,
}

impl<A: Agent> Dispatch<A> {
    pub(crate) fn new(agent: A, limit: usize) -> Self {
        Self { agent, state: Arc::default(), limit }
    }

    fn client(&self, peer: &Peer, work: Option<Arc<Work>>) -> RemoteClient {
        RemoteClient { peer: peer.clone(), state: self.state.clone(), work }
    }

    /// Returns the initialized connection, or an error until `initialize` is answered.
    fn ready(&self) -> Result<Connection<'_>, Error> {
        let first = || Error::invalid_request("initialize must be the first request");
        let handshake = self.state.handshake.get().ok_or_else(first)?;
        Ok(Connection { handshake, sessions: &self.state.sessions })
    }

    /// Answers `initialize`. A client may try again after an error.
    async fn initialize(&self, params: Option<RawJson>, context: Context) -> Result<RawJson, Error> {
        let twice = || Error::invalid_request("the connection is initialized already");
        if self.ready().is_ok() {
            return Err(twice());
        }
        let peer = context.request.peer().clone();
        let request = read_initialize(params)?;
        let mut response = self.agent.initialize(request.clone(), context).await?;
        response.protocol_version = ProtocolVersion::V2;
        outgoing::check_auth_methods(&response.auth_methods)
            .map_err(|why| broken_answer(InitializeRequest::NAME, &why))?;
        let auth = request.capabilities.auth.as_ref();
        if auth.is_none_or(|auth| auth.terminal.is_none()) {
            response.auth_methods.retain(|method| !matches!(method, AuthMethod::Terminal(_)));
        }
        let answer = <InitializeRequest as Method<Connection<'_>>>::encode(&peer, &response)?;
        self.state.handshake.set(Handshake { client: request, agent: response }).map_err(|_| twice())?;
        Ok(answer)
    }

    async fn dispatch(&self, request: Request, context: Context) -> Result<RawJson, Error> {
        let agent = &self.agent;
        let sessions = &self.state.sessions;
        let Request { method, params, .. } = request;
        if &*method == InitializeRequest::NAME {
            return self.initialize(params, context).await;
        }
        let at = &self.ready()?;
        let peer = &context.request.peer().clone();
        match &*method {
            LoginAuthRequest::NAME => answer(at, params, peer, |p| agent.login(p, context)).await,
            LogoutAuthRequest::NAME => answer(at, params, peer, |p| agent.logout(p, context)).await,
            NewSessionRequest::NAME => answer(at, params, peer, |p| agent.new_session(p, context)).await,
            ResumeSessionRequest::NAME => self.resume(at, params, context).await,
            CloseSessionRequest::NAME => self.close(at, params, context).await,
            DeleteSessionRequest::NAME => {
                let request = DeleteSessionRequest::read(params, at)?;
                let session = request.session_id.clone();
                let response = agent.delete_session(request, context).await?;
                let answer = DeleteSessionRequest::write(peer, response, at)?;
                sessions.forget(&session);
                Ok(answer)
            }
            ListSessionsRequest::NAME => answer(at, params, peer, |p| agent.list_sessions(p, context)).await,
            SetSessionConfigOptionRequest::NAME => self.set_option(at, params, context).await,
            CancelToolCallRequest::NAME => {
                answer(at, params, peer, |p| agent.cancel_tool_call(p, context)).await
            }
            CancelTerminalRequest::NAME => {
                answer(at, params, peer, |p| agent.cancel_terminal(p, context)).await
            }
            method => agent.extension_request(method, params, context).await,
        }
    }

    /// Answers `session/resume`. The session's state is sent before the answer: here, if the agent has not sent it.
    async fn resume(
        &self,
        at: &Connection<'_>,
        params: Option<RawJson>,
        context: Context,
    ) -> Result<RawJson, Error> {
        let sessions = &self.state.sessions;
        let request = ResumeSessionRequest::read(params, at)?;
        let peer = context.request.peer().clone();
        let session = request.session_id.clone();
        let (was_closed, states_sent) = sessions.open(&session);
        let response = self.agent.resume_session(request, context).await;
        let answer = response.and_then(|response| {
            let options = response.config_options.clone();
            Ok((ResumeSessionRequest::write(&peer, response, at)?, options))
        });
        if answer.is_err() && was_closed {
            sessions.close(&session);
        }
        let (answer, options) = answer?;
        sessions.note_options(&session, &options);
        sessions.send_current_state(&peer, &session, states_sent);
        Ok(answer)
    }

    /// Answers `session/close` after the session's prompts have ended or their grace period is over. No update of the
    /// session follows the answer.
    async fn close(
        &self,
        at: &Connection<'_>,
        params: Option<RawJson>,
        context: Context,
    ) -> Result<RawJson, Error> {
        let sessions = &self.state.sessions;
        let request = CloseSessionRequest::read(params, at)?;
        let peer = context.request.peer().clone();
        let session = request.session_id.clone();
        let _closing = sessions.begin_close(&session);
        let response = self.agent.close_session(request, context).await?;
        if let Some(ended) = sessions.all_ended(&session) {
            let late = TokioClock::default().sleep(self.agent.close_grace());
            if let Either::Right(_) = select(ended, late).await {
                sessions.end_cancelled(&peer, &session);
            }
        }
        let answer = CloseSessionRequest::write(&peer, response, at)?;
        sessions.close(&session);
        Ok(answer)
    }

    /// Answers `session/set_config_option`. The table has refused options and values that the session does not have.
    async fn set_option(
        &self,
        at: &Connection<'_>,
        params: Option<RawJson>,
        context: Context,
    ) -> Result<RawJson, Error> {
        let request = SetSessionConfigOptionRequest::read(params, at)?;
        let peer = context.request.peer().clone();
        let response = self.agent.set_session_config_option(request.clone(), context).await?;
        let options = &response.config_options;
        outgoing::check_config_options(options)
            .and_then(|()| outgoing::check_option_set(&request, options))
            .map_err(|why| broken_answer(SetSessionConfigOptionRequest::NAME, &why))?;
        self.state.sessions.note_options(&request.session_id, options);
        SetSessionConfigOptionRequest::write(&peer, response, at)
    }

    /// Runs one prompt. The prompt is registered before this returns, so that a cancel directly after the request finds it.
    fn prompt(
        &self,
        request: Result<PromptRequest, Error>,
        context: RequestContext,
    ) -> impl Future<Output = Result<RawJson, Error>> {
        let begun = request.and_then(|request| {
            let at = self.ready()?;
            PromptRequest::check_offered(&at)?;
            request.check(&at)?;
            let (drop, dropped) = AbortHandle::new_pair();
            let (key, work) =
                self.state.sessions.begin(&request.session_id, self.limit, drop).ok_or_else(|| {
                    Error::internal_error("too many prompts are under way")
                        .with_data(&BTreeMap::from([("limit", self.limit)]))
                })?;
            let peer = context.peer().clone();
            let client = self.client(&peer, Some(work.clone()));
            let running = WorkGuard::new(self.state.clone(), peer, key);
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
            let why = Error::invalid_request("the id of a request must not be null");
            return Either::Left(Either::Left(std::future::ready(Err(why))));
        }
        if &*request.method == PromptRequest::NAME {
            // The prompt must be registered before this returns.
            return Either::Left(Either::Right(self.prompt(
                prompt::read(request.params, |method, parts| self.agent.skipped(method, parts)),
                context,
            )));
        }
        let context = Context { client: self.client(context.peer(), None), request: context };
        // Boxed, because this future is as large as the largest method's, and every prompt would move it.
        Either::Right(Box::pin(self.dispatch(request, context)))
    }

    fn notification(&self, notification: Notification, peer: &Peer) {
        if self.ready().is_err() {
            return;
        }
        let client = self.client(peer, None);
        if &*notification.method == CancelSessionNotification::NAME {
            // A notification that cannot be decoded is ignored, like an unknown one.
            if let Ok(cancel) = decode_params::<CancelSessionNotification>(notification.params) {
                self.state.sessions.cancel(&cancel.session_id);
                self.agent.cancel(cancel, &client);
            }
        } else if !notification.method.starts_with("$/") {
            self.agent.extension_notification(&notification.method, notification.params, &client);
        }
    }
}

/// Decodes `initialize`. For a client of a later version, members that cannot be decoded are ignored: the client needs
/// the answer, because it has the highest version that the agent supports.
fn read_initialize(params: Option<RawJson>) -> Result<InitializeRequest, Error> {
    #[derive(Deserialize)]
    #[serde(expecting = "an object")]
    struct LenientInitialize {
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
        <InitializeRequest as Method<Connection<'_>>>::decode(params)?
    } else {
        let LenientInitialize { info, capabilities, meta } = decode_params(params)?;
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

/// Decodes the requested version alone, and ignores malformed other params.
pub(crate) fn asked_version(params: Option<&RawJson>) -> Result<ProtocolVersion, Error> {
    #[derive(Deserialize)]
    #[serde(expecting = "an object")]
    #[serde(rename_all = "camelCase")]
    struct VersionOnly {
        protocol_version: ProtocolVersion,
    }

    decode_params(params.cloned()).map(|asked: VersionOnly| asked.protocol_version)
}
