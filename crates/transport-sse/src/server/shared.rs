use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::Waker;

use futures::future::BoxFuture;

use crate::server::session::{Session, SessionId};
use crate::server::{Config, Link};

/// What an endpoint, its links and its responses share.
pub(crate) struct Shared {
    pub(crate) config: Config,
    closing: AtomicBool,
    sessions: Mutex<HashMap<SessionId, Arc<Session>>>,
    attendance: Attendance,
}

/// Who serves the links.
pub(crate) enum Attendance {
    /// Whoever takes them.
    Backlog(Mutex<Backlog>),
    /// A function, whose future belongs to the response that the client reads.
    Inline(Handler),
}

pub(crate) type Handler = Box<dyn Fn(Link) -> BoxFuture<'static, ()> + Send + Sync>;

/// Links that nobody has taken yet.
#[derive(Default)]
pub(crate) struct Backlog {
    pub(crate) links: VecDeque<Link>,
    pub(crate) waker: Option<Waker>,
    /// No more will come, or nobody will take them.
    pub(crate) closed: bool,
}

/// Why there is no new session.
pub(crate) enum Full {
    /// There are as many as there may be.
    TooMany(usize),
    /// No more are taken.
    Closing,
}

impl Shared {
    pub(crate) fn new(config: Config, attendance: Attendance) -> Self {
        Self { config, closing: AtomicBool::new(false), sessions: Mutex::default(), attendance }
    }

    pub(crate) fn is_closing(&self) -> bool {
        self.closing.load(Ordering::Relaxed)
    }

    pub(crate) fn session(&self, id: SessionId) -> Option<Arc<Session>> {
        lock(&self.sessions).get(&id).cloned()
    }

    /// Adds a session and gives its link to whoever serves it: the future that does, where that is to be polled
    /// with the response.
    pub(crate) fn begin(
        &self,
        session: &Arc<Session>,
        link: Link,
    ) -> Result<Option<BoxFuture<'static, ()>>, Full> {
        {
            let mut sessions = lock(&self.sessions);
            // Looked at under the lock, so that no session slips past `shut`.
            if self.is_closing() {
                return Err(Full::Closing);
            }
            if sessions.len() >= self.config.session_limit {
                return Err(Full::TooMany(self.config.session_limit));
            }
            sessions.insert(session.id(), session.clone());
        }
        match &self.attendance {
            Attendance::Inline(handler) => Ok(Some(handler(link))),
            Attendance::Backlog(backlog) => {
                let mut backlog = lock(backlog);
                if backlog.closed {
                    drop(backlog);
                    // Dropping the link takes the session out again.
                    drop(link);
                    return Err(Full::Closing);
                }
                backlog.links.push_back(link);
                let waker = backlog.waker.take();
                drop(backlog);
                waker.into_iter().for_each(Waker::wake);
                Ok(None)
            }
        }
    }

    /// Nobody finds a session any more.
    pub(crate) fn forget(&self, session: &Session) {
        let mut sessions = lock(&self.sessions);
        sessions.remove(&session.id());
        if sessions.capacity() > 4 * sessions.len() + 64 {
            sessions.shrink_to_fit();
        }
    }

    /// The links that wait; none where they are served as they come.
    pub(crate) fn backlog(&self) -> Option<MutexGuard<'_, Backlog>> {
        match &self.attendance {
            Attendance::Backlog(backlog) => Some(lock(backlog)),
            Attendance::Inline(_) => None,
        }
    }

    /// Takes nothing new, and lets what there is come to its end: every link hears that no more will come.
    pub(crate) fn shut(&self) {
        let sessions = {
            let mut sessions = lock(&self.sessions);
            self.closing.store(true, Ordering::Relaxed);
            std::mem::take(&mut *sessions)
        };
        sessions.into_values().for_each(|session| session.retire());
        if let Some(mut backlog) = self.backlog() {
            backlog.closed = true;
            let waker = backlog.waker.take();
            drop(backlog);
            waker.into_iter().for_each(Waker::wake);
        }
    }
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shared")
            .field("config", &self.config)
            .field("sessions", &lock(&self.sessions).len())
            .finish_non_exhaustive()
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().expect("no panic while it was held")
}
