//! Up to 2025-11-25: the handshake, and what it agreed on for the whole connection.

use std::sync::{Arc, OnceLock, Weak};

use agentwire_jsonrpc::{ErrorObject, NotificationMethod, RawJson, Request, RequestMethod, read};
use agentwire_mcp_schema::{
    Downgrade, EmptyResult, Implementation, InitializeRequest, InitializeResult, LoggingLevel, METHODS,
    MethodInfo, MethodKind, PingRequest, ProgressToken, PromptListChangedNotification,
    ResourceListChangedNotification, ResourceUpdatedNotification, Revision, ServerCapabilities,
    SetLevelRequest, SubscribeRequest, ToolListChangedNotification, UnsubscribeRequest, code,
};
use agentwire_peer::runtime::set_revision;
use agentwire_peer::{Call, CallError, Peer};
use agentwire_sync::{Mutex, MutexGuard};

use crate::ask::{AskError, Question};
use crate::dispatch::dispatch;
use crate::era::capabilities::Capabilities;
use crate::era::{Caller, Reply, sender};
use crate::kind::{Kind, Kinds};
use crate::listeners::{Change, Listener, Listening};
use crate::params::{Params, read_params};
use crate::quota::{Holder, Share};
use crate::scope::RequestScope;
use crate::value_limit::{decode_answer, hold};
use crate::watch_list::WatchList;
use crate::{Context, Server};

/// What a connection has once `initialize` was answered.
pub(crate) struct Session {
    server: Server,
    peer: Peer,
    negotiated: Negotiated,
    /// Filled when the client has said that it takes more than answers.
    listening: OnceLock<Listening>,
    /// The least level of log that is sent; none if the server does not log.
    level: Mutex<Option<LoggingLevel>>,
    /// The URIs of what the client wants to hear of. Each was that of a resource when it asked.
    watched: Mutex<WatchList>,
    /// By which no other session of the server goes.
    number: u64,
    /// The memory of what the client said of itself.
    _client: Option<Share>,
    /// What it is called as the owner of tasks, once it has any.
    name: OnceLock<Box<str>>,
}

/// What the handshake agreed on.
pub(crate) struct Negotiated {
    pub(crate) revision: Revision,
    pub(crate) client_info: Implementation,
    pub(crate) client_capabilities: Capabilities,
    /// What was advertised, which decides what is answered. No more of it than is asked for: there may be thousands
    /// of sessions.
    kinds: Kinds,
}

/// Decides about a request that does not say who asks.
pub(crate) fn reply(
    server: &Server,
    place: &OnceLock<Arc<Session>>,
    request: &Request,
    params: Params<'_>,
    scope: RequestScope,
) -> Result<Reply, ErrorObject> {
    let text = request.params.as_ref();
    match &*request.method {
        InitializeRequest::NAME => return initialize(server, place, text, &scope).map(Reply::done),
        PingRequest::NAME => return empty(&scope),
        _ => {}
    }
    let Some(session) = place.get() else {
        return Err(refuse_early(&request.method));
    };
    match &*request.method {
        SetLevelRequest::NAME if session.is_offered(Kind::Logging) => session.set_level(text, &scope),
        _ => dispatch(server, Caller::Session(session.clone()), request, params, scope),
    }
}

