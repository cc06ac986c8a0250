//! The state that the handles and the driver share.

use std::collections::VecDeque;
use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use agentwire_jsonrpc::nearest;
use agentwire_mcp_client::RemoteServer;
use agentwire_mcp_schema::Tool;
use agentwire_sync::Monitor;

use crate::config::{HubConfig, ServerConfig};
use crate::entry::{Entry, Stop};
use crate::error::HubError;
use crate::names::{HubTool, Names, server_names};
use crate::status::{ServerState, ServerStatus};

#[derive(Debug)]
pub(crate) struct Shared(Monitor<State>);

#[derive(Debug)]
struct State {
    servers: Vec<Entry>,
    names: Names,
    /// The servers that the driver has to start.
    starting: VecDeque<usize>,
    /// How many servers there may be, removed ones included.
    server_limit: usize,
    closing: bool,
    /// The number of changes so far.
    changes: u64,
}

/// A server that can be called.
#[derive(Clone, Debug)]
pub(crate) struct Callable {
    pub(crate) server: RemoteServer,
    /// The place of the server in the hub, and the number of this connection to it.
    pub(crate) connection: (usize, u64),
    /// Set once the server has answered a call.
    pub(crate) answered: Arc<AtomicBool>,
}

impl Shared {
    pub(crate) fn new(servers: Vec<ServerConfig>, config: &HubConfig) -> Self {
        let names = server_names(servers.iter().map(|server| &*server.name));
        let entries = names.iter().cloned().zip(servers).map(|(name, server)| Entry::new(name, server));
        let servers: Vec<_> = entries.collect();
        Self(Monitor::new(State {
            starting: (0..servers.len()).collect(),
            servers,
            names: Names::new(names, config.short_name_limit),
            server_limit: config.server_limit,
            closing: false,
            changes: 0,
        }))
    }

    /// Adds a server, and returns its name.
    pub(crate) fn add(&self, server: ServerConfig) -> Result<String, HubError> {
        self.change(|state| {
            if state.closing {
                return Err(HubError::Closed);
            }
            let known = state.servers.iter().position(|entry| entry.is_removed_entry_of(&server));
            let place = known.unwrap_or(state.servers.len());
            let begins = match known {
                Some(place) => state.servers[place].revive(server),
                None if state.servers.len() >= state.server_limit => {
                    return Err(HubError::TooManyServers { limit: state.server_limit });
                }
                None => {
                    let name = state.names.add_server(&server.name);
                    state.servers.push(Entry::new(name, server));
                    true
                }
            };
            state.starting.extend(begins.then_some(place));
            Ok(state.servers[place].name.clone())
        })
    }

    /// Removes a server. The driver ends its connection.
    pub(crate) fn remove(&self, name: &str) -> Result<(), HubError> {
        self.change(|state| {
            let place = state.place_of(name)?;
            state.servers[place].remove();
            Ok(())
        })
    }

    /// Ends the connection to a server, if there is one, and begins another.
    pub(crate) fn reconnect(&self, name: &str) -> Result<(), HubError> {
        self.change(|state| {
            let place = state.place_of(name)?;
            if state.closing {
                return Err(HubError::Closed);
            }
            let begins = state.servers[place].begin();
            state.starting.extend(begins.then_some(place));
            Ok(())
        })
    }

    /// Waits for a server that the driver has to start. `None` when the hub is closing.
    pub(crate) async fn next_start(&self) -> Option<usize> {
        let next = |state: &mut State| match state.starting.pop_front() {
            None => state.closing.then_some(None),
            place => Some(place),
        };
        self.0.wait_until(next).await
    }

    /// The name and address of a server.
    pub(crate) fn config(&self, place: usize) -> ServerConfig {
        self.0.with(|state| {
            let entry = &state.servers[place];
            ServerConfig::new(&*entry.name, entry.target.clone())
        })
    }

