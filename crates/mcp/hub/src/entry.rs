//! A hub's record of one server.

use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use agentwire_mcp_client::RemoteServer;
use agentwire_mcp_schema::Tool;
use agentwire_sync::Backoff;

use crate::config::{HubConfig, ServerConfig};
use crate::status::{ServerState, ServerStatus};
use crate::target::Target;

/// How long a process must have run before its crashes are counted again.
const LONG: Duration = Duration::from_secs(60);

/// The longest pause before a process is started again.
const MAX_PAUSE: Duration = Duration::from_secs(30);

/// How long a session must have lived, or else answered a call, before it is begun again when the server has ended
/// it: a server that ends every session at once is not asked for ever.
const WHILE: Duration = Duration::from_secs(10);

#[derive(Debug)]
pub(crate) struct Entry {
    /// Its name in the hub. It is kept when the server is removed, so that no other gets it.
    pub(crate) name: String,
    /// The name that its configuration wanted.
    wanted: String,
    pub(crate) target: Target,
    pub(crate) state: ServerState,
    pub(crate) server: Option<RemoteServer>,
    /// How many connections to it there were.
    pub(crate) connections: u64,
    /// When its session began, if one ever did.
    pub(crate) since: Option<Instant>,
    /// Whether that has answered a call.
    pub(crate) answered: Arc<AtomicBool>,
    /// Whether a session was begun again at once already.
    pub(crate) begun_again: bool,
    /// How often its process was started again, ever and in a row.
    pub(crate) restarts: (u32, u32),
    /// The tools that it listed last, also when it is dead: calling one of these fails with the reason of its death.
    pub(crate) tools: Vec<Tool>,
    /// Whether a future of the driver runs its connections, or is to.
    pub(crate) is_running: bool,
    /// Whether the connection that runs has listed its tools.
    pub(crate) is_established: bool,
    /// The reason for which the running connection is to end.
    pub(crate) stop: Option<Stop>,
    pub(crate) is_removed: bool,
}

/// Why a connection is ended while the hub goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stop {
    /// The server is removed.
    End,
    /// There is to be another connection.
    Again,
}

impl Entry {
    /// A server that is to be connected to.
    pub(crate) fn new(name: String, config: ServerConfig) -> Self {
        Self {
            name,
            wanted: config.name,
            target: config.target,
            state: ServerState::Connecting,
            server: None,
            connections: 0,
            since: None,
            answered: Arc::default(),
            begun_again: false,
            restarts: (0, 0),
            tools: Vec::new(),
            is_running: true,
            is_established: false,
            stop: None,
            is_removed: false,
        }
    }

    pub(crate) fn status(&self) -> ServerStatus {
        ServerStatus { name: self.name.clone(), state: self.state.clone(), restarts: self.restarts.0 }
    }

    /// Its status if it cannot be called.
    pub(crate) fn unavailable(&self) -> Option<ServerStatus> {
        (!self.is_removed && self.server.is_none()).then(|| self.status())
    }

    /// Whether this is the entry of a removed server that this one is: its name is the same, and its place.
    pub(crate) fn was(&self, config: &ServerConfig) -> bool {
        self.is_removed && self.wanted == config.name && self.target.key() == config.target.key()
    }

    /// Makes it the entry of a server that is connected to. Returns whether the driver has to begin with it.
    pub(crate) fn begin(&mut self) -> bool {
        self.state = ServerState::Connecting;
        self.server = None;
        self.begun_again = false;
        self.restarts.1 = 0;
        self.stop = self.is_running.then_some(Stop::Again);
        !std::mem::replace(&mut self.is_running, true)
    }

    /// Adds it again after it was removed. Returns whether the driver has to begin with it.
    pub(crate) fn revive(&mut self, config: ServerConfig) -> bool {
        // Headers and environment may be others.
        self.target = config.target;
        self.is_removed = false;
        self.since = None;
        self.restarts = (0, 0);
        self.begin()
    }

    pub(crate) fn remove(&mut self) {
        self.is_removed = true;
        self.server = None;
        self.tools.clear();
        self.state = ServerState::Closed;
        self.stop = self.is_running.then_some(Stop::End);
    }

    /// Whether the server, which has ended its session, shall be reconnected, which then begins.
    pub(crate) fn begins_again(&mut self, now: Instant) -> bool {
        let lived = |since| now.saturating_duration_since(since) >= WHILE;
        let was_used = self.answered.load(Ordering::Relaxed) || self.since.is_some_and(lived);
        let is_first = self.since.is_some() && !self.begun_again;
        let begins = self.stop.is_none() && !self.is_connecting() && (was_used || is_first);
        if begins {
            self.begun_again = true;
            (self.server, self.is_established) = (None, false);
            self.state = ServerState::Connecting;
        }
        begins
    }

    /// Returns the pause before its process, which has crashed, is started again, if it is. It is no longer callable then.
    pub(crate) fn restarts(
        &mut self,
        now: Instant,
        config: &HubConfig,
        reason: &Arc<dyn Error + Send + Sync>,
    ) -> Option<Duration> {
        // One that could never be called is not what it is taken for; another try would not change that.
        let since = self.since?;
        if self.stop.is_some() {
            return None;
        }
        let ran = if self.is_connecting() { Duration::ZERO } else { now.saturating_duration_since(since) };
        let longest = MAX_PAUSE.max(config.restart_pause);
        let backoff = Backoff::new(config.restarts).pauses(config.restart_pause, longest).reset_after(LONG);
        let (ever, in_a_row) = &mut self.restarts;
        let pause = backoff.after_failure(in_a_row, ran)?;
        *ever += 1;
        config.restarted.fetch_add(1, Ordering::Relaxed);
        (self.server, self.is_established) = (None, false);
        self.state = ServerState::Restarting(reason.clone());
        Some(pause)
    }

    pub(crate) fn is_connecting(&self) -> bool {
        matches!(self.state, ServerState::Connecting | ServerState::Restarting(_))
    }

    /// Whether it has ever listed its tools, or never will.
    pub(crate) fn has_settled(&self) -> bool {
        self.since.is_some() || self.is_over()
    }

    pub(crate) fn is_over(&self) -> bool {
        !self.is_connecting() && !self.state.is_connected()
    }
}
