//! Opens a session of another node: loads its record, and gives the messages in it to a service of this node.

use std::collections::hash_map::Entry;
use std::future::poll_fn;
use std::sync::Arc;

use agentwire_store::{SessionId, StoreError};
use agentwire_sync::Monitor;

use crate::server::connection::Connection;
use crate::server::endpoint_core::EndpointCore;
use crate::server::loads::{Key, Loading, NotLoaded};
use crate::server::nodes::change::feed;
use crate::server::nodes::record::principal_digest;
use crate::server::refusal::Refusal;
use crate::server::session::{NUMBERS, Session};
use crate::server::{Head, Principal};

/// Returns the session that a request names, loaded where this node does not have it.
pub(crate) async fn find(
    core: &Arc<EndpointCore>,
    id: SessionId,
    head: &Arc<Head>,
) -> Result<Arc<Session>, Refusal> {
    let principal = head.extensions().get::<Principal>();
    if let Some(session) = core.sessions.get(id) {
        let session = Some(session).filter(|session| session.belongs_to(principal));
        return session.ok_or_else(Refusal::unknown_session);
    }
    if core.resources.is_closing() {
        return Err(Refusal::closing());
    }
    if !core.is_running() {
        return Err(core.unserved_refusal());
    }
    let loading = begin(core, id, head)?;
    let loaded = loading.wait_until(|result| *result).await;
    loaded.map_err(|why| match why {
        NotLoaded::Unknown => Refusal::unknown_session(),
        NotLoaded::Store => Refusal::store(&StoreError::away("the session was not loaded")),
        NotLoaded::Full(full) => Refusal::from(full),
        NotLoaded::Unserved => core.unserved_refusal(),
    })?;
    core.sessions.find(id, principal).ok_or_else(Refusal::elsewhere)
}

/// Begins to load a session, unless that has begun.
fn begin(core: &Arc<EndpointCore>, id: SessionId, head: &Arc<Head>) -> Result<Loading, Refusal> {
    let key = (id, head.extensions().get::<Principal>().cloned());
    let limit = core.resources.config.load_limit;
    let mut loads = core.loads.0.lock();
    let open = loads.len();
    match loads.entry(key.clone()) {
        Entry::Occupied(loading) => Ok(loading.get().clone()),
        Entry::Vacant(_) if open >= limit => {
            Err(Refusal::busy(http::StatusCode::SERVICE_UNAVAILABLE, "sessions that are being loaded", limit))
        }
        Entry::Vacant(place) => {
            let loading = place.insert(Arc::new(Monitor::new(None))).clone();
            drop(loads);
            let entry = LoadEntry { core: core.clone(), key, loading: loading.clone() };
            let head = head.clone();
            core.resources.spawn(async move {
                let result = load(&entry.core, entry.key.0, entry.key.1.clone(), &head).await;
                entry.loading.with(|loading| *loading = Some(result));
            });
            Ok(loading)
        }
    }
}

/// The entry of a load. Without a result, because the load has panicked or the endpoint has ended, those that wait are refused.
struct LoadEntry {
    core: Arc<EndpointCore>,
    key: Key,
    loading: Loading,
}

impl Drop for LoadEntry {
    fn drop(&mut self) {
        let removed = self.core.loads.0.lock().remove(&self.key);
        drop(removed);
        self.loading.update(|result| {
            result.get_or_insert(Err(NotLoaded::Store));
        });
    }
}

async fn load(
    core: &Arc<EndpointCore>,
    id: SessionId,
    principal: Option<Principal>,
    head: &Arc<Head>,
) -> Result<(), NotLoaded> {
    let resources = &core.resources;
    if core.sessions.get(id).is_some() {
        // An earlier load has ended since the caller looked.
        return Ok(());
    }
    let Some(node) = resources.config.shared_node() else { return Err(NotLoaded::Unknown) };
    let records = &node.stores().records;
    let record = records.load(id).await.map_err(|_| NotLoaded::Store)?.ok_or(NotLoaded::Unknown)?;
    if record.principal != principal_digest(principal.as_ref()) {
        return Err(NotLoaded::Unknown);
    }
    let block = records.take_streams(id, NUMBERS).await.map_err(|_| NotLoaded::Store)?;
    let block = block.ok_or(NotLoaded::Unknown)?;
    let (caller, now, messages) = (head.caller(), resources.now(), record.messages.clone());
    let session = Arc::new(Session::restored(id, principal, caller.clone(), record, now));
    if let Some(shared) = session.shared() {
        shared.add_numbers(Some(block));
    }
    core.sessions.add(&session, &caller).map_err(NotLoaded::Full)?;
    core.sessions.mark_used(&session);
    let head = Arc::new(head.kept());
    for message in &messages {
        feed(&session, message, Some(&head));
    }
    let connection = Connection::new(resources.clone(), core.sessions.clone(), session.clone(), head);
    if !core.offer(connection) {
        return Err(NotLoaded::Unserved);
    }
    let answered = poll_fn(|cx| session.poll_answered(cx));
    let in_time = tokio::time::timeout(resources.config.limits.opening_timeout, answered).await;
    if in_time.is_err() || !session.is_open() {
        core.sessions.end(&session);
        return Err(NotLoaded::Unknown);
    }
    Ok(())
}
