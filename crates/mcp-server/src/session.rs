//! One connection: the handshake, and which request goes where.

use std::future::Future;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use agentwire_jsonrpc::{ErrorObject, Method, Notice, Notification, RawJson, Request};
use agentwire_mcp_schema::{
    CallToolParams, CallToolRequest, ClientCapabilities, EmptyResult, GetPromptRequest, HasMeta,
    Implementation, InitializeRequest, InitializeResult, InitializedNotification, ListPromptsRequest,
    ListResourceTemplatesRequest, ListResourceTemplatesResult, ListResourcesRequest, ListToolsRequest,
    LoggingLevel, METHODS, MethodInfo, MethodKind, Narrow, PingRequest, ReadResourceRequest, Revision,
    ServerCapabilities, SetLevelRequest, code,
};
use agentwire_peer::{Handler, Peer, RequestContext};
use serde::{Deserialize, Serialize};

use crate::Context;
use crate::context::Running;
use crate::server::Server;
use crate::tool::wrong_arguments;

/// One connection, shared by its driver and by what runs on it.
pub(crate) struct Session {
    server: Server,
    peer: Peer,
    negotiated: OnceLock<Negotiated>,
    /// Whether the client has said that it takes more than answers.
    initialized: AtomicBool,
    /// The least level of log that is sent; none if the server does not log.
    level: Mutex<Option<LoggingLevel>>,
}

/// What the handshake agreed on.
pub(crate) struct Negotiated {
    pub(crate) revision: Revision,
    pub(crate) client_info: Implementation,
    pub(crate) client_capabilities: ClientCapabilities,
    /// What was advertised, which decides what is answered.
    pub(crate) capabilities: ServerCapabilities,
}

/// What is done about a request.
enum Reply {
    Done(Result<RawJson, ErrorObject>),
    Running(Context, Running),
}

impl Session {
    pub(crate) fn new(server: Server, peer: Peer) -> Self {
        let level = Mutex::new(server.logging_level());
        Self { server, peer, negotiated: OnceLock::new(), initialized: AtomicBool::new(false), level }
    }

    pub(crate) fn negotiated(&self) -> Option<&Negotiated> {
        self.negotiated.get()
    }

    /// Whether a line of log at that level is sent.
    pub(crate) fn logs(&self, level: &LoggingLevel) -> bool {
        let least = self.level.lock().unwrap_or_else(PoisonError::into_inner);
        least.as_ref().is_some_and(|least| level >= least)
    }

    /// Says something to the client, if it may be said to it yet.
    pub(crate) fn announce<N: Notice>(&self, notice: &N, may: impl FnOnce(&ServerCapabilities) -> bool) {
        let told = self.negotiated().is_some_and(|negotiated| may(&negotiated.capabilities));
        if told && self.initialized.load(Ordering::Relaxed) {
            // A connection that is over needs to hear of nothing.
            let _closed = self.peer.post(notice);
        }
    }

    /// Decides about a request. What arrived is not needed any more when this returns.
    fn reply(self: &Arc<Self>, request: &Request, context: RequestContext) -> Result<Reply, ErrorObject> {
        let params = request.params.as_ref();
        match &*request.method {
            InitializeRequest::NAME => return self.initialize(params, &context).map(Reply::done),
            PingRequest::NAME => return encode(&context, &EmptyResult::default()),
            _ => {}
        }
        let Some(negotiated) = self.negotiated() else {
            return Err(refuse_early(&request.method));
        };
        let Negotiated { revision, capabilities, .. } = negotiated;
        let page_size = self.server.page_size_value();
        match &*request.method {
            CallToolRequest::NAME if capabilities.tools.is_some() => {
                self.call_tool(params, *revision, context)
            }
            ListToolsRequest::NAME if capabilities.tools.is_some() => {
                self.server.tools().page(params, "tools", *revision, page_size).map(Reply::done)
            }
            ReadResourceRequest::NAME if capabilities.resources.is_some() => {
                self.read_resource(params, *revision, context)
            }
            ListResourcesRequest::NAME if capabilities.resources.is_some() => {
                self.server.resources().page(params, "resources", *revision, page_size).map(Reply::done)
            }
            ListResourceTemplatesRequest::NAME if capabilities.resources.is_some() => {
                encode(&context, &ListResourceTemplatesResult::default())
            }
            GetPromptRequest::NAME if capabilities.prompts.is_some() => {
                self.prompt(params, *revision, context)
            }
            ListPromptsRequest::NAME if capabilities.prompts.is_some() => {
                self.server.prompts().page(params, "prompts", *revision, page_size).map(Reply::done)
            }
            SetLevelRequest::NAME if capabilities.logging.is_some() => self.set_level(params, &context),
            unknown => Err(ErrorObject::method_not_found(unknown)),
        }
    }

