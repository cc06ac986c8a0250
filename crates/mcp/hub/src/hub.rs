//! `Hub`: the handle on all MCP servers of one session.

use std::fmt;
use std::pin::pin;
use std::sync::Arc;

use agentwire_jsonrpc::nearest;
use agentwire_mcp_client::RemoteServer;
use agentwire_mcp_schema::SubscriptionFilter;
use futures_util::future::{Either, select};
use serde::Serialize;

use crate::call::ToolCall;
use crate::config::{HubConfig, ServerConfig};
use crate::driver::Driver;
use crate::error::HubError;
use crate::names::HubTool;
use crate::names::selection::Selection;
use crate::server_changes::ServerChanges;
use crate::state::Shared;
use crate::status::ServerStatus;

/// Connects to servers, with the defaults, runs `main`, and closes the servers after it.
///
/// Returns the result of `main`. Dropping the future kills the servers.
pub async fn connect<R>(
    servers: impl IntoIterator<Item = ServerConfig>,
    main: impl AsyncFnOnce(Hub) -> R,
) -> R {
    HubConfig::new().connect(servers, main).await
}

impl HubConfig {
    /// As [`connect`], with these settings.
    ///
    /// ```no_run
    /// use agentwire_mcp_hub::{HubConfig, McpConfig};
    ///
    /// # async fn run() -> Result<(), Box<dyn std::error::Error>> {
    /// let config = HubConfig::new().restarts(10);
    /// let names = config.connect(McpConfig::read(".mcp.json")?, async |hub| {
    ///     hub.tools().await.into_iter().map(|tool| tool.name).collect::<Vec<_>>()
    /// });
    /// println!("{:?}", names.await);
    /// # Ok(())
    /// # }
    /// ```
    pub async fn connect<R>(
        self,
        servers: impl IntoIterator<Item = ServerConfig>,
        main: impl AsyncFnOnce(Hub) -> R,
    ) -> R {
        let (hub, driver) = Hub::with_config(self, servers);
        let mut driver = pin!(driver);
        let main = pin!(async {
            let result = main(hub.clone()).await;
            hub.close().await;
            result
        });
        match select(main, driver.as_mut()).await {
            Either::Left((result, _)) => result,
            // `main` may close the hub itself and go on.
            Either::Right(((), main)) => main.await,
        }
    }
}

/// A handle on all MCP servers of one session. Cloning is cheap.
///
/// ```no_run
/// use agentwire_mcp_hub::{BoxError, Hub, ServerConfig, Target};
///
/// # async fn run(target: Target) {
/// let (hub, driver) = Hub::new([ServerConfig::new("files", target)]);
/// let session = async {
///     match hub.call("read", serde_json::json!({ "path": "notes.txt" })).await {
///         Ok(result) => println!("{}", result.text()),
///         Err(error) => eprintln!("{}", BoxError::from(error)),
///     }
///     hub.close().await;
/// };
/// futures_util::join!(driver, session);
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Hub {
    handle: Arc<Handle>,
    /// The tools of this handle; `None` for all.
    selection: Option<Arc<Selection>>,
}

/// The common part of all handles. Dropping the last handle ends the servers.
#[derive(Debug)]
struct Handle(Arc<Shared>);

impl Hub {
    /// Creates a hub for these servers, with the defaults, and the future that connects to them and runs it.
    pub fn new(servers: impl IntoIterator<Item = ServerConfig>) -> (Self, Driver) {
        Self::with_config(HubConfig::new(), servers)
    }

    /// Creates a hub for these servers, and the future that connects to them and runs it.
    pub fn with_config(config: HubConfig, servers: impl IntoIterator<Item = ServerConfig>) -> (Self, Driver) {
        let shared = Arc::new(Shared::new(servers.into_iter().collect(), &config));
        let driver = Driver::new(shared.clone(), config);
        (Self { handle: Arc::new(Handle(shared)), selection: None }, driver)
    }

    /// Returns a handle that lists and calls only these tools, for example the tools for a model. Names are as in
    /// [`tools`](Self::tools), or `server__tool`, or `server__*` for all tools of a server.
    ///
    /// ```no_run
    /// # use agentwire_mcp_hub::Hub;
    /// # async fn run(hub: Hub) {
    /// let for_model = hub.only(["search", "files__*"]);
    /// for tool in for_model.tools().await {
    ///     println!("{}", tool.name);
    /// }
    /// # }
    /// ```
    ///
    /// A call of another tool fails with [`HubError::NotSelected`]. A tool that a server lists later
    /// belongs to the handle too if it is named. A selection of a selection has the tools that both select.
    /// [`server`](Self::server) returns only servers all of whose tools are selected, because its handle calls any tool.
    /// Everything else is as in the original handle.
    #[must_use]
    pub fn only(&self, names: impl IntoIterator<Item = impl Into<String>>) -> Self {
        let selection = Selection::new(names, self.selection.clone());
        Self { handle: self.handle.clone(), selection: Some(Arc::new(selection)) }
    }

