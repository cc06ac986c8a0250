//! Opens the sealed ids of sessions, makes records from them, and ends such sessions.

pub(crate) mod sealed_session;
pub(crate) mod sealed_sessions;

use std::sync::Arc;

use agentwire_jsonrpc::{Notification, Request};
use agentwire_mcp_wire::method;
use agentwire_store::{SessionId, SessionRecord};
use futures::{StreamExt, stream};
use http::HeaderValue;
use ring::rand::{SecureRandom, SystemRandom};

use crate::header;
use crate::server::endpoint::endpoint_core::EndpointCore;
use crate::server::nodes::record::message::text;
use crate::server::nodes::record::principal_digest;
use crate::server::nodes::sealed::sealed_sessions::SealedContent;
use crate::server::response::refusal::Refusal;
use crate::server::session::Session;
use crate::server::{Caller, Head, Principal};

/// The number of sessions that are looked up at the same time.
const AT_ONCE: usize = 64;

/// Opens the sealed id of the session that a request names.
pub(super) fn open(core: &EndpointCore, id: SessionId, value: &HeaderValue) -> Option<SealedContent> {
    core.resources.config.sealed.as_ref()?.open(id, value.as_bytes().trim_ascii())
}

/// The value of the header `Mcp-Session-Id`.
pub(super) fn value(head: &Head) -> Option<&HeaderValue> {
    head.headers().get(header::SESSION_ID)
}

/// Makes a record from the content of a sealed id: `initialize`, and `notifications/initialized`, because the client has sent
/// that to another node.
pub(super) fn record(content: &SealedContent) -> SessionRecord {
    let initialize = Request::new(0_i64, method::INITIALIZE, content.params.clone());
    let initialized = Notification::new(method::INITIALIZED, None);
    let messages = [text(&initialize.into()), text(&initialized.into())];
    SessionRecord::new(content.principal, messages.into_iter().flatten().collect())
}

/// A random number of 56 bits, above which this node numbers the streams of a session. So no other node uses the same numbers for
/// the session. `None` if the system has no randomness.
pub(super) fn first_stream() -> Option<u64> {
    let mut bytes = [0; 8];
    SystemRandom::new().fill(&mut bytes).ok()?;
    Some(u64::from_be_bytes(bytes) >> 8)
}

/// Ends a session, and remembers its end for the rest of its lifetime. The session ends here even if the store fails, because a
/// deleted session must not keep its place.
pub(crate) async fn delete(
    core: Arc<EndpointCore>,
    id: SessionId,
    value: Option<HeaderValue>,
    (principal, caller): (Option<Principal>, Caller),
) -> Result<(), Refusal> {
    let Some(sealed) = &core.resources.config.sealed else { return Err(Refusal::unknown_session()) };
    let here = core.sessions.get(id);
    let expires = match &here {
        Some(here) if here.belongs_to(principal.as_ref()) => here.sealed().map(|sealed| sealed.expires()),
        Some(_) => return Err(core.sessions.foreign(principal.as_ref())),
        None => {
            let content = value.and_then(|value| open(&core, id, &value));
            let content = content.ok_or_else(Refusal::unknown_session)?;
            if content.principal != principal_digest(principal.as_ref()) {
                return Err(core.sessions.foreign(principal.as_ref()));
            }
            Some(content.expires)
        }
    };
    if let Some(here) = &here {
        core.sessions.end(here);
    }
    let Some(expires) = expires else { return Ok(()) };
    let is_first = sealed.end(id, caller.name().as_deref(), expires).await;
    // The session may have been loaded since. A load that adds it to the table later finds the end.
    if let Some(loaded) = core.sessions.get(id) {
        core.sessions.end(&loaded);
    }
    match is_first {
        Ok(is_first) if is_first || here.is_some() => Ok(()),
        Ok(_) => Err(Refusal::unknown_session()),
        // Without a shared store the session ends at this node only, so the client need not repeat the request.
        Err(_) if !sealed.shares_ended() => Ok(()),
        Err(error) => Err(Refusal::store(&error, &core.resources.config)),
    }
}

/// Ends sessions that have ended at another node, if nodes share the ends. Looks each session up once in a tenth of the idle
/// time.
pub(super) fn tick(core: &Arc<EndpointCore>) {
    if core.resources.config.sealed.as_ref().is_none_or(|sealed| !sealed.shares_ended()) {
        return;
    }
    let (now, every) = (core.resources.now(), (core.resources.ticks.idle / 10).max(1));
    let is_due = |session: &Arc<Session>| session.sealed().is_some_and(|sealed| sealed.is_due(now, every));
    let due: Vec<_> = core.sessions.all().into_iter().filter(is_due).collect();
    if due.is_empty() {
        return;
    }
    let core_of_job = core.clone();
    core.resources.spawn(async move {
        let core = &core_of_job;
        let look = |session: Arc<Session>| async move {
            // If the store is unreachable, the session continues.
            if let Some(sealed) = &core.resources.config.sealed
                && let Some(expires) = session.sealed().map(|sealed| sealed.expires())
                && let owner = session.caller().name()
                && let Ok(true) = sealed.has_ended(session.id(), owner.as_deref(), expires).await
            {
                core.sessions.end(&session);
            }
        };
        stream::iter(due).for_each_concurrent(AT_ONCE, look).await;
    });
}