    fn initialize(&self, params: Option<&RawJson>, context: &RequestContext) -> Result<RawJson, ErrorObject> {
        if self.negotiated().is_some() {
            return Err(ErrorObject::invalid_request("this connection is initialized already"));
        }
        if context.in_batch() {
            return Err(ErrorObject::invalid_request("`initialize` must not be part of a batch"));
        }
        let request: InitializeRequest = read_params(params)?;
        let asked = request.protocol_version.revision().filter(|revision| revision.has_sessions());
        let revision = asked.unwrap_or(Revision::LATEST_SESSION);
        let mut result = InitializeResult::new(revision, self.server.info().clone());
        result.capabilities = self.server.capabilities();
        result.instructions = self.server.instructions_text();
        result.narrow(revision);
        let answer = context.peer().encode_answer(&result).map_err(ErrorObject::internal_error)?;
        let _initialized_meanwhile = self.negotiated.set(Negotiated {
            revision,
            client_info: request.client_info,
            client_capabilities: request.capabilities,
            capabilities: result.capabilities,
        });
        context.peer().take_batches(revision.has_batches());
        Ok(answer)
    }

    fn call_tool(
        self: &Arc<Self>,
        params: Option<&RawJson>,
        revision: Revision,
        request: RequestContext,
    ) -> Result<Reply, ErrorObject> {
        let call: CallToolParams<'_> = read_params(params)?;
        let tool = self.server.tools().find(&call.name);
        let tool = tool
            .ok_or_else(|| ErrorObject::invalid_params(format_args!("there is no tool `{}`", call.name)))?;
        let arguments = call.arguments_json();
        let token = call.progress_token();
        let context = Context::new(self.clone(), revision, request, call.meta, token);
        match tool.run(arguments, context.clone()) {
            Ok(running) => Ok(Reply::Running(context, running)),
            Err(why) => wrong_arguments(&call.name, &why, &context).map(Reply::done),
        }
    }

    fn read_resource(
        self: &Arc<Self>,
        params: Option<&RawJson>,
        revision: Revision,
        request: RequestContext,
    ) -> Result<Reply, ErrorObject> {
        let read: ReadResourceRequest = read_params(params)?;
        let resource = self.server.resources().find(&read.uri);
        let resource = resource.ok_or_else(|| code::resource_not_found(&read.uri))?;
        let token = read.progress_token();
        let context = Context::new(self.clone(), revision, request, read.meta, token);
        let running = resource.run(context.clone());
        Ok(Reply::Running(context, running))
    }

    fn prompt(
        self: &Arc<Self>,
        params: Option<&RawJson>,
        revision: Revision,
        request: RequestContext,
    ) -> Result<Reply, ErrorObject> {
        let get: GetPromptRequest = read_params(params)?;
        let prompt = self.server.prompts().find(&get.name);
        let prompt = prompt
            .ok_or_else(|| ErrorObject::invalid_params(format_args!("there is no prompt `{}`", get.name)))?;
        let token = get.progress_token();
        let context = Context::new(self.clone(), revision, request, get.meta, token);
        let running = prompt.run(&get.arguments, context.clone()).map_err(|why| {
            ErrorObject::invalid_params(format_args!("arguments of the prompt `{}`: {why}", get.name))
        })?;
        Ok(Reply::Running(context, running))
    }

    fn set_level(&self, params: Option<&RawJson>, context: &RequestContext) -> Result<Reply, ErrorObject> {
        let request: SetLevelRequest = read_params(params)?;
        *self.level.lock().unwrap_or_else(PoisonError::into_inner) = Some(request.level);
        encode(context, &EmptyResult::default())
    }
}

impl Reply {
    fn done(answer: RawJson) -> Self {
        Self::Done(Ok(answer))
    }
}

/// What the driver of a connection calls.
pub(crate) struct Front(pub(crate) Arc<Session>);

impl Handler for Front {
    fn request(
        &self,
        request: Request,
        context: RequestContext,
    ) -> impl Future<Output = Result<RawJson, ErrorObject>> {
        let reply = self.0.reply(&request, context).unwrap_or_else(|error| Reply::Done(Err(error)));
        // A large message must not wait in memory for the function that works on what was decoded from it.
        drop(request);
        async move {
            match reply {
                Reply::Done(answer) => answer,
                Reply::Running(context, running) => context.race(running).await,
            }
        }
    }

    fn notification(&self, notification: Notification, _peer: &Peer) {
        if &*notification.method == InitializedNotification::NAME {
            self.0.initialized.store(true, Ordering::Relaxed);
        }
    }
}

/// Reads the params of a request; absent ones count as an empty object.
pub(crate) fn read_params<'a, P: Deserialize<'a>>(params: Option<&'a RawJson>) -> Result<P, ErrorObject> {
    let text = params.map_or("{}", RawJson::as_str);
    serde_json::from_str(text).map_err(ErrorObject::invalid_params)
}

fn encode<T: Serialize>(context: &RequestContext, value: &T) -> Result<Reply, ErrorObject> {
    context.peer().encode_answer(value).map(Reply::done).map_err(ErrorObject::internal_error)
}

/// Before the handshake a client may probe for anything, and has to hear whether that is unknown or early.
fn refuse_early(method: &str) -> ErrorObject {
    let is_known = |known: &MethodInfo| {
        known.name == method && known.kind == MethodKind::Request && known.since.has_sessions()
    };
    if METHODS.iter().any(is_known) {
        ErrorObject::invalid_request(format_args!("`{method}` must not come before `initialize`"))
    } else {
        ErrorObject::method_not_found(method)
    }
}
