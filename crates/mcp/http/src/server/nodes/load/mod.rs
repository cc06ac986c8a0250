//! Opens a session of another node: reads its record from the store or from the sealed id, and gives the messages in it to a
//! service of this node.

pub(crate) mod loads;
pub(crate) mod preparation;

use std::collections::hash_map::Entry;
use std::future::poll_fn;
use std::sync::Arc;
use std::time::Duration;

use agentwire_store::{SessionId, SessionRecord};
use agentwire_sync::Monitor;
use futures::future;
use http::StatusCode;

use crate::server::admission::record_limits::record_size;
use crate::server::endpoint::endpoint_core::EndpointCore;
use crate::server::endpoint::resources::Resources;
use crate::server::nodes::load::loads::{Key, LoadPlace, LoadResult, Loads, NotLoaded};
use crate::server::nodes::record::change::feed;
use crate::server::nodes::record::principal_digest;
use crate::server::nodes::record::shared::SharedSession;
use crate::server::nodes::sealed;
use crate::server::nodes::sealed::sealed_sessions::SealedContent;
use crate::server::response::refusal::Refusal;
use crate::server::session::Session;
use crate::server::session::connection::Connection;
use crate::server::{Caller, Head, Principal};

/// Returns the session that a request names. Loads it if it is not open here.
pub(crate) async fn find(
    core: &Arc<EndpointCore>,
    id: SessionId,
    head: &Arc<Head>,
) -> Result<Arc<Session>, Refusal> {
    let principal = head.extensions().get::<Principal>();
    let is_loading = core.resources.nodes.loads.open.lock().contains_key(&(id, principal.cloned()));
    if !is_loading && core.sessions.get(id).is_some() {
        return core.sessions.find(id, principal).ok_or_else(Refusal::unknown_session);
    }
    if core.resources.is_closing() {
        return Err(Refusal::closing());
    }
    if !core.is_running() {
        return Err(core.unserved_refusal());
    }
    let origin = origin(core, id, head).ok_or_else(Refusal::unknown_session)?;
    let loading = begin_in_time(core, id, head, &origin).await?;
    let loaded = loading.wait_until(|result| *result).await;
    loaded.map_err(|why| match why {
        NotLoaded::Unknown => Refusal::unknown_session(),
        NotLoaded::Store => Refusal::store_away(),
        NotLoaded::Full(full) => Refusal::from(full),
        NotLoaded::TooLarge(full) => Refusal::too_many_records(full),
        NotLoaded::Late if core.resources.is_closing() => Refusal::closing(),
        NotLoaded::Late => Refusal::elsewhere(),
        NotLoaded::Unserved => core.unserved_refusal(),
    })?;
    core.sessions.find(id, principal).ok_or_else(Refusal::elsewhere)
}

/// The source of a session that is not open here.
#[derive(Clone)]
enum Origin {
    /// The record in the store that several nodes share.
    Record,
    /// The id itself.
    Sealed(SealedContent),
}

/// Finds the source of a request's session. `None` if there is none. The seal is checked before joining a load that others wait
/// for, because one of two requests with the same session may have made up its seal.
fn origin(core: &EndpointCore, id: SessionId, head: &Head) -> Option<Origin> {
    if core.resources.config.is_shared() {
        return Some(Origin::Record);
    }
    sealed::value(head).and_then(|value| sealed::open(core, id, value)).map(Origin::Sealed)
}

/// The time that a request waits for a place among the loads. If no load is slow, all sessions of a caller are loaded within
/// it.
const PLACE_TIMEOUT: Duration = Duration::from_secs(10);

