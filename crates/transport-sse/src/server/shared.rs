use std::fmt;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use agentwire_transport::Service;
use agentwire_transport_http::server::{Caller, Limits, NoSession, Quota, SessionTable};
use futures::FutureExt;
use futures::future::BoxFuture;

use crate::server::session::{Session, SessionId};
use crate::server::{Config, Link};

/// What an endpoint, its links and its responses share.
pub(crate) struct Shared {
    pub(crate) config: Config,
    pub(crate) limits: Limits,
    closing: AtomicBool,
    pub(crate) sessions: SessionTable<SessionId, Session>,
    /// Bytes of messages that are read or wait.
    pub(crate) requests: Quota,
    connect: Box<dyn Fn(Link) -> BoxFuture<'static, ()> + Send + Sync>,
}

impl Shared {
    pub(crate) fn new(config: Config, service: impl Service<Link> + Send + Sync + 'static) -> Self {
        let limits = config.limits();
        let (sessions, requests) = (SessionTable::new(limits.session_quota(250)), limits.request_quota());
        // Others share the thread of the future, and perhaps its task, so a panic ends this connection alone.
        let connect = move |link| AssertUnwindSafe(service.connection(link)).catch_unwind().map(drop).boxed();
        let closing = AtomicBool::new(false);
        Self { config, limits, closing, sessions, requests, connect: Box::new(connect) }
    }

    pub(crate) fn is_closing(&self) -> bool {
        self.closing.load(Ordering::Relaxed)
    }

    pub(crate) fn session(&self, id: SessionId) -> Option<Arc<Session>> {
        self.sessions.get(id)
    }

    /// Adds a session. Returns the future that serves its link.
    pub(crate) fn begin(
        &self,
        session: &Arc<Session>,
        caller: &Caller,
        link: Link,
    ) -> Result<BoxFuture<'static, ()>, NoSession> {
        if let Some(replaced) = self.sessions.insert(session.id(), session.clone(), caller)? {
            replaced.finish();
        }
        Ok((self.connect)(link))
    }

    /// Takes a session out of the table.
    pub(crate) fn forget(&self, session: &Session) {
        self.sessions.remove(session.id());
    }

    /// Takes nothing new, and ends the stream of packets of each link.
    pub(crate) fn shut(&self) {
        self.closing.store(true, Ordering::Relaxed);
        self.sessions.close().iter().for_each(|session| session.retire());
    }
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shared")
            .field("config", &self.config)
            .field("sessions", &self.sessions.len())
            .finish_non_exhaustive()
    }
}
