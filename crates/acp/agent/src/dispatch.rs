//! Dispatches the messages of a connection of version 1 to the methods of an [`Agent`].

use std::future::Future;
use std::sync::Arc;

use agentwire_acp_schema::v1::{
    AuthMethod, AuthenticateRequest, CancelNotification, CloseSessionRequest, DeleteSessionRequest,
    InitializeRequest, ListSessionsRequest, LoadSessionRequest, LogoutRequest, NewSessionRequest,
    PromptRequest, PromptResponse, ProtocolVersion, ResumeSessionRequest, SetSessionConfigOptionRequest,
    SetSessionModeRequest, StopReason,
};
use agentwire_jsonrpc::{Notification, NotificationMethod, RawJson, Request, RequestMethod, decode_params};
use agentwire_peer::{Handler, Peer, RequestContext};
use futures_util::FutureExt;
use futures_util::future::{Either, ready};

use crate::connection_state::{ConnectionState, Handshake};
use crate::method::{Method, answer, broken_answer};
use crate::methods::Connection;
use crate::{Agent, Context, Error, RemoteClient, outgoing, prompt};

/// The handler of a connection: an [`Agent`] and the state of its connection.
pub(crate) struct Dispatch<A> {
    agent: A,
    state: Arc<ConnectionState>,
}

impl<A: Agent> Dispatch<A> {
    pub(crate) fn new(agent: A) -> Self {
        Self { agent, state: Arc::default() }
    }

    fn client(&self, peer: &Peer) -> RemoteClient {
        RemoteClient::new(peer.clone(), self.state.clone())
    }