fn initialize(
    server: &Server,
    place: &OnceLock<Arc<Session>>,
    params: Option<&RawJson>,
    scope: &RequestScope,
) -> Result<RawJson, ErrorObject> {
    let Some(peer) = scope.peer() else {
        return Err(refuse_early(InitializeRequest::NAME));
    };
    if place.get().is_some() {
        return Err(ErrorObject::invalid_request("this connection is initialized already"));
    }
    if scope.in_batch() {
        return Err(ErrorObject::invalid_request("`initialize` must not be part of a batch"));
    }
    let number = server.number_session();
    let text = params.map_or("", RawJson::as_str);
    let holder = || {
        let source = scope.source().map(|source| &**source);
        sender(server, source).unwrap_or(Holder::Session(number))
    };
    let client = hold(
        server,
        holder,
        "what the client says of itself, with that of its other sessions,",
        text,
        text.len(),
    )
    .map_err(ErrorObject::invalid_params)?;
    let request: InitializeRequest = read_params(params)?;
    let asked = request.protocol_version.revision().filter(|revision| revision.has_sessions());
    let revision = asked.unwrap_or(Revision::LATEST_SESSION);
    let mut result = InitializeResult::new(revision, server.info().clone());
    result.capabilities = server.capabilities();
    result.instructions = server.instructions_text();
    // 2024-11-05 has completions, but no capability that says so.
    let kinds = Kinds::of(&result.capabilities);
    result.downgrade(revision);
    let answer = scope.encode(&result)?;
    let negotiated = Negotiated {
        revision,
        client_info: request.client_info,
        client_capabilities: request.capabilities.into(),
        kinds,
    };
    let _initialized_meanwhile = place.set(Arc::new(Session::new(server, peer, negotiated, number, client)));
    peer.take_batches(revision.has_batches());
    set_revision(peer, revision.as_str());
    Ok(answer)
}

impl Session {
    fn new(server: &Server, peer: &Peer, negotiated: Negotiated, number: u64, client: Option<Share>) -> Self {
        Self {
            server: server.clone(),
            peer: peer.unrelated(),
            negotiated,
            listening: OnceLock::new(),
            level: Mutex::new(server.logging_level()),
            watched: Mutex::default(),
            number,
            _client: client,
            name: OnceLock::new(),
        }
    }

    pub(crate) fn negotiated(&self) -> &Negotiated {
        &self.negotiated
    }

    pub(crate) fn is_offered(&self, kind: Kind) -> bool {
        self.negotiated.kinds.has(kind)
    }

    pub(crate) fn number(&self) -> u64 {
        self.number
    }

    /// Whether a line of log at that level is sent.
    pub(crate) fn wants_log(&self, level: &LoggingLevel) -> bool {
        let least = self.level.lock();
        least.as_ref().is_some_and(|least| level >= least)
    }

    /// The client has said that it takes more than answers.
    pub(crate) fn open(self: &Arc<Self>) {
        let this: Weak<Self> = Arc::downgrade(self);
        self.listening.get_or_init(|| self.server.listeners().add(this));
    }

    /// Sends a request, unless the client cannot answer it.
    pub(crate) fn call<M: RequestMethod + Downgrade>(
        &self,
        peer: &Peer,
        mut request: M,
    ) -> Call<M::Response> {
        let Negotiated { revision, client_capabilities, .. } = &self.negotiated;
        let client_capabilities = client_capabilities.get();
        // What the server can do itself opens nothing: it asks for what the client has.
        let is_allowed = MethodInfo::find_in(M::NAME, *revision).is_some_and(|method| {
            method.is_allowed(*revision, client_capabilities, &ServerCapabilities::default())
        });
        if !is_allowed {
            let why = "the client did not say that it can answer this";
            return Call::failed(CallError::not_allowed(M::NAME, why));
        }
        // Of what it said, only what the revision has can be meant.
        let mut can = client_capabilities.clone();
        can.downgrade(*revision);
        let lacking = request.lacks(&|capability| can.has(capability));
        request.downgrade(*revision);
        if let Err(unsupported) = request.fits(*revision) {
            return Call::failed(CallError::not_allowed(M::NAME, unsupported.to_string()));
        }
        if let Some(capability) = lacking {
            let why = format!("the client did not say that it has the capability `{capability}`");
            return Call::failed(CallError::not_allowed(M::NAME, why));
        }
        peer.call(&request).decode_by(decode_answer)
    }

    /// Asks what a function wants to know, in a request that belongs to the one it works for.
    pub(crate) async fn ask<Q: Question>(
        &self,
        context: &Context,
        question: Q,
    ) -> Result<Q::Response, AskError> {
        Ok(self.put(context, question).await?)
    }

