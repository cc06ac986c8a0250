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

/// How long a process must run before the count of its crashes restarts.
const CRASH_RESET_TIME: Duration = Duration::from_secs(60);

/// The longest pause before a process is started again.
const MAX_PAUSE: Duration = Duration::from_secs(30);

/// The shortest life of a session, unless it has answered a call, after which an ended session is opened again. Prevents
/// endless reconnection to a server that ends every session at once.
const MIN_SESSION_LIFE: Duration = Duration::from_secs(10);

#[derive(Debug)]
pub(crate) struct Entry {
    /// Its name in the hub. A removed server keeps it, so that no other server gets it.
    pub(crate) name: String,
    /// The name in its configuration.
    wanted: String,
    pub(crate) target: Target,
    pub(crate) state: ServerState,
    pub(crate) server: Option<RemoteServer>,
    /// The number of connections to it so far.
    pub(crate) connections: u64,
    /// When its last session began; `None` before the first.
    pub(crate) since: Option<Instant>,
    /// Whether that session has answered a call.
    pub(crate) answered: Arc<AtomicBool>,
    /// Whether an ended session was already opened again.
    pub(crate) reopened: bool,
    /// The number of restarts of its process: in total, and consecutive ones.
    pub(crate) restarts: (u32, u32),
    /// The tools that it listed last, also when it is dead: calling one of these fails with the reason of its death.
    pub(crate) tools: Vec<Tool>,
    /// Whether a future of the driver runs its connections, or is queued to.
    pub(crate) is_running: bool,
    /// Whether the connection that runs has listed its tools.
    pub(crate) is_established: bool,
    /// The reason to end the running connection, once it has one.
    pub(crate) stop: Option<Stop>,
    pub(crate) is_removed: bool,
}

/// Why a connection is ended while the hub goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stop {
    /// The server is removed.
    End,
    /// Another connection follows.
    Again,
}

impl Entry {
    /// Creates the entry of a server that the driver will connect to.
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
            reopened: false,
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

    /// Whether this entry is of a removed server with the same name and address.
    pub(crate) fn is_removed_entry_of(&self, config: &ServerConfig) -> bool {
        self.is_removed && self.wanted == config.name && self.target.key() == config.target.key()
    }

    /// Marks the server as connecting. Returns whether the driver must start it.
    pub(crate) fn begin(&mut self) -> bool {
        self.state = ServerState::Connecting;
        self.server = None;
        self.reopened = false;
        self.restarts.1 = 0;
        self.stop = self.is_running.then_some(Stop::Again);
        !std::mem::replace(&mut self.is_running, true)
    }

    /// Adds the removed server again. Returns whether the driver must start it.
    pub(crate) fn revive(&mut self, config: ServerConfig) -> bool {
        // Headers and environment may have changed.
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

    /// Marks a server that has ended its session as connecting, if the session may be opened again. Returns whether it may.
    pub(crate) fn reopen(&mut self, now: Instant) -> bool {
        let lived = |since| now.saturating_duration_since(since) >= MIN_SESSION_LIFE;
        let was_used = self.answered.load(Ordering::Relaxed) || self.since.is_some_and(lived);
        let is_first = self.since.is_some() && !self.reopened;
        let begins = self.stop.is_none() && !self.is_connecting() && (was_used || is_first);
        if begins {
            self.reopened = true;
            (self.server, self.is_established) = (None, false);
            self.state = ServerState::Connecting;
        }
        begins
    }

    /// Returns the pause before its crashed process is started again, and marks the server as restarting. `None` if it is not
    /// started again.
    pub(crate) fn restarts(
        &mut self,
        now: Instant,
        config: &HubConfig,
        reason: &Arc<dyn Error + Send + Sync>,
    ) -> Option<Duration> {
        // A process that never became callable is probably not an MCP server; a restart would not change that.
        let since = self.since?;
        if self.stop.is_some() {
            return None;
        }
        let ran = if self.is_connecting() { Duration::ZERO } else { now.saturating_duration_since(since) };
        let longest = MAX_PAUSE.max(config.restart_pause);
        let backoff =
            Backoff::new(config.restarts).pauses(config.restart_pause, longest).reset_after(CRASH_RESET_TIME);
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

    /// Whether it has listed its tools, or has failed.
    pub(crate) fn has_settled(&self) -> bool {
        self.since.is_some() || self.is_over()
    }

    pub(crate) fn is_over(&self) -> bool {
        !self.is_connecting() && !self.state.is_connected()
    }
}
