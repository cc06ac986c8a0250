//! Stores the open sessions of an HTTP+SSE endpoint with its limits and its quota of request bytes.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use agentwire_store::SessionId;
use agentwire_transport_http::runtime::server::{Drain, Limits, NoSession, Quota, SessionTable};
use agentwire_transport_http::server::Caller;

use crate::server::EndpointConfig;
use crate::server::session::Session;

/// How many sessions one caller may have where the configuration names no number.
const CALLER_SESSIONS: usize = 250;

/// The sessions of an endpoint, with the settings and quotas that they share.
pub(crate) struct Sessions {
    pub(crate) config: EndpointConfig,
    pub(crate) limits: Limits,
    drain: Drain,
    /// How many streams are being read.
    streams: AtomicUsize,
    table: SessionTable<SessionId, Session>,
    /// Bytes of messages that are read or wait.
    pub(crate) requests: Quota,
}

impl Sessions {
    pub(crate) fn new(config: EndpointConfig) -> Self {
        let limits = *config.http.limits();
        let (table, requests) =
            (SessionTable::new(limits.session_quota(CALLER_SESSIONS)), limits.request_quota());
        Self { config, limits, drain: Drain::new(), streams: AtomicUsize::new(0), table, requests }
    }

    pub(crate) fn is_closing(&self) -> bool {
        self.drain.is_closing()
    }

    pub(crate) fn get(&self, id: SessionId) -> Option<Arc<Session>> {
        self.table.get(id)
    }

    /// Notes that the client has sent a message to a session.
    pub(crate) fn mark_used(&self, session: &Session) {
        self.table.mark_used(session.id());
    }

    /// Adds a session, in place of an unused one of its caller where there is no room.
    pub(crate) fn add(&self, session: &Arc<Session>, caller: &Caller) -> Result<(), NoSession> {
        if let Some(replaced) = self.table.insert(session.id(), session.clone(), caller)? {
            replaced.finish();
        }
        Ok(())
    }

    /// Takes a session out of the table.
    pub(crate) fn remove(&self, session: &Session) {
        self.table.remove(session.id());
    }

    /// Counts a stream.
    pub(crate) fn begin_stream(&self) {
        self.streams.fetch_add(1, Ordering::SeqCst);
    }

    /// Removes a stream from the count.
    pub(crate) fn end_stream(&self) {
        self.streams.fetch_sub(1, Ordering::SeqCst);
        self.drain.note_end();
    }

    /// Refuses new clients and requests, and ends the stream of packets of each connection when its requests are answered.
    pub(crate) fn begin_drain(&self) {
        self.drain.close();
        self.table.refuse_more();
        self.table.all().iter().for_each(|session| session.drain());
    }

    /// Waits until every stream has ended, for up to `grace`, and cuts the rest.
    pub(crate) async fn finish(&self, grace: Duration) {
        let is_idle = || self.streams.load(Ordering::SeqCst) == 0;
        let cut = || self.table.all().iter().for_each(|session| session.cut_unanswered());
        self.drain.finish(grace, is_idle, cut).await;
        self.end();
    }

    /// Refuses new requests, and ends the stream of packets of each connection at once.
    pub(crate) fn end(&self) {
        self.drain.close();
        self.table.close().iter().for_each(|session| session.retire());
    }
}

impl fmt::Debug for Sessions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sessions")
            .field("config", &self.config)
            .field("open", &self.table.len())
            .finish_non_exhaustive()
    }
}
