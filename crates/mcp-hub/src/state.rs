//! What the handles and the driver share.

use std::collections::HashSet;
use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use agentwire_mcp_client::RemoteServer;
use agentwire_mcp_schema::Tool;
use agentwire_peer::Backoff;
use agentwire_sync::Monitor;

use crate::change::Subscribers;
use crate::config::HubConfig;
use crate::error::HubError;
use crate::names::{HubTool, Names};
use crate::status::{ServerState, ServerStatus};

/// How long a process must have run before its crashes are counted anew.
const LONG: Duration = Duration::from_secs(60);

/// The longest pause before a process is started again.
const MAX_PAUSE: Duration = Duration::from_secs(30);

/// How long a session must have lived, or else answered a call, before it is begun again when the server has ended
/// it: a server that ends every session at once is not asked for ever.
const WHILE: Duration = Duration::from_secs(10);

#[derive(Debug)]
pub(crate) struct Shared(Monitor<State>);

#[derive(Debug)]
struct State {
    servers: Vec<Entry>,
    names: Names,
    closing: bool,
    /// How often something has changed.
    changes: u64,
}

#[derive(Debug)]
struct Entry {
    name: String,
    state: ServerState,
    server: Option<RemoteServer>,
    /// How many connections to it there were.
    connections: u64,
    /// Who listens to its sessions.
    subscribers: Subscribers,
    /// When its session began, if one ever did.
    since: Option<Instant>,
    /// Whether that has answered a call.
    answered: Arc<AtomicBool>,
    /// Whether a session was begun again at once already.
    begun_again: bool,
    /// How often its process was started again, ever and in a row.
    restarts: (u32, u32),
    /// What it listed last, also when it is dead: calling one of these fails with the reason of its death.
    tools: Vec<Tool>,
}

/// A server that can be called.
#[derive(Clone, Debug)]
pub(crate) struct Callable {
    pub(crate) server: RemoteServer,
    /// To be set when it has answered.
    pub(crate) answered: Arc<AtomicBool>,
}

impl Shared {
    pub(crate) fn new(names: Vec<String>, short_name_limit: usize) -> Self {
        let servers = names.iter().cloned().map(Entry::new).collect();
        let names = Names::new(names, short_name_limit);
        Self(Monitor::new(State { servers, names, closing: false, changes: 0 }))
    }

    pub(crate) fn connected(&self, place: usize, server: RemoteServer, tools: Vec<Tool>, now: Instant) {
        self.change(|state| {
            let entry = &mut state.servers[place];
            entry.server = Some(server);
            entry.connections += 1;
            entry.state = ServerState::Connected;
            entry.since = Some(now);
            entry.answered = Arc::default();
            state.set_tools(place, tools);
        });
    }

    /// Whether a server that has ended its session shall be connected to anew, which then begins.
    pub(crate) fn begins_again(&self, place: usize, now: Instant) -> bool {
        self.change(|state| {
            let closing = state.closing;
            let entry = &mut state.servers[place];
            let lived = |since| now.saturating_duration_since(since) >= WHILE;
            let was_used = entry.answered.load(Ordering::Relaxed) || entry.since.is_some_and(lived);
            let is_first = entry.since.is_some() && !entry.begun_again;
            let begins = !closing && !entry.is_connecting() && (was_used || is_first);
            if begins {
                entry.begun_again = true;
                entry.server = None;
                entry.state = ServerState::Connecting;
            }
            begins
        })
    }

    /// Whether a process that has crashed shall be started again, and after which pause. It is no longer callable then.
    pub(crate) fn restarts(
        &self,
        place: usize,
        now: Instant,
        config: &HubConfig,
        reason: &Arc<dyn Error + Send + Sync>,
    ) -> Option<Duration> {
        self.change(|state| {
            let closing = state.closing;
            let entry = &mut state.servers[place];
            // One that could never be called is not what it is taken for; another try would not change that.
            let since = entry.since?;
            let ran =
                if entry.is_connecting() { Duration::ZERO } else { now.saturating_duration_since(since) };
            let longest = MAX_PAUSE.max(config.restart_pause);
            let backoff =
                Backoff::new(config.restarts).pauses(config.restart_pause, longest).reset_after(LONG);
            if closing {
                return None;
            }
            let (ever, in_a_row) = &mut entry.restarts;
            let pause = backoff.after_failure(in_a_row, ran)?;
            *ever += 1;
            entry.server = None;
            entry.state = ServerState::Restarting(reason.clone());
            Some(pause)
        })
    }

