//! Since 2026-07-28: each request says who asks, and what it is answered says who answers.

use std::sync::Arc;

use agentwire_jsonrpc::{ErrorObject, Members, RawJson, Request, RequestMethod, read};
use agentwire_mcp_schema::code::UnsupportedVersion;
use agentwire_mcp_schema::task_extension::TaskSubscription;
use agentwire_mcp_schema::{
    ClientCapabilities, DiscoverRequest, DiscoverResult, HasMeta, Implementation, LoggingLevel, Meta,
    ProgressToken, ProtocolVersion, RequestMeta, ResultMeta, ResultType, Revision, SubscriptionFilter,
    SubscriptionsListenRequest, SubscriptionsListenResult,
};
use agentwire_peer::{Call, CallError};
use agentwire_transport::MessageSource;
use serde::ser::SerializeMap;
use serde::{Deserialize, Serialize};
use serde_json::value::{RawValue, to_raw_value};

use crate::ask::{AskError, Kind as AskErrorKind, Pass, Question};
use crate::caching::Caching;
use crate::dispatch::dispatch;
use crate::era::capabilities::Capabilities;
use crate::era::{Caller, Reply};
use crate::kind::{Kind, Kinds};
use crate::params::{MetaFields, Params, read_params};
use crate::scope::RequestScope;
use crate::subscription::Subscription;
use crate::undecoded::Undecoded;
use crate::watch_list::WatchList;
use crate::{Context, Server};

/// What a request says of who asks.
pub(crate) struct Asker {
    revision: Revision,
    info: Option<Undecoded<Implementation>>,
    capabilities: Capabilities,
    log_level: Option<LoggingLevel>,
    progress_token: Option<ProgressToken>,
}

impl Asker {
    /// Looks who asks. None for a request that does not say it, so is part of a session.
    ///
    /// # Errors
    ///
    /// When it says something, but not all that it must, or names a version in which it cannot be answered.
    pub(crate) fn of(params: &Params<'_>, in_session: bool) -> Result<Option<Arc<Self>>, ErrorObject> {
        let Some(text) = params.meta else {
            return Ok(None);
        };
        if params.meta_fields.is_some_and(|fields| fields.protocol_version.is_none()) {
            return Ok(None);
        }
        match params.meta_fields.and_then(Self::read) {
            Some(asker) => Ok(Some(Arc::new(asker))),
            None => Self::judge(text, in_session),
        }
    }

    /// Reads a `_meta` in which nothing is wrong, as nearly all are. None where something is.
    fn read(fields: MetaFields<'_>) -> Option<Self> {
        let version = fields.protocol_version?.strip_prefix('"')?.strip_suffix('"')?;
        let capabilities = match fields.client_capabilities? {
            "{}" => Capabilities::default(),
            some => read::<ClientCapabilities>(some).ok()?.into(),
        };
        let info = match fields.client_info {
            Some(info) if is_plain_info(info) => Some(Undecoded::new(info)),
            Some(info) => Some(Undecoded::decoded(read(info).ok()?)),
            None => None,
        };
        let log_level: Option<LoggingLevel> = fields.log_level.map(read).transpose().ok()?;
        if log_level.as_ref().is_some_and(|level| !level.is_known()) {
            return None;
        }
        Some(Self {
            revision: Revision::parse(version).filter(|revision| revision.is_stateless())?,
            info,
            capabilities,
            log_level,
            progress_token: fields.progress_token.map(read).transpose().ok()?,
        })
    }

    /// Reads any other `_meta`, and says what is wrong with it.
    #[cold]
    fn judge(text: &str, in_session: bool) -> Result<Option<Arc<Self>>, ErrorObject> {
        let read = read::<RequestMeta>(text);
        let found;
        let version = match &read {
            Ok(meta) => &meta.protocol_version,
            Err(_) => {
                found = version_in(text)?;
                let Some(version) = &found else { return Ok(None) };
                version
            }
        };
        let revision = match version.revision() {
            Some(revision) if revision.is_stateless() => revision,
            Some(_) if in_session => return Ok(None),
            _ => return Err(UnsupportedVersion::new(supported(), version.clone()).into()),
        };
        let meta = read.map_err(|error| ErrorObject::invalid_params(format_args!("`_meta`: {error}")))?;
        if let Some(level) = meta.log_level.as_ref().filter(|level| !level.is_known()) {
            return Err(ErrorObject::invalid_params(format_args!("`_meta`: `{level}` is no logging level")));
        }
        Ok(Some(Arc::new(Self {
            revision,
            info: meta.client_info.map(Undecoded::decoded),
            capabilities: meta.client_capabilities.into(),
            log_level: meta.log_level,
            progress_token: meta.progress_token,
        })))
    }