    pub(crate) fn connected(&self, place: usize, server: RemoteServer, tools: Vec<Tool>, now: Instant) {
        self.change(|state| {
            let entry = &mut state.servers[place];
            entry.is_established = true;
            if entry.stop.is_some() {
                return;
            }
            entry.server = Some(server);
            entry.connections += 1;
            entry.state = ServerState::Connected;
            entry.since = Some(now);
            entry.answered = Arc::default();
            let tools = state.names.first_of_each(place, tools);
            state.set_tools(place, tools);
        });
    }

    /// Marks a server that has ended its session as connecting, if the session may be opened again. Returns whether it may.
    pub(crate) fn reopen(&self, place: usize, now: Instant) -> bool {
        self.change(|state| !state.closing && state.servers[place].reopen(now))
    }

    /// Returns the pause before a crashed process is started again, and marks the server as restarting. `None` if it is not
    /// started again.
    pub(crate) fn restarts(
        &self,
        place: usize,
        now: Instant,
        config: &HubConfig,
        reason: &Arc<dyn Error + Send + Sync>,
    ) -> Option<Duration> {
        self.change(|state| match state.closing {
            true => None,
            false => state.servers[place].restarts(now, config, reason),
        })
    }

    pub(crate) fn tools_changed(&self, place: usize, tools: Vec<Tool>) {
        let tools = self.0.with(|state| state.names.first_of_each(place, tools));
        // A reported change that changes nothing wakes no task.
        let is_new = |entry: &Entry| entry.stop.is_none() && entry.tools != tools;
        if self.0.with(|state| is_new(&state.servers[place])) {
            self.change(|state| state.set_tools(place, tools));
        }
    }

    /// Records the end of a connection, by an error or because the hub closed it. Returns whether another one follows.
    pub(crate) fn ended(&self, place: usize, outcome: Result<(), Arc<dyn Error + Send + Sync>>) -> bool {
        self.change(|state| {
            let entry = &mut state.servers[place];
            (entry.server, entry.is_established) = (None, false);
            let stop = entry.stop.take();
            entry.is_running = stop == Some(Stop::Again) && !state.closing;
            entry.state = match outcome {
                _ if entry.is_running => ServerState::Connecting,
                _ if state.closing || stop.is_some() => ServerState::Closed,
                Ok(()) => ServerState::Closed,
                Err(reason) if entry.since.is_some() => ServerState::Died(reason),
                Err(reason) => ServerState::Failed(reason),
            };
            entry.is_running
        })
    }

    pub(crate) fn close(&self) {
        self.change(|state| state.closing = true);
    }

    pub(crate) fn is_closing(&self) -> bool {
        self.0.with(|state| state.closing)
    }

    /// Records that the driver was dropped, and every server with it.
    pub(crate) fn over(&self) {
        self.change(|state| {
            state.closing = true;
            state.starting.clear();
            for entry in &mut state.servers {
                (entry.server, entry.is_running, entry.stop) = (None, false, None);
                if !matches!(entry.state, ServerState::Failed(_) | ServerState::Died(_)) {
                    entry.state = ServerState::Closed;
                }
            }
        });
    }

    pub(crate) fn status(&self) -> Vec<ServerStatus> {
        let is_there = |entry: &&Entry| !entry.is_removed;
        self.0.with(|state| state.servers.iter().filter(is_there).map(Entry::status).collect())
    }

    pub(crate) fn server(&self, name: &str) -> Option<RemoteServer> {
        self.0.with(|state| state.servers[state.place_of(name).ok()?].server.clone())
    }

    /// The place of the server with that name.
    pub(crate) fn place(&self, name: &str) -> Result<usize, HubError> {
        self.0.with(|state| state.place_of(name))
    }

    pub(crate) fn name(&self, place: usize) -> String {
        self.0.with(|state| state.servers[place].name.clone())
    }