    /// Adds a server while the hub runs, and returns the name that it has in the hub. The driver connects to it;
    /// [`ready`](Self::ready) waits for that.
    ///
    /// ```no_run
    /// # use agentwire_mcp_hub::{Hub, HubError, ServerConfig, Target};
    /// # async fn run(hub: Hub, target: Target) -> Result<(), HubError> {
    /// let name = hub.add(ServerConfig::new("web", target))?;
    /// hub.ready().await;
    /// hub.remove(&name)?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// The name is the configured one, with a number if another server has or had that name. A removed server that is added
    /// again with the same name and address gets its former name, and so do its tools.
    ///
    /// # Errors
    ///
    /// [`HubError::Closed`], and [`HubError::TooManyServers`] over [`HubConfig::server_limit`].
    pub fn add(&self, server: ServerConfig) -> Result<String, HubError> {
        self.shared().add(server)
    }

    /// Removes a server. Its tools disappear at once, running calls fail, and the driver shuts the server down gracefully.
    ///
    /// # Errors
    ///
    /// [`HubError::NoSuchServer`].
    pub fn remove(&self, name: &str) -> Result<(), HubError> {
        self.shared().remove(name)
    }

    /// Connects to a server again, whatever its state: a failed or dead server is tried again, and an open connection is ended
    /// first. Its tools keep their names, and [`listen`](Self::listen) goes on.
    ///
    /// # Errors
    ///
    /// [`HubError::NoSuchServer`], [`HubError::Closed`].
    pub fn reconnect(&self, name: &str) -> Result<(), HubError> {
        self.shared().reconnect(name)
    }

    /// Returns all tools that can be called, once every server has listed its tools or has failed.
    ///
    /// The list is a snapshot: servers may change their lists, and may die. This does not wait for a server that is being
    /// restarted; [`changes`](Self::changes) reports its return.
    pub async fn tools(&self) -> Vec<HubTool> {
        self.ready().await;
        let mut tools = self.shared().tools();
        tools.retain(|tool| self.has(tool));
        tools
    }

    /// Waits until every server is connected or has failed.
    pub async fn ready(&self) {
        self.shared().until_settled().await;
    }

    /// Calls a tool by a name that [`tools`](Self::tools) gave, or as `server__tool`. The arguments are
    /// anything whose JSON is an object, or `()` for none. It does not wait for servers that are still connecting, whose tools
    /// are not known yet: [`ready`](Self::ready) does.
    ///
    /// A name never refers to another tool later, but its server may change the tool. If a person has seen the tool's
    /// description, use [`call_tool`](Self::call_tool).
    pub fn call<A: Serialize>(&self, name: &str, arguments: A) -> ToolCall {
        match self.resolve(name) {
            Ok(tool) => self.call_tool(&tool, arguments),
            Err(error) => ToolCall::failed(error),
        }
    }

    /// Calls a tool that [`tools`](Self::tools) or [`resolve`](Self::resolve) gave, as it was described there. The
    /// arguments are as in [`call`](Self::call).
    ///
    /// Awaiting the call fails with [`HubError::ToolChanged`] if the server has dropped the tool or describes it
    /// differently by then: a person who agreed to the call has not agreed to the changed tool.
    pub fn call_tool<A: Serialize>(&self, tool: &HubTool, arguments: A) -> ToolCall {
        if !self.has(tool) {
            return ToolCall::failed(HubError::NotSelected { name: tool.name.clone() });
        }
        match self.shared().callable(tool) {
            Ok(callable) => {
                let call = callable.server.call_tool(&*tool.tool.name, arguments);
                ToolCall::new(self.handle.0.clone(), tool.clone(), call, callable)
            }
            Err(error) => ToolCall::failed(error),
        }
    }

    /// Returns the tool with that name, from [`tools`](Self::tools) or as `server__tool`, even while its server is down.
    /// Like [`call`](Self::call), this does not wait for servers.
    pub fn tool(&self, name: &str) -> Option<HubTool> {
        self.shared().find(name).filter(|tool| self.has(tool))
    }