    pub(crate) fn revision(&self) -> Revision {
        self.revision
    }

    pub(crate) fn info(&self) -> Option<&Implementation> {
        self.info.as_ref()?.value()
    }

    pub(crate) fn capabilities(&self) -> &ClientCapabilities {
        self.capabilities.get()
    }

    pub(crate) fn progress_token(&self) -> Option<&ProgressToken> {
        self.progress_token.as_ref()
    }

    /// Whether it wants a line of log at that level.
    pub(crate) fn wants_log(&self, level: &LoggingLevel) -> bool {
        self.log_level.as_ref().is_some_and(|least| level >= least)
    }
}

/// Whether a `clientInfo` is right beyond doubt, without decoding it: it has a name and a version, and nothing else.
fn is_plain_info(info: &str) -> bool {
    let (mut names, mut versions) = (0, 0);
    for (member, value) in Members::of(info) {
        let count = match &*member {
            "name" => &mut names,
            "version" => &mut versions,
            _ => return false,
        };
        *count += 1;
        if !value.starts_with('"') || value.contains('\\') {
            return false;
        }
    }
    names == 1 && versions == 1
}

/// The version that a `_meta` names which lacks something else.
#[cold]
fn version_in(meta: &str) -> Result<Option<ProtocolVersion>, ErrorObject> {
    #[derive(Deserialize)]
    struct Version {
        #[serde(default, rename = "io.modelcontextprotocol/protocolVersion")]
        version: Option<RawJson>,
    }

    let Ok(Version { version: Some(version) }) = read(meta) else {
        return Ok(None);
    };
    version.decode().map(Some).map_err(ErrorObject::invalid_params)
}

/// The versions that a request may name.
fn supported() -> Vec<ProtocolVersion> {
    let stateless = Revision::ALL.iter().filter(|revision| revision.is_stateless());
    stateless.map(|revision| ProtocolVersion::from(*revision)).collect()
}

/// Decides about a request that says who asks.
pub(crate) fn reply(
    server: &Server,
    asker: Arc<Asker>,
    request: &Request,
    params: Params<'_>,
    scope: RequestScope,
) -> Result<Reply, ErrorObject> {
    if scope.in_batch() {
        return Err(ErrorObject::invalid_request("a request that says who asks must not be part of a batch"));
    }
    let caller = Caller::Request(asker);
    match &*request.method {
        DiscoverRequest::NAME => discover(server, &caller, &scope).map(Reply::done),
        SubscriptionsListenRequest::NAME => listen(server, caller, request, params, scope),
        _ => dispatch(server, caller, request, params, scope),
    }
}

fn discover(server: &Server, caller: &Caller, request: &RequestScope) -> Result<RawJson, ErrorObject> {
    let Caching { ttl, scope } = server.list_caching().clone();
    let mut result = DiscoverResult::new(supported(), server.capabilities()).ttl_ms(ttl).cache_scope(scope);
    result.instructions = server.instructions_text();
    caller.encode(server, request, result)
}

fn listen(
    server: &Server,
    caller: Caller,
    request: &Request,
    params: Params<'_>,
    scope: RequestScope,
) -> Result<Reply, ErrorObject> {
    let asked: SubscriptionsListenRequest = read_params(request.params.as_ref())?;
    let id = request.id.clone();
    let holder = || caller.holder(server, scope.source().map(|source| &**source));
    let limits = server.subscription_limits_value();
    let honoured = honoured(server, &asked.notifications);
    let mut watched = WatchList::default();
    for uri in &honoured.resource_subscriptions {
        watched.add(uri, limits, server.watched(), holder)?;
    }
    let context = Context::new(server.clone(), caller, scope, &params)?;
    let tasks = crate::tasks::follow(server, &context, TaskSubscription::read(&asked.notifications))?;
    let mut subscription = Subscription::open(server, id.clone(), honoured, watched, tasks);
    let subscribed = context.clone();
    let running = Box::pin(async move {
        subscription.look_at_tasks().await?;
        subscription.run(subscribed.scope()).await?;
        subscribed.encode(SubscriptionsListenResult::new(id))
    });
    Ok(Reply::Running(context, running))
}

