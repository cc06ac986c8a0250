//! Stores the open sessions of an HTTP+SSE endpoint with its limits and its quota of request bytes.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use agentwire_transport_http::runtime::server::{Limits, NoSession, Quota, SessionTable};
use agentwire_transport_http::server::Caller;

use crate::server::EndpointConfig;
use crate::server::session::{Session, SessionId};

/// How many sessions one caller may have where the configuration names no number.
const CALLER_SESSIONS: usize = 250;

/// The sessions of an endpoint, with the settings and budgets that they share.
pub(crate) struct Sessions {
    pub(crate) config: EndpointConfig,
    pub(crate) limits: Limits,
    closing: AtomicBool,
    table: SessionTable<SessionId, Session>,
    /// Bytes of messages that are read or wait.
    pub(crate) requests: Quota,
}

impl Sessions {
    pub(crate) fn new(config: EndpointConfig) -> Self {
        let limits = *config.http.limits();
        let (table, requests) =
            (SessionTable::new(limits.session_quota(CALLER_SESSIONS)), limits.request_quota());
        Self { config, limits, closing: AtomicBool::new(false), table, requests }
    }

    pub(crate) fn is_closing(&self) -> bool {
        self.closing.load(Ordering::Relaxed)
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

    /// Refuses new requests, and ends the stream of packets of each connection.
    pub(crate) fn begin_shutdown(&self) {
        self.closing.store(true, Ordering::Relaxed);
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
