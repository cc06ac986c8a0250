//! Creates and deletes the record of a session in the store, and takes stream numbers from it.

pub(crate) mod change;
pub(crate) mod message;
pub(crate) mod readiness;
pub(crate) mod shared;

use std::sync::Arc;
use std::time::Duration;

use agentwire_jsonrpc::{RawJson, Request};
use agentwire_store::{SessionId, SessionRecord, StoreError};
use http::StatusCode;
use ring::digest;

use crate::server::endpoint::endpoint_core::EndpointCore;
use crate::server::endpoint::resources::Resources;
use crate::server::nodes::record::message::{initialized, text};
use crate::server::response::refusal::Refusal;
use crate::server::session::Session;
use crate::server::{Caller, EndpointConfig, Principal};

/// Makes the record of a session that `initialize` opens.
pub(crate) fn new(principal: Option<&Principal>, caller: &Caller, initialize: RawJson) -> SessionRecord {
    let mut record = SessionRecord::new(principal_digest(principal), vec![initialize]);
    record.owner = caller.name().map(Into::into);
    record
}

/// Copies the request that opens a session for its record. Refuses a request beyond the limit of records.
pub(crate) fn opening(request: &Request, config: &EndpointConfig) -> Result<RawJson, Refusal> {
    let limit = config.record_limits.bytes;
    // Leaves room for `notifications/initialized`, which the record always gets.
    let room = limit.saturating_sub(initialized().capacity());
    let message = text(&request.clone().into()).filter(|message| message.len() <= room);
    message.ok_or_else(|| {
        let what = "bytes in the record of a session";
        Refusal::busy(StatusCode::TOO_MANY_REQUESTS, what, limit, "record_limit")
    })
}

/// The digest of the name of a principal. Records do not contain names.
pub(crate) fn principal_digest(principal: Option<&Principal>) -> Option<[u8; 32]> {
    let digest = digest::digest(&digest::SHA256, principal?.as_str().as_bytes());
    digest.as_ref().try_into().ok()
}

/// The time to live of a record before its session is used, in addition to the client's own time for that. The node that the
/// client uses restarts the time to live soon after.
const GRACE: Duration = Duration::from_secs(10);

/// Stores the record of a new session, and takes numbers for its streams. The client gets the session's id afterwards. Until it uses the
/// session, the record has a short time to live.
pub(crate) async fn create(resources: &Resources, session: &Session) -> Result<(), StoreError> {
    let Some((node, shared)) = resources.config.shared_node().zip(session.shared()) else { return Ok(()) };
    let (id, records) = (session.id(), &node.stores().records);
    let record = shared.record();
    let unused = resources.config.limits.opening_timeout + GRACE;
    records.create(id, record, unused.min(resources.config.idle)).await?;
    if !session.is_open() {
        // A newer session of the caller has replaced this one.
        records.delete_unused(id).await?;
        return Err(StoreError::away("the session has ended"));
    }
    let block = records.take_streams(id, shared.numbers_to_take()).await?;
    shared.add_numbers(block);
    Ok(())
}

/// Takes more numbers for the streams of a session that has few left.
pub(crate) fn take_numbers(core: &Arc<EndpointCore>, session: &Arc<Session>) {
    let Some(shared) = session.shared() else { return };
    if !shared.begins_taking() {
        return;
    }
    let (core_of_job, session) = (core.clone(), session.clone());
    core.resources.spawn(async move {
        let Some((node, shared)) = core_of_job.resources.config.shared_node().zip(session.shared()) else {
            return;
        };
        match node.stores().records.take_streams(session.id(), shared.numbers_to_take()).await {
            Ok(Some(block)) => shared.add_numbers(Some(block)),
            // The session has ended at another node.
            Ok(None) => {
                core_of_job.sessions.end(&session);
                node.note_end(session.id());
            }
            Err(_) => shared.add_numbers(None),
        }
        session.wake_posts();
    });
}

/// Ends a session at every node.
pub(crate) async fn delete(
    core: Arc<EndpointCore>,
    id: SessionId,
    principal: Option<Principal>,
) -> Result<(), Refusal> {
    let Some(node) = core.resources.config.shared_node() else { return Err(Refusal::unknown_session()) };
    let records = &node.stores().records;
    let refuse = |error| Refusal::store(&error, &core.resources.config);
    let here = core.sessions.get(id);
    match &here {
        Some(here) if here.belongs_to(principal.as_ref()) => {}
        Some(_) => return Err(core.sessions.foreign(principal.as_ref())),
        None => {
            let record = records.load(id).await.map_err(refuse)?;
            let record = record.ok_or_else(Refusal::unknown_session)?;
            if record.principal != principal_digest(principal.as_ref()) {
                return Err(core.sessions.foreign(principal.as_ref()));
            }
        }
    }
    let deleted = records.delete(id).await.map_err(refuse)?;
    if let Some(here) = &here {
        core.sessions.end(here);
    }
    core.sessions.forget(id);
    if !deleted && here.is_none() {
        return Err(Refusal::unknown_session());
    }
    // The client gets its response once the store has sent the message on to the other nodes. They may still serve a request of
    // that moment. A node that misses the message finds no record when it restarts the record's time to live.
    node.end_session(id).await;
    Ok(())
}