    /// As [`tool`](Self::tool), with an error to pass on.
    ///
    /// # Errors
    ///
    /// [`HubError::NoSuchTool`] when no server lists such a tool, [`HubError::Unavailable`] when the name belongs to a server
    /// that cannot be called, and [`HubError::NotSelected`] when this handle does not have the tool.
    pub fn resolve(&self, name: &str) -> Result<HubTool, HubError> {
        match self.shared().find(name) {
            Some(tool) if self.has(&tool) => Ok(tool),
            Some(_) => Err(HubError::NotSelected { name: name.to_owned() }),
            None => {
                if let Some(server) = self.shared().unavailable(name)
                    && self.selection.as_ref().is_none_or(|selection| selection.has_name(&server.name, name))
                {
                    return Err(HubError::Unavailable { server: server.name, state: server.state });
                }
                let tools = self.shared().tools();
                let names = tools.iter().filter(|tool| self.has(tool)).map(|tool| &*tool.name);
                let meant = nearest(name, names).map(str::to_owned);
                Err(HubError::NoSuchTool { name: name.to_owned(), meant })
            }
        }
    }

    /// Returns the state of every server, in the order of the configuration.
    pub fn status(&self) -> Vec<ServerStatus> {
        self.shared().status()
    }

    /// Changes of the servers' states and of the tools, all servers together.
    ///
    /// ```no_run
    /// use agentwire_mcp_hub::Hub;
    ///
    /// async fn watch(hub: Hub) {
    ///     let mut changes = hub.changes();
    ///     while let Some(()) = changes.next().await {
    ///         for server in hub.status() {
    ///             eprintln!("{}: {}", server.name, server.state);
    ///         }
    ///         eprintln!("{} tools", hub.tools().await.len());
    ///     }
    /// }
    /// ```
    pub fn changes(&self) -> HubChanges {
        HubChanges { shared: self.handle.0.clone(), seen: 0 }
    }

    /// Watches one resource of a server, legacy or modern: [`listen`](Self::listen) for that resource alone.
    ///
    /// # Errors
    ///
    /// As [`listen`](Self::listen).
    pub async fn watch(&self, server: &str, uri: impl Into<String>) -> Result<ServerChanges, HubError> {
        self.listen(server, SubscriptionFilter::new().resource_subscriptions([uri])).await
    }

    /// Listens for changes at one server, legacy or modern, across its crashes. After each reconnection the hub subscribes
    /// again, and [`Change::Missed`](crate::Change::Missed) reports that changes may have been missed.
    ///
    /// This waits until the server is connected and has agreed. Since 2026-07-28 the hub sends `subscriptions/listen`. In a
    /// session it sends `resources/subscribe` for each resource; changes of lists are reported in any case.
    ///
    /// # Errors
    ///
    /// When there is no such server, it cannot be connected to, or it refuses.
    pub async fn listen(&self, server: &str, filter: SubscriptionFilter) -> Result<ServerChanges, HubError> {
        let place = self.shared().place(server)?;
        ServerChanges::open(self.handle.0.clone(), place, filter).await
    }

    /// Returns the handle on one server, for features that the hub does not merge; `None` while the server cannot be called.
    /// The handle belongs to one connection: its requests end with that. [`listen`](Self::listen) outlives connections.
    pub fn server(&self, name: &str) -> Option<RemoteServer> {
        let is_selected = self.selection.as_ref().is_none_or(|selection| selection.has_server(name));
        self.shared().server(name).filter(|_| is_selected)
    }

    /// Shuts all servers down gracefully. Closes the stdin of processes; a process that does not exit is terminated, then
    /// killed. Ends sessions of servers on the network. Completes when all have ended, which takes a few seconds at most. The
    /// driver must be polled until then.
    pub async fn close(&self) {
        self.shared().close();
        self.shared().until_ended().await;
    }

    /// Whether the hub is closed, by [`close`](Self::close) or by the end of its driver. A closed hub refuses further servers.
    pub fn is_closed(&self) -> bool {
        self.shared().is_closing()
    }

    fn shared(&self) -> &Shared {
        &self.handle.0
    }

    /// Whether a tool is among those of this handle.
    fn has(&self, tool: &HubTool) -> bool {
        self.selection.as_ref().is_none_or(|selection| selection.has(tool))
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        self.0.close();
    }
}

/// The changes of a hub; see [`Hub::changes`]. A clone continues after the same change.
#[derive(Clone)]
#[must_use]
pub struct HubChanges {
    shared: Arc<Shared>,
    /// The number of changes until the last one that was returned.
    seen: u64,
}

impl HubChanges {
    /// Waits until something has changed since the last call. The first call returns at once if anything has happened.
    ///
    /// Returns `None` once the hub is closed, its servers have ended, and nothing has changed since the last call.
    #[must_use = "without the end, a loop over changes never waits once the hub is closed"]
    pub async fn next(&mut self) -> Option<()> {
        self.seen = self.shared.until_changed(self.seen).await?;
        Some(())
    }
}

impl fmt::Debug for HubChanges {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HubChanges").field("seen", &self.seen).finish_non_exhaustive()
    }
}