    /// Asks the client, for as long as people are given to answer.
    pub(crate) fn put<Q: Question>(&self, context: &Context, question: Q) -> Call<Q::Response> {
        let call = self.call(context.scope().peer().unwrap_or(&self.peer), question);
        match self.server.asking_settings().timeout {
            Some(timeout) => call.timeout(timeout),
            None => call,
        }
    }

    /// What it is called as the owner of tasks: by chance, as records outlive programs.
    pub(crate) fn name(&self) -> Result<&str, ErrorObject> {
        if let Some(name) = self.name.get() {
            return Ok(name);
        }
        let name = crate::tasks::new_name()?;
        Ok(self.name.get_or_init(|| name.into()))
    }

    pub(crate) fn end_tasks(&self) {
        if let (Some(name), Some(tasks)) = (self.name.get(), self.server.tasks_settings()) {
            tasks.boards().end_session(name);
        }
    }

    fn set_level(&self, params: Option<&RawJson>, scope: &RequestScope) -> Result<Reply, ErrorObject> {
        let request: SetLevelRequest = read_params(params)?;
        *self.level.lock() = Some(request.level);
        empty(scope)
    }

    /// The client wants to hear when what a resource holds changes.
    pub(crate) fn watch(
        self: &Arc<Self>,
        params: Option<&RawJson>,
        scope: &RequestScope,
    ) -> Result<Reply, ErrorObject> {
        let SubscribeRequest { uri, .. } = read_params(params)?;
        if !self.server.has_resource(&uri) {
            return Err(code::missing_resource(&uri, self.negotiated.revision));
        }
        let limits = self.server.subscription_limits_value();
        let holder = || {
            let source = scope.source().map(|source| &**source);
            Caller::Session(self.clone()).holder(&self.server, source)
        };
        self.watched().add(&uri, limits, self.server.watched(), holder)?;
        empty(scope)
    }

    /// It does not any more.
    pub(crate) fn unwatch(
        &self,
        params: Option<&RawJson>,
        scope: &RequestScope,
    ) -> Result<Reply, ErrorObject> {
        let UnsubscribeRequest { uri, .. } = read_params(params)?;
        self.watched().remove(&uri);
        empty(scope)
    }

    fn watched(&self) -> MutexGuard<'_, WatchList> {
        self.watched.lock()
    }

    fn post<N: NotificationMethod>(&self, kind: Kind, notice: &N) {
        if self.is_offered(kind) {
            // A connection that is over needs to hear of nothing.
            let _closed = self.peer.notify_coalesced(notice);
        }
    }
}

impl Listener for Session {
    fn hear(&self, change: Change<'_>) {
        match change {
            Change::Tools => self.post(Kind::ToolChanges, &ToolListChangedNotification::default()),
            Change::Prompts => self.post(Kind::PromptChanges, &PromptListChangedNotification::default()),
            Change::Resources => {
                self.post(Kind::ResourceChanges, &ResourceListChangedNotification::default())
            }
            Change::Resource(uri) if self.watched().find(uri).is_some() => {
                self.post(Kind::Updates, &ResourceUpdatedNotification::new(uri));
            }
            Change::Resource(_) => {}
            Change::Task(_) => {}
        }
    }
}

/// The token in a `_meta`. What is none is passed over.
pub(crate) fn progress_token(params: &Params<'_>) -> Option<ProgressToken> {
    read(params.said?.progress_token?).ok()
}

fn empty(scope: &RequestScope) -> Result<Reply, ErrorObject> {
    scope.encode(&EmptyResult::default()).map(Reply::done)
}

/// Without a handshake a client may probe for anything, and has to hear whether that is unknown, or known but neither
/// part of a session nor a request that says who asks.
fn refuse_early(method: &str) -> ErrorObject {
    let is_known = |known: &MethodInfo| known.name == method && known.kind == MethodKind::Request;
    if METHODS.iter().any(is_known) {
        ErrorObject::invalid_params(format_args!(
            "`{method}` needs either `initialize` before it or a protocol version in its `_meta`"
        ))
    } else {
        ErrorObject::method_not_found(method)
    }
}