    pub(crate) fn tools_changed(&self, place: usize, tools: Vec<Tool>) {
        // A server that tells of changes without any wakes nobody.
        if self.0.with(|state| state.servers[place].tools != tools) {
            self.change(|state| state.set_tools(place, tools));
        }
    }

    /// A connection is over: by an error, or because we closed it.
    pub(crate) fn ended(&self, place: usize, outcome: Result<(), Arc<dyn Error + Send + Sync>>) {
        self.change(|state| {
            let entry = &mut state.servers[place];
            entry.server = None;
            entry.state = match outcome {
                _ if state.closing => ServerState::Closed,
                Ok(()) => ServerState::Closed,
                Err(reason) if entry.since.is_some() => ServerState::Died(reason),
                Err(reason) => ServerState::Failed(reason),
            };
        });
    }

    pub(crate) fn close(&self) {
        self.change(|state| state.closing = true);
    }

    /// The driver is gone, and every server with it.
    pub(crate) fn over(&self) {
        self.change(|state| {
            state.closing = true;
            for entry in &mut state.servers {
                entry.server = None;
                if !matches!(entry.state, ServerState::Failed(_) | ServerState::Died(_)) {
                    entry.state = ServerState::Closed;
                }
            }
        });
    }

    pub(crate) fn status(&self) -> Vec<ServerStatus> {
        let status = |entry: &Entry| ServerStatus {
            name: entry.name.clone(),
            state: entry.state.clone(),
            restarts: entry.restarts.0,
        };
        self.0.with(|state| state.servers.iter().map(status).collect())
    }

    pub(crate) fn server(&self, name: &str) -> Option<RemoteServer> {
        self.0.with(|state| state.servers.iter().find(|entry| entry.name == name)?.server.clone())
    }

    /// Where a server of that name is.
    pub(crate) fn place(&self, name: &str) -> Option<usize> {
        self.0.with(|state| state.servers.iter().position(|entry| entry.name == name))
    }

    pub(crate) fn name(&self, place: usize) -> String {
        self.0.with(|state| state.servers[place].name.clone())
    }

    /// Who listens to the sessions with a server.
    pub(crate) fn subscribers(&self, place: usize) -> Subscribers {
        self.0.with(|state| state.servers[place].subscribers.clone())
    }

    /// The server, where that is still this connection to it.
    pub(crate) fn connected_as(&self, place: usize, connection: u64) -> Option<RemoteServer> {
        self.0.with(|state| {
            let entry = &state.servers[place];
            entry.server.clone().filter(|_| entry.connections == connection)
        })
    }

    /// The tools that can be called.
    pub(crate) fn tools(&self) -> Vec<HubTool> {
        self.0.with(|state| {
            let callable = state.servers.iter().enumerate().filter(|(_, entry)| entry.server.is_some());
            let tools = callable.flat_map(|(place, entry)| entry.tools.iter().map(move |tool| (place, tool)));
            tools.map(|(place, tool)| state.tool(place, tool)).collect()
        })
    }

    /// The tool of that name, if its server lists it.
    pub(crate) fn find(&self, name: &str) -> Option<HubTool> {
        self.0.with(|state| {
            let (place, tool) = state.names.find(name)?;
            let tool = state.servers[place].tools.iter().find(|listed| listed.name == tool)?;
            Some(state.tool(place, tool))
        })
    }

    /// The server of a tool, if that is still listed as it was then.
    pub(crate) fn callable(&self, tool: &HubTool) -> Result<Callable, HubError> {
        self.0.with(|state| {
            let entry = state.servers.iter().find(|entry| entry.name == tool.server);
            let entry = entry.ok_or_else(|| HubError::NoSuchServer { name: tool.server.clone() })?;
            if !entry.tools.contains(&tool.tool) {
                let (server, tool) = (tool.server.clone(), tool.tool.name.clone());
                return Err(HubError::ToolChanged { server, tool });
            }
            let callable = |server| Callable { server, answered: entry.answered.clone() };
            let unavailable =
                || HubError::Unavailable { server: entry.name.clone(), state: entry.state.clone() };
            entry.server.clone().map(callable).ok_or_else(unavailable)
        })
    }

