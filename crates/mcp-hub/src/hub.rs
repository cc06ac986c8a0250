use std::pin::pin;
use std::sync::Arc;

use agentwire_mcp_client::RemoteServer;
use agentwire_mcp_schema::SubscriptionFilter;
use futures::FutureExt;
use futures::future::{Either, select};
use serde::Serialize;

use crate::call::ToolCall;
use crate::config::{HubConfig, ServerConfig};
use crate::connection;
use crate::driver::Driver;
use crate::error::HubError;
use crate::listening::Listening;
use crate::names::{HubTool, server_names};
use crate::state::{Callable, Shared};
use crate::status::ServerStatus;

/// Connects to servers, with the defaults, for as long as `main` runs, and closes them then.
///
/// Gives what `main` gives. Dropping the future kills the servers.
pub async fn connect<R>(
    servers: impl IntoIterator<Item = ServerConfig>,
    main: impl AsyncFnOnce(Hub) -> R,
) -> R {
    let (hub, driver) = Hub::new(servers);
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

/// A handle on all MCP servers of one session. Cloning is cheap.
#[derive(Clone, Debug)]
pub struct Hub(Arc<Handle>);

/// What all handles have in common: when the last one goes, so do the servers.
#[derive(Debug)]
struct Handle(Arc<Shared>);

impl Hub {
    /// A hub for these servers, with the defaults, and the future that connects to them and runs it.
    pub fn new(servers: impl IntoIterator<Item = ServerConfig>) -> (Self, Driver) {
        Self::with_config(HubConfig::new(), servers)
    }

    /// A hub for these servers, and the future that connects to them and runs it.
    pub fn with_config(config: HubConfig, servers: impl IntoIterator<Item = ServerConfig>) -> (Self, Driver) {
        let servers: Vec<_> = servers.into_iter().collect();
        let names = server_names(servers.iter().map(|server| &*server.name));
        let named: Vec<_> = names.iter().cloned().zip(servers).collect();
        let shared = Arc::new(Shared::new(names, config.short_name_limit));
        let connections = named.into_iter().enumerate().map(|(place, (name, server))| {
            connection::run(shared.clone(), place, name, server, config.clone()).boxed()
        });
        let driver = Driver::new(shared.clone(), connections);
        (Self(Arc::new(Handle(shared))), driver)
    }

    /// All tools that can be called, once every server has told its own or has failed.
    ///
    /// The list is that of this moment: servers may change theirs, and die.
    pub async fn tools(&self) -> Vec<HubTool> {
        self.ready().await;
        self.shared().tools()
    }

    /// Waits until every server is connected or has failed.
    pub async fn ready(&self) {
        self.shared().until_settled().await;
    }

    /// Calls a tool by a name that [`tools`](Self::tools) gave, or as `server__tool`. The arguments are
    /// anything whose JSON is an object, or `()` for none.
    ///
    /// A name never comes to mean another tool, but its server may change what the tool is. A caller who has shown a tool to
    /// somebody calls it by [`call_tool`](Self::call_tool).
    pub fn call<A: Serialize>(&self, name: &str, arguments: A) -> ToolCall {
        match self.resolve(name) {
            Ok(tool) => self.call_tool(&tool, arguments),
            Err(error) => ToolCall::failed(error),
        }
    }

    /// Calls a tool that [`tools`](Self::tools) or [`resolve`](Self::resolve) gave, as it was described there. The
    /// arguments are as in [`call`](Self::call).
    ///
    /// Awaiting the call fails with [`HubError::ToolChanged`] if the server has dropped the tool or describes it in another
    /// way by then: whoever agreed to the call agreed to something else.
    pub fn call_tool<A: Serialize>(&self, tool: &HubTool, arguments: A) -> ToolCall {
        match self.shared().callable(tool) {
            Ok(Callable { server, answered }) => {
                let call = server.call_tool(&*tool.tool.name, arguments);
                ToolCall::new(self.0.0.clone(), tool.clone(), call, answered)
            }
            Err(error) => ToolCall::failed(error),
        }
    }

    /// The tool of that name, one that [`tools`](Self::tools) gave or `server__tool`, also while its server is gone.
    /// Like [`call`](Self::call), this does not wait for servers.
    pub fn tool(&self, name: &str) -> Option<HubTool> {
        self.shared().find(name)
    }

    /// As [`tool`](Self::tool), with an error to pass on.
    ///
    /// # Errors
    ///
    /// [`HubError::NoSuchTool`] when no server lists such a tool.
    pub fn resolve(&self, name: &str) -> Result<HubTool, HubError> {
        self.tool(name).ok_or_else(|| HubError::NoSuchTool { name: name.to_owned() })
    }

    /// How every server is, in the order of the configuration.
    pub fn status(&self) -> Vec<ServerStatus> {
        self.shared().status()
    }

    /// Waits until something has changed since `seen` was given: how a server is, or which tools there are.
    pub async fn changed(&self, seen: &mut u64) {
        *seen = self.shared().until_changed(*seen).await;
    }

    /// Listens for changes at one server, stateful or stateless, also over its crashes: once it is connected to again it is asked
    /// to tell the same once more, and [`Change::Missed`](crate::Change::Missed) says that something may have been missed.
    ///
    /// This waits until the server is connected and has agreed. In a session it is asked by `resources/subscribe` for each
    /// resource, and tells of its lists in any case; since 2026-07-28, by `subscriptions/listen`.
    ///
    /// # Errors
    ///
    /// When there is no such server, it cannot be connected to, or it refuses.
    pub async fn listen(&self, server: &str, filter: SubscriptionFilter) -> Result<Listening, HubError> {
        let no_such_server = || HubError::NoSuchServer { name: server.to_owned() };
        let place = self.shared().place(server).ok_or_else(no_such_server)?;
        Listening::open(self.0.0.clone(), place, filter).await
    }

    /// The handle on one server, for what is not merged. None while it cannot be called. It is one connection's: what is
    /// asked through it ends when that does. To listen for longer, there is [`listen`](Self::listen).
    pub fn server(&self, name: &str) -> Option<RemoteServer> {
        self.shared().server(name)
    }

    /// Ends all servers in good order: the stdin of processes is closed, and those that do not end by that are
    /// asked, then made to; servers on the network are told that their sessions are over. Completes when all have
    /// ended, which takes a few seconds at most. The driver has to be polled meanwhile.
    pub async fn close(&self) {
        self.shared().close();
        self.shared().until_ended().await;
    }

    fn shared(&self) -> &Shared {
        &self.0.0
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        self.0.close();
    }
}
