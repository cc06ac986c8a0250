use std::future::Future;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use agentwire_acp_schema::v1::{
    AuthMethod, AuthenticateRequest, CancelNotification, CloseSessionRequest, DeleteSessionRequest,
    InitializeRequest, ListSessionsRequest, LoadSessionRequest, LogoutRequest, McpServer, NewSessionRequest,
    PromptRequest, PromptResponse, ProtocolVersion, ResumeSessionRequest, SetSessionConfigOptionRequest,
    SetSessionModeRequest, StopReason,
};
use agentwire_jsonrpc::{Notification, NotificationMethod, RawJson, Request, RequestMethod, decode_params};
use agentwire_peer::{Handler, Peer, RequestContext};
use futures::FutureExt;
use futures::future::{Either, ready};

use crate::agreed::{Agreed, Shared};
use crate::wire::{Answer, Wire, broken};
use crate::{Agent, Client, Context, Error, outgoing, rules};

/// Puts an [`Agent`] behind a connection.
pub(crate) struct Dispatch<A> {
    agent: A,
    shared: Arc<Shared>,
}

impl<A: Agent> Dispatch<A> {
    pub(crate) fn new(agent: A) -> Self {
        Self { agent, shared: Arc::default() }
    }

    fn client(&self, peer: &Peer) -> Client {
        Client::new(peer.clone(), self.shared.clone())
    }

    /// What was agreed on. An error before `initialize` has been answered.
    fn ready(&self) -> Result<&Agreed, Error> {
        self.shared.agreed.get().ok_or_else(|| Error::invalid_request("initialize must be the first request"))
    }

    /// One that fails may be tried again.
    async fn initialize(&self, mut request: InitializeRequest, context: Context) -> Result<RawJson, Error> {
        let twice = || Error::invalid_request("the connection is initialized already");
        if self.ready().is_ok() {
            return Err(twice());
        }
        let peer = context.request.peer().clone();
        // One version is spoken here, so it is the answer to whatever is asked for.
        request.protocol_version = ProtocolVersion::V1;
        let mut response = self.agent.initialize(request.clone(), context).await?;
        response.protocol_version = ProtocolVersion::V1;
        outgoing::auth_methods(&response.auth_methods)
            .map_err(|why| broken(InitializeRequest::NAME, &why))?;
        if !request.client_capabilities.auth.terminal {
            response.auth_methods.retain(|method| !matches!(method, AuthMethod::Terminal(_)));
        }
        let answer = InitializeRequest::encode(&peer, &response)?;
        self.shared.agreed.set(Agreed { client: request, agent: response }).map_err(|_| twice())?;
        Ok(answer)
    }

    async fn dispatch(&self, request: Request, context: Context) -> Result<RawJson, Error> {
        let agent = &self.agent;
        let Request { method, params, .. } = request;
        #[cfg(feature = "unstable")]
        let context = context.with_params(&method, params.as_ref());
        if &*method == InitializeRequest::NAME {
            return self.initialize(InitializeRequest::decode(params)?, context).await;
        }
        let agreed = self.ready()?;
        let offered = &agreed.agent.agent_capabilities;
        rules::offered(&method, offered)?;
        let setup = |cwd: &Path, directories: &[PathBuf], servers: &[McpServer]| {
            rules::session_setup(cwd, directories, servers, offered)
        };
        match &*method {
            AuthenticateRequest::NAME => {
                let request = AuthenticateRequest::decode(params)?;
                rules::auth_method(&request.method_id, &agreed.agent.auth_methods)?;
                give(agreed, request, context, |p, c| agent.authenticate(p, c)).await
            }
            LogoutRequest::NAME => answer(agreed, params, context, |p, c| agent.logout(p, c)).await,
            NewSessionRequest::NAME => {
                let request = NewSessionRequest::decode(params)?;
                setup(&request.cwd, &request.additional_directories, &request.mcp_servers)?;
                give(agreed, request, context, |p, c| agent.new_session(p, c)).await
            }
            LoadSessionRequest::NAME => {
                let request = LoadSessionRequest::decode(params)?;
                setup(&request.cwd, &request.additional_directories, &request.mcp_servers)?;
                give(agreed, request, context, |p, c| agent.load_session(p, c)).await
            }
            ResumeSessionRequest::NAME => {
                let request = ResumeSessionRequest::decode(params)?;
                setup(&request.cwd, &request.additional_directories, &request.mcp_servers)?;
                give(agreed, request, context, |p, c| agent.resume_session(p, c)).await
            }
            CloseSessionRequest::NAME => {
                let request = CloseSessionRequest::decode(params)?;
                self.shared.turns.cancel(&request.session_id);
                give(agreed, request, context, |p, c| agent.close_session(p, c)).await
            }
            ListSessionsRequest::NAME => {
                let request = ListSessionsRequest::decode(params)?;
                rules::absolute("cwd", request.cwd.as_deref())?;
                let peer = context.request.peer().clone();
                #[cfg(feature = "unstable")]
                let drafts = context.drafts.clone();
                let response = agent.list_sessions(request, context).await?;
                #[cfg(feature = "unstable")]
                return drafts.list_answer(&peer, response, agreed);
                #[cfg(not(feature = "unstable"))]
                ListSessionsRequest::answer(&peer, response, agreed)
            }
            DeleteSessionRequest::NAME => {
                answer(agreed, params, context, |p, c| agent.delete_session(p, c)).await
            }
            SetSessionModeRequest::NAME => {
                answer(agreed, params, context, |p, c| agent.set_session_mode(p, c)).await
            }
            SetSessionConfigOptionRequest::NAME => {
                let request = SetSessionConfigOptionRequest::decode(params)?;
                rules::option_value(&request.value, agreed.client_can())?;
                let peer = context.request.peer().clone();
                let response = agent.set_session_config_option(request.clone(), context).await?;
                outgoing::option_set(&request, &response.config_options)
                    .map_err(|why| broken(SetSessionConfigOptionRequest::NAME, &why))?;
                SetSessionConfigOptionRequest::answer(&peer, response, agreed)
            }
            method => agent.extension_request(method, params, context).await,
        }
    }

