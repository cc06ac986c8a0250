use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};
use std::task::Context;
use std::time::Duration;

use agentwire_sync::Mutex;
use futures::task::AtomicWaker;
use futures_channel::mpsc::UnboundedSender;
use slab::Slab;

use crate::server::link::Link;
use crate::server::outlet::Outlet;
use crate::server::serving::Serving;
use crate::server::session::Session;
use crate::server::{Caller, Config, NoSession, Quota, SessionId, SessionTable};

/// What an endpoint, its links and its responses share.
pub(crate) struct Shared {
    pub(crate) config: Config,
    pub(crate) ticks: Ticks,
    /// What serves the clients.
    pub(crate) serving: Serving,
    /// Counts ticks while there is somebody for whom time matters.
    clock: AtomicU32,
    /// Whether the clock goes, or somebody has been woken who will start it.
    ticking: AtomicBool,
    pub(crate) closing: AtomicBool,
    pub(crate) sessions: SessionTable<SessionId, Session>,
    /// Bytes of requests that are read or unanswered.
    pub(crate) requests: Quota,
    /// Those of their bodies that are read and belong to no session.
    pub(crate) opening: Quota,
    /// Every outlet that has a reader.
    readers: Mutex<Slab<Arc<Outlet>>>,
    /// How many exchanges without a session have not ended.
    exchanges: AtomicUsize,
    /// Those that were not taken yet wait there.
    links: UnboundedSender<Link>,
    /// The task that lets time pass.
    clock_task: AtomicWaker,
}

/// The times of the configuration, in ticks.
#[derive(Debug)]
pub(crate) struct Ticks {
    /// How long one is.
    pub(crate) period: Duration,
    pub(crate) idle: u32,
    pub(crate) opening: u32,
    pub(crate) keep_alive: u32,
    pub(crate) stall: u32,
    pub(crate) hold_up: u32,
    pub(crate) stream_time: Option<u32>,
}

/// There are as many as there may be; the number.
pub(crate) struct TooMany(pub(crate) usize);

impl Shared {
    pub(crate) fn new(config: Config, serving: Serving, links: UnboundedSender<Link>) -> Self {
        let ticks = Ticks {
            period: config.tick(),
            idle: config.ticks(config.idle),
            opening: config.ticks(config.opening_timeout),
            keep_alive: config.ticks(config.keep_alive),
            stall: config.ticks(config.stall),
            hold_up: config.ticks(config.hold_up),
            stream_time: config.stream_time.map(|time| config.ticks(time)),
        };
        let limits = config.limits();
        let (sessions, requests) = (SessionTable::new(limits.session_quota(1000)), limits.request_quota());
        // The longest body has room in it.
        let opening_of_caller = (config.opening_budget / 2).max(config.longest_request());
        let opening = Quota::new(config.opening_budget.max(opening_of_caller), opening_of_caller);
        Self {
            config,
            sessions,
            requests,
            opening,
            ticks,
            serving,
            clock: AtomicU32::new(0),
            ticking: AtomicBool::new(false),
            closing: AtomicBool::new(false),
            readers: Mutex::default(),
            exchanges: AtomicUsize::new(0),
            links,
            clock_task: AtomicWaker::new(),
        }
    }

    pub(crate) fn now(&self) -> u32 {
        self.clock.load(Ordering::Relaxed)
    }

    pub(crate) fn is_closing(&self) -> bool {
        self.closing.load(Ordering::Relaxed)
    }

    pub(crate) fn register(&self, outlet: &Arc<Outlet>) -> usize {
        let registration = self.readers.lock().insert(outlet.clone());
        if self.is_closing() {
            outlet.hurry();
        }
        self.start_clock();
        registration
    }

    pub(crate) fn unregister(&self, registration: usize) {
        let mut readers = self.readers.lock();
        let outlet = readers.try_remove(registration);
        // What a crowd took is given back when it has gone.
        if readers.is_empty() && readers.capacity() > 1024 {
            readers.shrink_to_fit();
        }
        drop(readers);
        drop(outlet);
    }