    /// Returns the initialized connection, or an error until `initialize` is answered.
    fn ready(&self) -> Result<Connection<'_>, Error> {
        let first = || Error::invalid_request("initialize must be the first request");
        let handshake = self.state.handshake.get().ok_or_else(first)?;
        Ok(Connection { handshake, turns: &self.state.turns })
    }

    /// Answers `initialize`. A client may try again after an error.
    async fn initialize(&self, params: Option<RawJson>, context: Context) -> Result<RawJson, Error> {
        let twice = || Error::invalid_request("the connection is initialized already");
        if self.ready().is_ok() {
            return Err(twice());
        }
        let mut request = <InitializeRequest as Method<Connection<'_>>>::decode(params)?;
        let peer = context.request.peer().clone();
        // This agent has version 1 alone, so it answers every requested version with version 1.
        request.protocol_version = ProtocolVersion::V1;
        let mut response = self.agent.initialize(request.clone(), context).await?;
        response.protocol_version = ProtocolVersion::V1;
        outgoing::check_auth_methods(&response.auth_methods)
            .map_err(|why| broken_answer(InitializeRequest::NAME, &why))?;
        if !request.client_capabilities.auth.terminal {
            response.auth_methods.retain(|method| !matches!(method, AuthMethod::Terminal(_)));
        }
        let answer = <InitializeRequest as Method<Connection<'_>>>::encode(&peer, &response)?;
        self.state.handshake.set(Handshake { client: request, agent: response }).map_err(|_| twice())?;
        Ok(answer)
    }

    async fn dispatch(&self, request: Request, context: Context) -> Result<RawJson, Error> {
        let agent = &self.agent;
        let Request { method, params, .. } = request;
        #[cfg(feature = "unstable")]
        let context = context.with_params(&method, params.as_ref());
        if &*method == InitializeRequest::NAME {
            return self.initialize(params, context).await;
        }
        let at = &self.ready()?;
        let peer = &context.request.peer().clone();
        match &*method {
            AuthenticateRequest::NAME => answer(at, params, peer, |p| agent.authenticate(p, context)).await,
            LogoutRequest::NAME => answer(at, params, peer, |p| agent.logout(p, context)).await,
            NewSessionRequest::NAME => answer(at, params, peer, |p| agent.new_session(p, context)).await,
            LoadSessionRequest::NAME => answer(at, params, peer, |p| agent.load_session(p, context)).await,
            ResumeSessionRequest::NAME => {
                answer(at, params, peer, |p| agent.resume_session(p, context)).await
            }
            CloseSessionRequest::NAME => answer(at, params, peer, |p| agent.close_session(p, context)).await,
            DeleteSessionRequest::NAME => {
                answer(at, params, peer, |p| agent.delete_session(p, context)).await
            }
            SetSessionModeRequest::NAME => {
                answer(at, params, peer, |p| agent.set_session_mode(p, context)).await
            }
            ListSessionsRequest::NAME => {
                let request = ListSessionsRequest::read(params, at)?;
                #[cfg(feature = "unstable")]
                let drafts = context.drafts.clone();
                let response = agent.list_sessions(request, context).await?;
                #[cfg(feature = "unstable")]
                return drafts.list_answer(peer, response, at);
                #[cfg(not(feature = "unstable"))]
                ListSessionsRequest::write(peer, response, at)
            }
            SetSessionConfigOptionRequest::NAME => {
                let request = SetSessionConfigOptionRequest::read(params, at)?;
                let response = agent.set_session_config_option(request.clone(), context).await?;
                outgoing::check_option_set(&request, &response.config_options)
                    .map_err(|why| broken_answer(SetSessionConfigOptionRequest::NAME, &why))?;
                SetSessionConfigOptionRequest::write(peer, response, at)
            }
            method => agent.extension_request(method, params, context).await,
        }
    }

    /// Runs one turn. The turn is registered before this returns, so that a cancel directly after the request
    /// finds it.
    fn prompt(
        &self,
        request: Result<PromptRequest, Error>,
        context: Context,
    ) -> impl Future<Output = Result<RawJson, Error>> {
        let checked = request.and_then(|request| {
            let at = self.ready()?;
            request.check(&at)?;
            let turn = self.state.turns.begin(&request.session_id, context.request.clone());
            Ok((at, request, turn))
        });
        let (at, request, turn) = match checked {
            Ok(checked) => checked,
            Err(error) => return Either::Left(ready(Err(error))),
        };
        let peer = context.request.peer().clone();
        #[cfg(feature = "unstable")]
        let drafts = context.drafts.clone();
        // Not an async block: its future would store the request twice, and every prompt would move both copies.
        Either::Right(self.agent.prompt(request, context).map(move |outcome| {
            let response = if turn.end() {
                // After a cancel the client gets the stop reason `cancelled`. An error that the cancel caused in
                // the agent, or another stop reason that the agent returned since, is not sent.
                let mut response = outcome.unwrap_or_else(|_| PromptResponse::new(StopReason::Cancelled));
                response.stop_reason = StopReason::Cancelled;
                response
            } else {
                outcome?
            };
            #[cfg(feature = "unstable")]
            return drafts.prompt_answer(&peer, response, &at);
            #[cfg(not(feature = "unstable"))]
            PromptRequest::write(&peer, response, &at)
        }))
    }
}

impl<A: Agent> Handler for Dispatch<A> {
    fn request(
        &self,
        request: Request,
        context: RequestContext,
    ) -> impl Future<Output = Result<RawJson, Error>> {
        let context = Context::new(self.client(context.peer()), context);
        if &*request.method == PromptRequest::NAME {
            // The prompt must be registered before this returns.
            Either::Left(self.prompt(
                prompt::read(request.params, |method, parts| self.agent.skipped(method, parts)),
                context,
            ))
        } else {
            // Boxed, because this future is as large as the largest method's, and every prompt would move it.
            Either::Right(Box::pin(self.dispatch(request, context)))
        }
    }

    fn notification(&self, notification: Notification, peer: &Peer) {
        if self.ready().is_err() {
            return;
        }
        let client = self.client(peer);
        if &*notification.method == CancelNotification::NAME {
            // A notification that cannot be decoded is ignored, like an unknown one.
            if let Ok(cancel) = decode_params::<CancelNotification>(notification.params) {
                self.state.turns.cancel(&cancel.session_id);
                self.agent.cancel(cancel, &client);
            }
        } else if !notification.method.starts_with("$/") {
            self.agent.extension_notification(&notification.method, notification.params, &client);
        }
    }
}