    /// The server, if this connection to it is still the current one.
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
            let is_short = tool.len() == name.len();
            let is_meant = |listed: &&Tool| match is_short {
                true => listed.name == tool,
                false => state.names.is_part(place, tool, &listed.name),
            };
            let tool = state.servers[place].tools.iter().find(is_meant)?;
            Some(state.tool(place, tool))
        })
    }

    /// The status of the server that a name refers to, if the server cannot be called.
    pub(crate) fn unavailable(&self, name: &str) -> Option<ServerStatus> {
        self.0.with(|state| state.servers[state.names.find(name)?.0].unavailable())
    }

    /// The server of a tool, if the tool is still listed as it was then.
    pub(crate) fn callable(&self, tool: &HubTool) -> Result<Callable, HubError> {
        self.0.with(|state| {
            let place = state.place_of(&tool.server)?;
            let entry = &state.servers[place];
            if !entry.tools.contains(&tool.tool) {
                let (server, tool) = (tool.server.clone(), tool.tool.name.clone());
                return Err(HubError::ToolChanged { server, tool });
            }
            let connection = (place, entry.connections);
            let callable = |server| Callable { server, connection, answered: entry.answered.clone() };
            let unavailable =
                || HubError::Unavailable { server: entry.name.clone(), state: entry.state.clone() };
            entry.server.clone().map(callable).ok_or_else(unavailable)
        })
    }

    /// The server of a tool on a connection after that one, if the tool is still listed as it was then.
    pub(crate) async fn callable_after(
        &self,
        tool: &HubTool,
        (place, connection): (usize, u64),
    ) -> Result<Callable, HubError> {
        let unavailable = |state| HubError::Unavailable { server: tool.server.clone(), state };
        self.until_callable(place, connection + 1).await.map_err(unavailable)?;
        self.callable(tool)
    }

    pub(crate) fn is_established(&self, place: usize) -> bool {
        self.0.with(|state| state.servers[place].is_established)
    }

    /// Whether the connection to a server must end.
    pub(crate) fn stops(&self, place: usize) -> bool {
        self.0.with(|state| state.stops(place))
    }

    pub(crate) async fn until_settled(&self) {
        let is_awaited = |entry: &Entry| matches!(entry.state, ServerState::Connecting);
        self.until(|state| !state.servers.iter().any(is_awaited)).await;
    }

    /// Waits until a server has a connection with at least that number. Fails with the server's state if none will follow.
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

    /// Waits until the connection to a server must end.
    pub(crate) async fn until_stopping(&self, place: usize) {
        self.until(|state| state.stops(place)).await;
    }

    /// Waits until the connection to a server must end before it is established.
    pub(crate) async fn until_abandoned(&self, place: usize) {
        self.until(|state| state.stops(place) && !state.servers[place].is_established).await;
    }

    pub(crate) async fn until_ended(&self) {
        self.until(State::has_ended).await;
    }

    /// Waits until the number of changes differs from `seen`, and returns it. Returns `None` if the hub is closed and its servers
    /// have ended without another change.
    pub(crate) async fn until_changed(&self, seen: u64) -> Option<u64> {
        let changed = |state: &mut State| match state.changes != seen {
            true => Some(Some(state.changes)),
            false => (state.closing && state.has_ended()).then_some(None),
        };
        self.0.wait_until(changed).await
    }

    async fn until(&self, condition: impl Fn(&State) -> bool) {
        self.0.wait_until(|state| condition(state).then_some(())).await;
    }

    /// Changes the state, assigns short names if they are due, and wakes the waiting tasks.
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
    fn has_ended(&self) -> bool {
        !self.servers.iter().any(|entry| entry.is_running)
    }

    fn place_of(&self, name: &str) -> Result<usize, HubError> {
        let place = self.servers.iter().position(|entry| entry.name == name && !entry.is_removed);
        place.ok_or_else(|| {
            let names = self.servers.iter().filter(|entry| !entry.is_removed).map(|entry| &*entry.name);
            let meant = nearest(name, names).map(str::to_owned);
            HubError::NoSuchServer { name: name.to_owned(), meant }
        })
    }

    fn stops(&self, place: usize) -> bool {
        self.closing || self.servers[place].stop.is_some()
    }

    fn set_tools(&mut self, place: usize, tools: Vec<Tool>) {
        tools.iter().for_each(|tool| self.names.note(place, &tool.name));
        self.servers[place].tools = tools;
    }

    /// Assigns short names, once, as soon as every server has listed its tools or failed.
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