    pub(crate) fn session(&self, id: SessionId) -> Option<Arc<Session>> {
        self.sessions.get(id)
    }

    /// Adds a session, be it instead of another that is not used.
    pub(crate) fn add_session(&self, session: &Arc<Session>, caller: &Caller) -> Result<(), NoSession> {
        if let Some(replaced) = self.sessions.insert(session.id(), session.clone(), caller)? {
            self.finish_session(&replaced);
        }
        if let Some(store) = &self.config.store {
            store.open(session.id(), caller);
        }
        self.start_clock();
        Ok(())
    }

    /// Ends a session: nobody finds it any more, and its link hears the end.
    pub(crate) fn end_session(&self, session: &Session) {
        match self.sessions.remove(session.id()) {
            Some(known) => self.finish_session(&known),
            None => session.close(),
        }
    }

    /// Ends a session that nobody finds any more.
    fn finish_session(&self, session: &Session) {
        session.close();
        if let Some(store) = &self.config.store {
            store.forget(session.id());
        }
    }

    /// Counts an exchange, unless there are too many.
    pub(crate) fn add_exchange(&self) -> Result<(), TooMany> {
        if self.exchanges.fetch_add(1, Ordering::Relaxed) >= self.config.exchange_limit {
            self.end_exchange();
            return Err(TooMany(self.config.exchange_limit));
        }
        Ok(())
    }

    pub(crate) fn end_exchange(&self) {
        self.exchanges.fetch_sub(1, Ordering::Relaxed);
    }

    /// Gives a link to whoever serves them. Says whether somebody does; if not, the link has ended.
    pub(crate) fn offer(&self, link: Link) -> bool {
        self.links.unbounded_send(link).is_ok()
    }

    /// Takes nothing new, and lets what there is come to its end: every link hears that no more will come.
    pub(crate) fn shut(&self) {
        self.closing.store(true, Ordering::Relaxed);
        for session in self.sessions.close() {
            session.retire();
            if let Some(store) = &self.config.store {
                store.forget(session.id());
            }
        }
        for outlet in self.outlets() {
            outlet.hurry();
        }
        self.links.close_channel();
    }

    /// Whether the clock should go. If not, the task is woken when it should.
    pub(crate) fn is_ticking(&self, cx: &Context<'_>) -> bool {
        self.clock_task.register(cx.waker());
        self.ticking.load(Ordering::SeqCst)
    }

    /// Makes whoever asks for links let time pass.
    fn start_clock(&self) {
        if !self.ticking.swap(true, Ordering::SeqCst) {
            self.clock_task.wake();
        }
    }

    /// Stops the clock if there is nothing for which time matters. Says whether it did.
    pub(crate) fn stop_clock(&self) -> bool {
        self.ticking.store(false, Ordering::SeqCst);
        // Who came before the clock was stopped, found it going.
        let timed = !self.sessions.is_empty() || !self.readers.lock().is_empty();
        self.ticking.fetch_or(timed, Ordering::SeqCst);
        !timed
    }

    /// Lets time go on by one tick. Says whether there is anything for which time matters.
    pub(crate) fn tick(&self) -> bool {
        let now = self.clock.fetch_add(1, Ordering::Relaxed).wrapping_add(1);
        for outlet in self.outlets() {
            outlet.tick(now, self);
        }
        let sessions = self.sessions.all();
        for session in &sessions {
            if session.tick(now, self) {
                self.end_session(session);
            }
        }
        !sessions.is_empty() || !self.readers.lock().is_empty()
    }

    fn outlets(&self) -> Vec<Arc<Outlet>> {
        self.readers.lock().iter().map(|(_, outlet)| outlet.clone()).collect()
    }
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shared")
            .field("config", &self.config)
            .field("sessions", &self.sessions.len())
            .field("streams", &self.readers.lock().len())
            .finish_non_exhaustive()
    }
}
