use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};
use std::task::Context;
use std::time::Duration;

use futures::task::AtomicWaker;
use futures_channel::mpsc::UnboundedSender;

use crate::server::connection::Connection;
use crate::server::serving::SharedService;
use crate::server::session::Session;
use crate::server::timed::Timed;
use crate::server::{Caller, Config, NoSession, Quota, SessionId, SessionTable};

/// What an endpoint, its connections and its responses share.
pub(crate) struct Shared {
    pub(crate) config: Config,
    pub(crate) ticks: Ticks,
    /// The service of the clients.
    pub(crate) service: SharedService,
    /// Counts ticks while time matters to a session, a stream or an exchange.
    clock: AtomicU32,
    /// Whether the clock goes, or its task has been woken to start it.
    ticking: AtomicBool,
    pub(crate) closing: AtomicBool,
    pub(crate) sessions: SessionTable<SessionId, Session>,
    /// Bytes of requests that are read or unanswered.
    pub(crate) requests: Quota,
    /// Those of their bodies that are read and belong to no session.
    pub(crate) opening: Quota,
    /// What else waits for time to pass.
    pub(crate) timed: Timed,
    /// How many exchanges without a session have not ended.
    exchanges: AtomicUsize,
    /// Those that were not taken yet wait there.
    connections: UnboundedSender<Connection>,
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
    pub(crate) slow_reader_timeout: u32,
    pub(crate) stream_time: Option<u32>,
}

/// There are as many as there may be; the number.
pub(crate) struct TooMany(pub(crate) usize);

impl Shared {
    pub(crate) fn new(
        config: Config,
        service: SharedService,
        connections: UnboundedSender<Connection>,
    ) -> Self {
        let ticks = Ticks {
            period: config.tick(),
            idle: config.ticks(config.idle),
            opening: config.ticks(config.opening_timeout),
            keep_alive: config.ticks(config.keep_alive),
            stall: config.ticks(config.stall),
            slow_reader_timeout: config.ticks(config.slow_reader_timeout),
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
            service,
            clock: AtomicU32::new(0),
            ticking: AtomicBool::new(false),
            closing: AtomicBool::new(false),
            timed: Timed::default(),
            exchanges: AtomicUsize::new(0),
            connections,
            clock_task: AtomicWaker::new(),
        }
    }

    pub(crate) fn now(&self) -> u32 {
        self.clock.load(Ordering::Relaxed)
    }

    pub(crate) fn is_closing(&self) -> bool {
        self.closing.load(Ordering::Relaxed)
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

    /// Ends a session: it leaves the table, and its connection ends.
    pub(crate) fn end_session(&self, session: &Session) {
        match self.sessions.remove(session.id()) {
            Some(known) => self.finish_session(&known),
            None => session.close(),
        }
    }

    /// Ends a session that has left the table.
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

    /// Gives a connection to the task that serves them. False if there is none; the connection has ended then.
    pub(crate) fn offer(&self, connection: Connection) -> bool {
        self.connections.unbounded_send(connection).is_ok()
    }

    /// Refuses new requests, ends the input of every connection, and wakes what should end soon.
    pub(crate) fn begin_shutdown(&self) {
        self.closing.store(true, Ordering::Relaxed);
        for session in self.sessions.close() {
            session.retire();
            if let Some(store) = &self.config.store {
                store.forget(session.id());
            }
        }
        self.timed.streams().iter().for_each(|stream| stream.begin_shutdown());
        self.timed.wake_exchanges(|_| true);
        self.connections.close_channel();
    }

    /// Whether the clock should go. If not, the task is woken when it should.
    pub(crate) fn is_ticking(&self, cx: &Context<'_>) -> bool {
        self.clock_task.register(cx.waker());
        self.ticking.load(Ordering::SeqCst)
    }

    /// Wakes the task that lets time pass, unless the clock goes.
    pub(crate) fn start_clock(&self) {
        if !self.ticking.swap(true, Ordering::SeqCst) {
            self.clock_task.wake();
        }
    }

    /// Stops the clock if there is nothing for which time matters. Says whether it did.
    pub(crate) fn stop_clock(&self) -> bool {
        self.ticking.store(false, Ordering::SeqCst);
        // Who came before the clock was stopped, found it going.
        let timed = !self.sessions.is_empty() || self.timed.len() > 0;
        self.ticking.fetch_or(timed, Ordering::SeqCst);
        !timed
    }

    /// Lets time go on by one tick. Says whether there is anything for which time matters.
    pub(crate) fn tick(&self) -> bool {
        let now = self.clock.fetch_add(1, Ordering::Relaxed).wrapping_add(1);
        self.timed.streams().iter().for_each(|stream| stream.tick(now, self));
        self.timed.wake_exchanges(|since| now.wrapping_sub(since) >= self.ticks.keep_alive);
        let sessions = self.sessions.all();
        for session in &sessions {
            if session.tick(now, self) {
                self.end_session(session);
            }
        }
        !sessions.is_empty() || self.timed.len() > 0
    }
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shared")
            .field("config", &self.config)
            .field("sessions", &self.sessions.len())
            .field("timed", &self.timed.len())
            .finish_non_exhaustive()
    }
}