/// Begins to load a session once a place is free, or joins the load that has begun. Refuses if no place is free in time.
async fn begin_in_time(
    core: &Arc<EndpointCore>,
    id: SessionId,
    head: &Arc<Head>,
    origin: &Origin,
) -> Result<LoadResult, Refusal> {
    let Loads { open, places, waiting } = &core.resources.nodes.loads;
    let key = (id, head.extensions().get::<Principal>().cloned());
    let begun = open.lock().get(&key).cloned();
    if let Some(loading) = begun {
        return Ok(loading);
    }
    let caller = head.caller();
    if let Some(place) = places.try_take(&caller) {
        return Ok(begin(core, key, head, origin, place));
    }
    let busy =
        |what: &str, limit, setter| Refusal::busy(StatusCode::SERVICE_UNAVAILABLE, what, limit, setter);
    let _waiting = waiting.reserve(&caller, 1).map_err(|full| {
        let (what, setter) = if full.is_callers {
            ("requests of this caller", "caller_session_limit")
        } else {
            ("requests", "session_limit")
        };
        busy(&format!("{what} that wait for their sessions to be loaded"), full.limit, setter)
    })?;
    match tokio::time::timeout(PLACE_TIMEOUT, places.take(&caller)).await {
        Ok(Some(place)) => Ok(begin(core, key, head, origin, place)),
        _ => Err(busy("sessions that are being loaded", places.limit, "load_limit")),
    }
}

/// Begins to load a session, unless that has begun.
fn begin(
    core: &Arc<EndpointCore>,
    key: Key,
    head: &Arc<Head>,
    origin: &Origin,
    place: LoadPlace,
) -> LoadResult {
    let loading = match core.resources.nodes.loads.open.lock().entry(key.clone()) {
        Entry::Occupied(loading) => return loading.get().clone(),
        Entry::Vacant(entry) => entry.insert(Arc::new(Monitor::new(None))).clone(),
    };
    let entry = LoadEntry { core: core.clone(), key, loading: loading.clone(), _place: place };
    let (head, origin) = (head.clone(), origin.clone());
    core.resources.spawn(async move {
        let result = load(&entry.core, entry.key.clone(), &head, origin).await;
        entry.loading.with(|loading| *loading = Some(result));
    });
    loading
}

/// The entry of a load. Dropping it without a result, because the load has panicked or the endpoint has ended, refuses the
/// waiting requests.
struct LoadEntry {
    core: Arc<EndpointCore>,
    key: Key,
    loading: LoadResult,
    _place: LoadPlace,
}

impl Drop for LoadEntry {
    fn drop(&mut self) {
        let removed = self.core.resources.nodes.loads.open.lock().remove(&self.key);
        drop(removed);
        self.loading.update(|result| {
            result.get_or_insert(Err(NotLoaded::Store));
        });
    }
}

async fn load(
    core: &Arc<EndpointCore>,
    (id, principal): Key,
    head: &Arc<Head>,
    origin: Origin,
) -> Result<(), NotLoaded> {
    let resources = &core.resources;
    if core.sessions.get(id).is_some() {
        // An earlier load has ended since the caller looked.
        return Ok(());
    }
    let record = match &origin {
        Origin::Record => load_record(resources, id).await?,
        Origin::Sealed(content) => sealed::record(content),
    };
    if record.principal != principal_digest(principal.as_ref()) {
        // Another principal must not change anything of the session, not even its time to live.
        resources.config.warnings.foreign_session(principal.as_ref());
        return Err(NotLoaded::Unknown);
    }
    let (caller, messages) = (head.caller(), record.messages.clone());
    let session = Session::restored(id, principal, caller.clone(), resources.now());
    let session = with_peers(resources, session, record, &origin).await?;
    let session = Arc::new(session);
    prepare(resources, &session).await?;
    let head = Arc::new(head.copied());
    // Happens before other requests find the session, so its service gets these messages first.
    for message in &messages {
        feed(&session, message, Some(&head));
    }
    core.sessions.add(&session, &caller).map_err(NotLoaded::Full)?;
    // Another node may have stored `initialized` since the record was read. Its message has found no session here.
    session.shared().into_iter().for_each(SharedSession::compare_readiness);
    // From here on the session ends with the connection, also if this future is dropped.
    let connection = Connection::new(resources.clone(), core.sessions.clone(), session.clone(), head);
    core.sessions.mark_used(&session);
    // From now on a DELETE finds the session. One may have come since the check above.
    if let Origin::Sealed(content) = &origin {
        check_not_ended(resources, (id, &caller), content.expires).await?;
    }
    if !core.offer(connection) {
        return Err(NotLoaded::Unserved);
    }
    let answered = poll_fn(|cx| session.poll_answered(cx));
    let in_time = tokio::time::timeout(resources.config.limits.opening_timeout, answered).await;
    if in_time.is_ok() && session.is_open() {
        return Ok(());
    }
    core.sessions.end(&session);
    // If the service has refused the session, it would refuse it again. If the service has ended, or ends with its node, the
    // client can try again.
    let is_refused = session.is_answered() && !resources.is_closing();
    Err(if is_refused { NotLoaded::Unknown } else { NotLoaded::Late })
}

