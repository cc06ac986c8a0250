use std::future::Future;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use agentwire_acp_schema::v1::{
    AuthMethod, AuthenticateRequest, CancelNotification, CloseSessionRequest, DeleteSessionRequest,
    InitializeRequest, InitializeResponse, ListSessionsRequest, LoadSessionRequest, LogoutRequest, McpServer,
    NewSessionRequest, PromptRequest, PromptResponse, ProtocolVersion, ResumeSessionRequest,
    SetSessionConfigOptionRequest, SetSessionModeRequest, StopReason,
};
use agentwire_jsonrpc::{Method, Notice, Notification, RawJson, Request, decode_params};
use agentwire_peer::{Handler, Peer, RequestContext};
use futures::future::Either;

use crate::turns::Turns;
use crate::wire::Wire;
use crate::{Agent, Client, Context, Error, rules};

/// Puts an [`Agent`] behind a connection.
pub(crate) struct Dispatch<A> {
    agent: A,
    /// What the client said of itself, once `initialize` has succeeded.
    greeting: Arc<OnceLock<InitializeRequest>>,
    /// What the agent answered to it.
    offered: OnceLock<InitializeResponse>,
    turns: Turns,
}

impl<A: Agent> Dispatch<A> {
    pub(crate) fn new(agent: A) -> Self {
        Self { agent, greeting: Arc::default(), offered: OnceLock::new(), turns: Turns::default() }
    }

    fn client(&self, peer: &Peer) -> Client {
        Client::new(peer.clone(), self.greeting.clone())
    }

    /// What the agent advertised. An error before `initialize` has been answered.
    fn ready(&self) -> Result<&InitializeResponse, Error> {
        self.offered.get().ok_or_else(|| Error::invalid_request("initialize must be the first request"))
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
        if !request.client_capabilities.auth.terminal {
            response.auth_methods.retain(|method| !matches!(method, AuthMethod::Terminal(_)));
        }
        let answer = InitializeRequest::encode(&peer, &response)?;
        self.offered.set(response).map_err(|_| twice())?;
        self.greeting.get_or_init(|| request);
        Ok(answer)
    }

    async fn dispatch(&self, request: Request, context: Context) -> Result<RawJson, Error> {
        let agent = &self.agent;
        let Request { method, params, .. } = request;
        if &*method == InitializeRequest::NAME {
            return self.initialize(InitializeRequest::decode(params)?, context).await;
        }
        let greeting = self.ready()?;
        let offered = &greeting.agent_capabilities;
        rules::offered(&method, offered)?;
        let setup = |cwd: &Path, directories: &[PathBuf], servers: &[McpServer]| {
            rules::session_setup(cwd, directories, servers, offered)
        };
        match &*method {
            AuthenticateRequest::NAME => {
                let request = AuthenticateRequest::decode(params)?;
                rules::auth_method(&request.method_id, &greeting.auth_methods)?;
                give(request, context, |p, c| agent.authenticate(p, c)).await
            }
            LogoutRequest::NAME => answer(params, context, |p, c| agent.logout(p, c)).await,
            NewSessionRequest::NAME => {
                let request = NewSessionRequest::decode(params)?;
                setup(&request.cwd, &request.additional_directories, &request.mcp_servers)?;
                give(request, context, |p, c| agent.new_session(p, c)).await
            }
            LoadSessionRequest::NAME => {
                let request = LoadSessionRequest::decode(params)?;
                setup(&request.cwd, &request.additional_directories, &request.mcp_servers)?;
                give(request, context, |p, c| agent.load_session(p, c)).await
            }
            ResumeSessionRequest::NAME => {
                let request = ResumeSessionRequest::decode(params)?;
                setup(&request.cwd, &request.additional_directories, &request.mcp_servers)?;
                give(request, context, |p, c| agent.resume_session(p, c)).await
            }
            CloseSessionRequest::NAME => {
                let request = CloseSessionRequest::decode(params)?;
                self.turns.cancel(&request.session_id);
                give(request, context, |p, c| agent.close_session(p, c)).await
            }
            ListSessionsRequest::NAME => {
                let request = ListSessionsRequest::decode(params)?;
                rules::absolute("cwd", request.cwd.as_deref())?;
                give(request, context, |p, c| agent.list_sessions(p, c)).await
            }
            DeleteSessionRequest::NAME => answer(params, context, |p, c| agent.delete_session(p, c)).await,
            SetSessionModeRequest::NAME => answer(params, context, |p, c| agent.set_session_mode(p, c)).await,
            SetSessionConfigOptionRequest::NAME => {
                answer(params, context, |p, c| agent.set_session_config_option(p, c)).await
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
            rules::prompt(&request.prompt, &self.ready()?.agent_capabilities)?;
            let turn = self.turns.begin(&request.session_id, context.request.clone());
            Ok((request, turn))
        });
        async move {
            let (request, turn) = checked?;
            let peer = context.request.peer().clone();
            let outcome = self.agent.prompt(request, context).await;
            let response = if turn.end() {
                // Once the client has cancelled, the turn was cancelled: an error that this caused in the
                // agent, or an end that it reached meanwhile, is not what the client must hear.
                let mut response = outcome.unwrap_or_else(|_| PromptResponse::new(StopReason::Cancelled));
                response.stop_reason = StopReason::Cancelled;
                response
            } else {
                outcome?
            };
            PromptRequest::encode(&peer, &response)
        }
    }
}

impl<A: Agent> Handler for Dispatch<A> {
    fn request(
        &self,
        request: Request,
        context: RequestContext,
    ) -> impl Future<Output = Result<RawJson, Error>> {
        let context = Context { client: self.client(context.peer()), request: context };
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
                self.turns.cancel(&cancel.session_id);
                self.agent.cancel(cancel, &client);
            }
        } else if !notification.method.starts_with("$/") {
            self.agent.extension_notification(&notification.method, notification.params, &client);
        }
    }
}

/// Decodes the params and answers with what `method` makes of them.
async fn answer<P, F>(
    params: Option<RawJson>,
    context: Context,
    method: impl FnOnce(P, Context) -> F,
) -> Result<RawJson, Error>
where
    P: Wire,
    F: Future<Output = Result<P::Response, Error>>,
{
    give(P::decode(params)?, context, method).await
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
