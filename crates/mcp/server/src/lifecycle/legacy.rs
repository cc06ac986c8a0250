//! Up to revision 2025-11-25: the handshake, and the requests of a session.

use std::sync::{Arc, OnceLock};

use agentwire_jsonrpc::{ErrorObject, RawJson, Request, RequestMethod};
use agentwire_mcp_schema::{
    Downgrade, InitializeRequest, InitializeResult, METHODS, MethodInfo, MethodKind, PingRequest, Revision,
    SetLevelRequest,
};
use agentwire_peer::runtime::{PeerExt, set_revision};

use crate::Server;
use crate::capability::{Capability, CapabilitySet};
use crate::dispatch::dispatch;
use crate::quota::Holder;
use crate::request::client_context::ClientContext;
use crate::request::params::{Params, read_description, read_params};
use crate::request::request_future::Reply;
use crate::request::session::{Negotiated, Session};
use crate::scope::RequestScope;
use crate::value_limit::hold;

/// Decides about a request that belongs to a session, or begins one.
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
        PingRequest::NAME => return Reply::empty(&scope),
        _ => {}
    }
    let Some(session) = place.get() else {
        return Err(refuse_early(&request.method));
    };
    match &*request.method {
        SetLevelRequest::NAME if session.is_offered(Capability::Logging) => {
            session.set_level(read_params::<SetLevelRequest>(text)?.level);
            Reply::empty(&scope)
        }
        _ => dispatch(server, ClientContext::Session(session.clone()), request, params, scope),
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
    let settings = &server.parts.settings;
    let number = settings.number_session();
    let text = params.map_or("", RawJson::as_str);
    let holder = || {
        let source = scope.source().map(|source| &**source);
        settings.sender(source).unwrap_or(Holder::Session(number))
    };
    let client = hold(
        settings,
        holder,
        "what the client says of itself, with that of its other sessions,",
        text,
        text.len(),
    )
    .map_err(ErrorObject::invalid_params)?;
    let request: InitializeRequest = read_description(params, &settings.warnings)?;
    let asked = request.protocol_version.revision().filter(|revision| revision.is_legacy());
    let revision = asked.unwrap_or(Revision::LATEST_LEGACY);
    let mut result = InitializeResult::new(revision, settings.info.clone());
    result.capabilities = server.parts.capabilities();
    result.instructions = settings.instructions.clone();
    // 2024-11-05 has completions, but no capability for them.
    let offered = CapabilitySet::of(&result.capabilities);
    result.downgrade(revision);
    let answer = scope.encode(&result)?;
    let negotiated = Negotiated {
        revision,
        client_info: request.client_info,
        client_capabilities: request.capabilities.into(),
        offered,
    };
    let _initialized_meanwhile =
        place.set(Arc::new(Session::new(settings, peer, negotiated, number, client)));
    peer.set_batches(revision.has_batches());
    set_revision(peer, revision.as_str());
    Ok(answer)
}

/// The error of a request before the handshake. Clients probe with it, so it distinguishes an unknown method from a known
/// one that needs a session or a `_meta`.
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
