use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use agentwire_transport_http::server::{Caller, NoSession, Quota, SessionTable};
use futures::channel::mpsc::UnboundedSender;
use futures::future::BoxFuture;

use crate::server::session::{Session, SessionId};
use crate::server::{Config, Link};

/// What an endpoint, its links and its responses share.
pub(crate) struct Shared {
    pub(crate) config: Config,
    closing: AtomicBool,
    pub(crate) sessions: SessionTable<SessionId, Session>,
    /// Bytes of messages that are read or wait.
    pub(crate) requests: Quota,
    attendance: Attendance,
}

/// Who serves the links.
pub(crate) enum Attendance {
    /// Whoever takes them from here.
    Links(UnboundedSender<Link>),
    /// A function, whose future belongs to the response that the client reads.
    Inline(Handler),
}

pub(crate) type Handler = Box<dyn Fn(Link) -> BoxFuture<'static, ()> + Send + Sync>;

impl Shared {
    pub(crate) fn new(config: Config, attendance: Attendance) -> Self {
        let limit = config.session_limit;
        let of_caller = config.caller_session_limit.unwrap_or_else(|| Quota::share(limit, 250));
        let sessions = SessionTable::new(Quota::new(limit, of_caller));
        // One message of the longest has room.
        let of_caller = config.caller_request_budget.max(config.body_limit.saturating_add(64 << 10));
        let requests = Quota::new(config.request_budget.max(of_caller), of_caller);
        Self { config, closing: AtomicBool::new(false), sessions, requests, attendance }
    }

    pub(crate) fn is_closing(&self) -> bool {
        self.closing.load(Ordering::Relaxed)
    }

    pub(crate) fn session(&self, id: SessionId) -> Option<Arc<Session>> {
        self.sessions.get(id)
    }

    /// Adds a session and gives its link to whoever serves it: the future that does, where that is to be polled
    /// with the response.
    pub(crate) fn begin(
        &self,
        session: &Arc<Session>,
        caller: &Caller,
        link: Link,
    ) -> Result<Option<BoxFuture<'static, ()>>, NoSession> {
        if let Some(replaced) = self.sessions.insert(session.id(), session.clone(), caller)? {
            replaced.finish();
        }
        match &self.attendance {
            Attendance::Inline(handler) => Ok(Some(handler(link))),
            // Where nobody takes them any more, the link is dropped, which takes the session out again.
            Attendance::Links(links) => {
                links.unbounded_send(link).map(|()| None).map_err(|_| NoSession::Closed)
            }
        }
    }

    /// Nobody finds a session any more.
    pub(crate) fn forget(&self, session: &Session) {
        self.sessions.remove(session.id());
    }

    /// Takes nothing new, and lets what there is come to its end: every link hears that no more will come.
    pub(crate) fn shut(&self) {
        self.closing.store(true, Ordering::Relaxed);
        self.sessions.close().iter().for_each(|session| session.retire());
        if let Attendance::Links(links) = &self.attendance {
            links.close_channel();
        }
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