/// Attaches the record, or the content of the sealed id, to the session.
async fn with_peers(
    resources: &Resources,
    session: Session,
    record: SessionRecord,
    origin: &Origin,
) -> Result<Session, NotLoaded> {
    let (id, caller, now) = (session.id(), session.caller(), resources.now());
    match origin {
        Origin::Record => {
            let reserved = resources.nodes.records.reserve(caller, record_size(&record));
            let reserved = reserved.map_err(NotLoaded::TooLarge)?;
            Ok(session.sharing(record, reserved, (now, false)))
        }
        Origin::Sealed(content) => {
            // Happens before other requests find the session, so they get its end.
            check_not_ended(resources, (id, caller), content.expires).await?;
            let streams = sealed::first_stream().ok_or(NotLoaded::Store)?;
            Ok(session.unsealed(content.expires, streams, now))
        }
    }
}

/// Refuses a session with a sealed id that has ended. Fails if the store does not answer in time.
async fn check_not_ended(
    resources: &Resources,
    (id, caller): (SessionId, &Caller),
    expires: Duration,
) -> Result<(), NotLoaded> {
    let Some(sealed) = &resources.config.sealed else { return Ok(()) };
    let owner = caller.name();
    let has_ended = sealed.has_ended(id, owner.as_deref(), expires);
    match tokio::time::timeout(resources.config.limits.opening_timeout, has_ended).await {
        Ok(Ok(false)) => Ok(()),
        Ok(Ok(true)) => Err(NotLoaded::Unknown),
        Ok(Err(_)) | Err(_) => Err(NotLoaded::Store),
    }
}

/// Reads the record of a session from the store that several nodes share.
async fn load_record(resources: &Resources, id: SessionId) -> Result<SessionRecord, NotLoaded> {
    let Some(node) = resources.config.shared_node() else { return Err(NotLoaded::Unknown) };
    let records = &node.stores().records;
    if node.has_ended(id) {
        // The store may have lost the deletion in a failover.
        if let Ok(true) = records.delete(id).await {
            node.end_session(id).await;
        }
        return Err(NotLoaded::Unknown);
    }
    let loaded = records.load(id).await.inspect_err(|error| resources.config.warnings.store(error));
    loaded.map_err(|_| NotLoaded::Store)?.ok_or(NotLoaded::Unknown)
}

/// Restarts the time to live of a session's record, notes in a record of version 0 that the session is used, and takes numbers
/// for streams.
async fn prepare(resources: &Resources, session: &Session) -> Result<(), NotLoaded> {
    let Some((node, shared)) = resources.config.shared_node().zip(session.shared()) else { return Ok(()) };
    let (id, records) = (session.id(), &node.stores().records);
    let record = shared.record();
    let used = async { if record.version > 0 { Ok(false) } else { records.update(id, record).await } };
    let touched = records.touch(id, resources.config.idle);
    let numbers = records.take_streams(id, shared.numbers_to_take());
    let (is_noted, is_there, block) = future::try_join3(used, touched, numbers).await.map_err(|error| {
        resources.config.warnings.store(&error);
        NotLoaded::Store
    })?;
    let block = block.filter(|_| is_there).ok_or(NotLoaded::Unknown)?;
    if is_noted {
        shared.change_record(|record| record.version += 1);
    }
    shared.set_touched(true);
    shared.add_numbers(Some(block));
    Ok(())
}
