//! Restarts the time to live of records at each tick, and ends sessions that have ended at another node.

use std::sync::Arc;

use futures::StreamExt;
use futures::stream;

use crate::server::endpoint::endpoint_core::EndpointCore;
use crate::server::nodes::record::change::{refresh, retry_record_ready};
use crate::server::nodes::sealed;
use crate::server::session::Session;

/// The number of records that are checked at the same time.
const AT_ONCE: usize = 64;

/// Restarts the time to live of the records of sessions that were used since the last restart, once in a tenth of that time.
pub(crate) fn tick(core: &Arc<EndpointCore>) {
    if !core.resources.config.is_shared() {
        sealed::tick(core);
        return;
    }
    let sessions = core.sessions.all();
    sessions.iter().for_each(|session| session.note_left(&core.resources));
    let (now, every) = (core.resources.now(), (core.resources.ticks.idle / 10).max(1));
    let is_due = |session: &Arc<Session>| session.is_due(now, every);
    let due: Vec<_> = sessions.into_iter().filter(is_due).map(DueSession).collect();
    if due.is_empty() {
        return;
    }
    let core_of_job = core.clone();
    core.resources.spawn(async move {
        let core = &core_of_job;
        stream::iter(due).for_each_concurrent(AT_ONCE, |due| check_record(core, due)).await;
    });
}

/// A session whose record is being checked. It is not due again before this is dropped, so that a slow store does not get more
/// and more requests.
struct DueSession(Arc<Session>);

impl Drop for DueSession {
    fn drop(&mut self) {
        self.0.shared().iter().for_each(|shared| shared.end_check());
    }
}

async fn check_record(core: &Arc<EndpointCore>, due: DueSession) {
    let session = &due.0;
    let Some((node, shared)) = core.resources.config.shared_node().zip(session.shared()) else { return };
    if shared.is_stale() {
        refresh(&core.sessions, session).await;
    }
    retry_record_ready(&core.sessions, session).await;
    match node.stores().records.touch(session.id(), core.resources.config.idle).await {
        Ok(true) => shared.set_touched(true),
        Ok(false) => {
            core.sessions.end(session);
            core.sessions.forget(session.id());
            node.note_end(session.id());
        }
        Err(_) => shared.set_touched(false),
    }
}
