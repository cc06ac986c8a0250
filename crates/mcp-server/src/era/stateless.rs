//! Since 2026-07-28: each request says who asks, and what it is answered says who answers.

use std::sync::Arc;

use agentwire_jsonrpc::{ErrorObject, Members, Method, RawJson, Request};
use agentwire_mcp_schema::code::UnsupportedVersion;
use agentwire_mcp_schema::{
    ClientCapabilities, DiscoverRequest, DiscoverResult, HasMeta, Implementation, LoggingLevel,
    ProgressToken, ProtocolVersion, RequestMeta, ResultMeta, ResultType, Revision, SubscriptionFilter,
    SubscriptionsListenRequest, SubscriptionsListenResult,
};
use agentwire_peer::{Call, CallError, Peer, RequestContext};
use serde::ser::SerializeMap;
use serde::{Deserialize, Serialize};
use serde_json::value::{RawValue, to_raw_value};

use crate::caching::Caching;
use crate::dispatch::dispatch;
use crate::era::{Caller, Reply};
use crate::kind::{Kind, Kinds};
use crate::params::{Params, read_params};
use crate::subscription::Subscription;
use crate::{Context, Server};

/// The members of a `_meta` that say who asks.
const PROTOCOL_VERSION: &str = "io.modelcontextprotocol/protocolVersion";
const CLIENT_CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
const CLIENT_INFO: &str = "io.modelcontextprotocol/clientInfo";
const LOG_LEVEL: &str = "io.modelcontextprotocol/logLevel";
const PROGRESS_TOKEN: &str = "progressToken";

/// What a request says of who asks.
pub(crate) struct Asker {
    revision: Revision,
    info: Option<Implementation>,
    capabilities: ClientCapabilities,
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
        match Self::read(text) {
            Some(asker) => Ok(Some(asker)),
            None if may_name_version(text) => Self::judge(text, in_session),
            None => Ok(None),
        }
    }

    /// Reads a `_meta` in which nothing is wrong, as nearly all are. None where something is.
    fn read(text: &str) -> Option<Arc<Self>> {
        let (mut revision, mut info, mut capabilities, mut log_level, mut progress_token) =
            (None, None, None, None, None);
        for (key, value) in Members::of(text) {
            let again = match &*key {
                PROTOCOL_VERSION => {
                    let name = value.strip_prefix('"')?.strip_suffix('"')?;
                    let known = Revision::parse(name).filter(|revision| revision.is_stateless())?;
                    revision.replace(known).is_some()
                }
                CLIENT_CAPABILITIES if value == "{}" => {
                    capabilities.replace(ClientCapabilities::default()).is_some()
                }
                CLIENT_CAPABILITIES => capabilities.replace(serde_json::from_str(value).ok()?).is_some(),
                CLIENT_INFO => info.replace(serde_json::from_str(value).ok()?).is_some(),
                LOG_LEVEL => {
                    let level = serde_json::from_str(value).ok().filter(LoggingLevel::is_known)?;
                    log_level.replace(level).is_some()
                }
                PROGRESS_TOKEN => progress_token.replace(serde_json::from_str(value).ok()?).is_some(),
                _ => false,
            };
            if again {
                return None;
            }
        }
        let (revision, capabilities) = (revision?, capabilities?);
        Some(Arc::new(Self { revision, info, capabilities, log_level, progress_token }))
    }

    /// Reads any other `_meta`, and says what is wrong with it.
    #[cold]
    fn judge(text: &str, in_session: bool) -> Result<Option<Arc<Self>>, ErrorObject> {
        let read = serde_json::from_str::<RequestMeta>(text);
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
            info: meta.client_info,
            capabilities: meta.client_capabilities,
            log_level: meta.log_level,
            progress_token: meta.progress_token,
        })))
    }

    pub(crate) fn revision(&self) -> Revision {
        self.revision
    }

    pub(crate) fn info(&self) -> Option<&Implementation> {
        self.info.as_ref()
    }

    pub(crate) fn capabilities(&self) -> &ClientCapabilities {
        &self.capabilities
    }

    pub(crate) fn progress_token(&self) -> Option<&ProgressToken> {
        self.progress_token.as_ref()
    }

    /// Whether it wants a line of log at that level.
    pub(crate) fn wants_log(&self, level: &LoggingLevel) -> bool {
        self.log_level.as_ref().is_some_and(|least| level >= least)
    }
}