    pub(crate) fn is_connecting(&self, place: usize) -> bool {
        self.0.with(|state| state.servers[place].is_connecting())
    }

    pub(crate) async fn until_settled(&self) {
        let is_awaited = |entry: &Entry| matches!(entry.state, ServerState::Connecting);
        self.until(|state| !state.servers.iter().any(is_awaited)).await;
    }

    /// Waits until there is a connection to a server which is at least that one. How the server is if there will be none.
    pub(crate) async fn until_callable(
        &self,
        place: usize,
        connection: u64,
    ) -> Result<(u64, RemoteServer), ServerState> {
        let callable = |state: &mut State| {
            let entry = &state.servers[place];
            match &entry.server {
                Some(server) if entry.connections >= connection => {
                    Some(Ok((entry.connections, server.clone())))
                }
                _ => entry.is_over().then(|| Err(entry.state.clone())),
            }
        };
        self.0.wait_until(callable).await
    }

    pub(crate) async fn until_closing(&self) {
        self.until(|state| state.closing).await;
    }

    /// Waits until the hub closes while a server is not connected yet.
    pub(crate) async fn until_abandoned(&self, place: usize) {
        self.until(|state| state.closing && state.servers[place].is_connecting()).await;
    }

    pub(crate) async fn until_ended(&self) {
        self.until(|state| state.servers.iter().all(Entry::is_over)).await;
    }

    /// Waits until there have been other than so many changes, and tells how many.
    pub(crate) async fn until_changed(&self, seen: u64) -> u64 {
        self.0.wait_until(|state| (state.changes != seen).then_some(state.changes)).await
    }

    async fn until(&self, condition: impl Fn(&State) -> bool) {
        self.0.wait_until(|state| condition(state).then_some(())).await;
    }

    /// Changes something. Names settle with it.
    fn change<R>(&self, change: impl FnOnce(&mut State) -> R) -> R {
        self.0.update(|state| {
            let result = change(state);
            state.settle_names();
            state.changes += 1;
            result
        })
    }
}

impl State {
    fn set_tools(&mut self, place: usize, tools: Vec<Tool>) {
        let mut listed = HashSet::new();
        // A second tool of the same name could not be called on its server either.
        let is_first: Vec<_> = tools.iter().map(|tool| listed.insert(&*tool.name)).collect();
        let mut is_first = is_first.into_iter();
        let mut tools = tools;
        tools.retain(|_| is_first.next().unwrap_or_default());
        tools.iter().for_each(|tool| self.names.note(place, &tool.name));
        self.servers[place].tools = tools;
    }

    /// Gives short names, once, as soon as every server has told its tools or failed.
    fn settle_names(&mut self) {
        if !self.names.is_settled() && self.servers.iter().all(Entry::has_settled) {
            let servers = self.servers.iter().enumerate();
            let listed =
                servers.flat_map(|(place, entry)| entry.tools.iter().map(move |tool| (place, &*tool.name)));
            self.names.settle(listed);
        }
    }

    fn tool(&self, place: usize, tool: &Tool) -> HubTool {
        let (name, server) = (self.names.name(place, &tool.name), self.servers[place].name.clone());
        HubTool { name, server, tool: tool.clone() }
    }
}

impl Entry {
    fn new(name: String) -> Self {
        Self {
            name,
            state: ServerState::Connecting,
            server: None,
            connections: 0,
            subscribers: Subscribers::default(),
            since: None,
            answered: Arc::default(),
            begun_again: false,
            restarts: (0, 0),
            tools: Vec::new(),
        }
    }

    fn is_connecting(&self) -> bool {
        matches!(self.state, ServerState::Connecting | ServerState::Restarting(_))
    }

    /// Whether it has ever told its tools, or never will.
    fn has_settled(&self) -> bool {
        self.since.is_some() || self.is_over()
    }

    fn is_over(&self) -> bool {
        !self.is_connecting() && !self.state.is_connected()
    }
}