    /// One turn. It is known from the moment its request arrives, so that a cancel right behind it finds it.
    fn prompt(
        &self,
        request: Result<PromptRequest, Error>,
        context: Context,
    ) -> impl Future<Output = Result<RawJson, Error>> {
        let checked = request.and_then(|request| {
            let agreed = self.ready()?;
            rules::prompt(&request.prompt, &agreed.agent.agent_capabilities)?;
            let turn = self.shared.turns.begin(&request.session_id, context.request.clone());
            Ok((agreed, request, turn))
        });
        let (agreed, request, turn) = match checked {
            Ok(checked) => checked,
            Err(error) => return Either::Left(ready(Err(error))),
        };
        let peer = context.request.peer().clone();
        #[cfg(feature = "unstable")]
        let drafts = context.drafts.clone();
        // No async block: it would hold the request twice, and both would be moved with every prompt.
        Either::Right(self.agent.prompt(request, context).map(move |outcome| {
            let response = if turn.end() {
                // Once the client has cancelled, the turn was cancelled: an error that this caused in the
                // agent, or an end that it reached meanwhile, is not what the client must hear.
                let mut response = outcome.unwrap_or_else(|_| PromptResponse::new(StopReason::Cancelled));
                response.stop_reason = StopReason::Cancelled;
                response
            } else {
                outcome?
            };
            #[cfg(feature = "unstable")]
            return drafts.prompt_answer(&peer, response, agreed);
            #[cfg(not(feature = "unstable"))]
            PromptRequest::answer(&peer, response, agreed)
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
            // A prompt must be noted before this returns.
            Either::Left(self.prompt(PromptRequest::decode(request.params), context))
        } else {
            // Boxed, since it is as large as the largest of all methods and would be moved with every prompt.
            Either::Right(Box::pin(self.dispatch(request, context)))
        }
    }

    fn notification(&self, notification: Notification, peer: &Peer) {
        if self.ready().is_err() {
            return;
        }
        let client = self.client(peer);
        if &*notification.method == CancelNotification::NAME {
            // A notification that cannot be read is passed over, as any that is not known.
            if let Ok(cancel) = decode_params::<CancelNotification>(notification.params) {
                self.shared.turns.cancel(&cancel.session_id);
                self.agent.cancel(cancel, &client);
            }
        } else if !notification.method.starts_with("$/") {
            self.agent.extension_notification(&notification.method, notification.params, &client);
        }
    }
}

/// Decodes the params and answers with what `method` makes of them.
async fn answer<P, F>(
    agreed: &Agreed,
    params: Option<RawJson>,
    context: Context,
    method: impl FnOnce(P, Context) -> F,
) -> Result<RawJson, Error>
where
    P: Answer,
    F: Future<Output = Result<P::Response, Error>>,
{
    give(agreed, P::decode(params)?, context, method).await
}

async fn give<P, F>(
    agreed: &Agreed,
    request: P,
    context: Context,
    method: impl FnOnce(P, Context) -> F,
) -> Result<RawJson, Error>
where
    P: Answer,
    F: Future<Output = Result<P::Response, Error>>,
{
    let peer = context.request.peer().clone();
    P::answer(&peer, method(request, context).await?, agreed)
}