/// Whether a `_meta` is worth a closer look.
fn may_name_version(meta: &str) -> bool {
    meta.starts_with('{') && (meta.contains("/protocolVersion\"") || meta.contains('\\'))
}

/// The version that a `_meta` names which lacks something else.
#[cold]
fn version_in(meta: &str) -> Result<Option<ProtocolVersion>, ErrorObject> {
    #[derive(Deserialize)]
    struct Version<'a> {
        #[serde(borrow, default, rename = "io.modelcontextprotocol/protocolVersion")]
        version: Option<&'a RawValue>,
    }

    let Ok(Version { version: Some(version) }) = serde_json::from_str(meta) else {
        return Ok(None);
    };
    serde_json::from_str(version.get()).map(Some).map_err(ErrorObject::invalid_params)
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
    context: RequestContext,
) -> Result<Reply, ErrorObject> {
    if context.in_batch() {
        return Err(ErrorObject::invalid_request("a request that says who asks must not be part of a batch"));
    }
    let caller = Caller::Request(asker);
    match &*request.method {
        DiscoverRequest::NAME => discover(server, &caller, &context).map(Reply::done),
        SubscriptionsListenRequest::NAME => listen(server, caller, request, params, context),
        _ => dispatch(server, caller, request, params, context),
    }
}

fn discover(server: &Server, caller: &Caller, context: &RequestContext) -> Result<RawJson, ErrorObject> {
    let Caching { ttl, scope } = server.list_caching().clone();
    let mut result = DiscoverResult::new(supported(), server.capabilities()).ttl_ms(ttl).cache_scope(scope);
    result.instructions = server.instructions_text();
    caller.encode(server, context.peer(), result)
}

fn listen(
    server: &Server,
    caller: Caller,
    request: &Request,
    params: Params<'_>,
    context: RequestContext,
) -> Result<Reply, ErrorObject> {
    let asked: SubscriptionsListenRequest = read_params(request.params.as_ref())?;
    let id = request.id.clone();
    let context = Context::new(server.clone(), caller, context, params.meta()?);
    let subscription = Subscription::open(server, id.clone(), honoured(server, asked.notifications));
    let peer = context.peer().clone();
    let answer = context.clone();
    let running = Box::pin(async move {
        subscription.run(&peer).await?;
        answer.encode(SubscriptionsListenResult::new(id))
    });
    Ok(Reply::Running(context, running))
}

/// What of a filter the server can keep. A kind of notification that it does not advertise is left out.
fn honoured(server: &Server, asked: SubscriptionFilter) -> SubscriptionFilter {
    let kinds = Kinds::of(&server.capabilities());
    let resources = if kinds.has(Kind::Updates) { asked.resource_subscriptions } else { Vec::new() };
    SubscriptionFilter::default()
        .tools_list_changed(asked.tools_list_changed && kinds.has(Kind::ToolChanges))
        .prompts_list_changed(asked.prompts_list_changed && kinds.has(Kind::PromptChanges))
        .resources_list_changed(asked.resources_list_changed && kinds.has(Kind::ResourceChanges))
        .resource_subscriptions(resources)
}

/// A client that is asked something in return cannot answer: it sends requests only.
pub(crate) fn call<M: Method>(peer: &Peer) -> Call<M::Response> {
    let why = "this request stands alone (revision 2026-07-28), so its client can be sent no request; \
               what is wanted of it has to be said in the result";
    peer.refuse_call(CallError::not_allowed(M::NAME, why))
}

/// Writes a result, with who answers in its `_meta`.
pub(crate) fn encode<T: Serialize + HasMeta>(
    server: &Server,
    peer: &Peer,
    mut value: T,
) -> Result<RawJson, ErrorObject> {
    #[derive(Serialize)]
    struct Signed<'a, T> {
        #[serde(flatten)]
        value: &'a T,
        #[serde(rename = "_meta")]
        meta: &'a RawValue,
    }

    let encoded = match value.meta_slot() {
        None => peer.encode_answer(&Signed { value: &value, meta: server.signature() }),
        Some(meta) => {
            for (key, name) in ResultMeta::new(server.info().clone()).to_meta() {
                meta.entry(key).or_insert(name);
            }
            peer.encode_answer(&value)
        }
    };
    encoded.map_err(ErrorObject::internal_error)
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