/// What of a filter the server can keep. A kind of notification that it does not advertise is left out.
fn honoured(server: &Server, asked: &SubscriptionFilter) -> SubscriptionFilter {
    let kinds = Kinds::of(&server.capabilities());
    let resources = if kinds.has(Kind::Updates) { asked.resource_subscriptions.clone() } else { Vec::new() };
    SubscriptionFilter::default()
        .tools_list_changed(asked.tools_list_changed && kinds.has(Kind::ToolChanges))
        .prompts_list_changed(asked.prompts_list_changed && kinds.has(Kind::PromptChanges))
        .resources_list_changed(asked.resources_list_changed && kinds.has(Kind::ResourceChanges))
        .resource_subscriptions(resources)
}

/// A client that is asked something in return cannot answer: it sends requests only.
pub(crate) fn refuse_call<M: RequestMethod>() -> Call<M::Response> {
    let why = "this request stands alone (revision 2026-07-28), so its client can be sent no request; \
               what is wanted of it has to be said in the result";
    Call::failed(CallError::not_allowed(M::NAME, why))
}

/// Begins a round, unless nothing can be asked of the client and it brings nothing back.
pub(crate) fn begin_pass(
    server: &Server,
    asker: &Asker,
    request: &Request,
    params: &Params<'_>,
    source: Option<&dyn MessageSource>,
) -> Result<Option<Box<Pass>>, ErrorObject> {
    let (responses, state) = (params.input_responses, params.request_state);
    let can_be_asked = asker
        .capabilities
        .named()
        .is_some_and(|can| can.elicitation.is_some() || can.sampling.is_some() || can.roots.is_some());
    if !can_be_asked && state.is_none() {
        return Ok(None);
    }
    let empty = RawJson::EMPTY_OBJECT;
    let whole = request.params.as_ref().unwrap_or(&empty);
    Ok(Pass::begin(server, &request.method, whole, responses, state, source)?.map(Box::new))
}

/// Asks what a function wants to know: by way of the result, or as the task that the call has become.
pub(crate) async fn ask<Q: Question>(
    context: &Context,
    key: &str,
    question: Q,
) -> Result<Q::Response, AskError> {
    if context.board().is_some() {
        // What was answered in an earlier round is known to a task too. Its pass is over, also if that came just now.
        let answer = ask_in_pass(context, key, question.clone()).await;
        return match (answer, context.task()) {
            (Err(AskError(AskErrorKind::Over | AskErrorKind::Nowhere)), Some(board)) => {
                crate::tasks::ask(board, key, question).await
            }
            (answer, _) => answer,
        };
    }
    ask_in_pass(context, key, question).await
}

async fn ask_in_pass<Q: Question>(
    context: &Context,
    key: &str,
    question: Q,
) -> Result<Q::Response, AskError> {
    match context.pass() {
        Some(pass) => pass.ask(key, question).await,
        None => Err(AskError(AskErrorKind::Nowhere)),
    }
}

/// Writes a result, with who answers in its `_meta`.
pub(crate) fn encode<T: Serialize + HasMeta>(
    server: &Server,
    scope: &RequestScope,
    mut value: T,
) -> Result<RawJson, ErrorObject> {
    #[derive(Serialize)]
    struct Signed<'a, T> {
        #[serde(flatten)]
        value: &'a T,
        #[serde(rename = "_meta")]
        meta: &'a RawValue,
    }

    match value.meta_slot() {
        None => scope.encode(&Signed { value: &value, meta: server.signature() }),
        Some(meta) => {
            sign(server, meta);
            scope.encode(&value)
        }
    }
}

fn sign(server: &Server, meta: &mut Meta) {
    let mut signed = ResultMeta::new(server.info().clone()).to_meta();
    signed.retain(|key| !meta.contains_key(key));
    meta.extend(signed.iter());
}

/// The `_meta` that says who answers.
pub(crate) fn signature(info: &Implementation) -> Box<RawValue> {
    to_raw_value(&ResultMeta::new(info.clone())).expect("the members of an implementation have a JSON form")
}

/// What a page of a list says beside what it lists.
pub(crate) struct Remarks<'a> {
    caching: &'a Caching,
    signature: &'a RawValue,
}

impl<'a> Remarks<'a> {
    pub(crate) fn of_list(server: &'a Server) -> Self {
        Self { caching: server.list_caching(), signature: server.signature() }
    }

    /// Writes them as members of the page.
    pub(crate) fn write<M: SerializeMap>(&self, page: &mut M) -> Result<(), M::Error> {
        page.serialize_entry("resultType", &ResultType::Complete)?;
        page.serialize_entry("ttlMs", &self.caching.ttl)?;
        page.serialize_entry("cacheScope", &self.caching.scope)?;
        page.serialize_entry("_meta", self.signature)
    }
}
