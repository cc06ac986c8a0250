//! `Server`: the tools, prompts and resources of an MCP server, for any number of connections.

mod capabilities;
mod parts;
mod registration;

use std::fmt;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use agentwire_mcp_schema::{CacheScope, Implementation, LoggingLevel, ServerCapabilities};
use agentwire_store::Node;

use crate::caching::Caching;
use crate::define::layers::RawCall;
use crate::dispatch::Answers;
use crate::input::InputConfig;
use crate::settings::Settings;
use crate::tasks::{Tasks, drain};
use crate::warning::Warnings;
use crate::{CallLayer, Config, ServerWarning, SubscriptionLimits};

pub(crate) use parts::ServerParts;

/// An MCP server: what it offers, for any number of connections.
///
/// Cloning is cheap, and clones share what is registered: keep one to [add](Self::add_tool) and
/// [remove](Self::remove_tool) things while another serves. [`add_tool`](Self::add_tool) replaces a tool of the
/// same name, in its place in the list; [`tool`](Self::tool) and [`with_tool`](Self::with_tool) refuse a name that is taken.
/// So do their like for resources and prompts.
///
/// Capabilities are sent at the handshake. So a server that starts without tools and gets some later has to
/// [advertise](Self::advertise) them.
///
/// ```
/// use agentwire_mcp_server::{Server, ServerTool};
///
/// async fn motto() -> &'static str { "Simple and finished." }
///
/// let server = Server::new("memo", "1.0.0").resource("memo:///motto", "motto", motto).prompt("motto", "The motto", motto);
/// let clone = server.clone();
/// clone.add_tool(ServerTool::new("motto", "The motto", motto)); // also while `server` serves
/// assert!(clone.remove_tool("motto"));
/// # let _ = server;
/// ```
#[derive(Clone)]
pub struct Server {
    pub(crate) parts: ServerParts,
    pub(crate) answers: Arc<Answers>,
}

impl Server {
    /// The default of [`value_limit`](Self::value_limit): 32 MiB.
    pub const DEFAULT_VALUE_LIMIT: usize = Settings::VALUE_LIMIT;
    /// The default of [`meta_limit`](Self::meta_limit): 64 KiB.
    pub const DEFAULT_META_LIMIT: usize = Settings::META_LIMIT;

    /// Creates a server with that name and version, without tools, resources and prompts.
    pub fn new(name: impl Into<String>, version: impl Into<String>) -> Self {
        Self::from_info(Implementation::new(name, version))
    }

    /// Creates a server with a longer description, such as a title.
    pub fn from_info(info: Implementation) -> Self {
        let (settings, registries) = (Arc::new(Settings::new(info)), Arc::default());
        Self { parts: ServerParts { settings, registries, layers: None }, answers: Arc::default() }
    }

    /// Adds a layer around every tool, resource and prompt: a time-out, a limit of concurrent calls, authorization.
    ///
    /// Layers are those of tower, so its own middleware fits; [`from_fn`](crate::from_fn) makes one of an async function.
    /// The first layer that is added is the outermost. Those of the server are around those of a
    /// [tool](crate::ServerTool::layer). A server's layer counts all calls together, whatever they call.
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// use agentwire_mcp_server::{Context, NoArguments, Server, ServerTool};
    /// use tower::limit::ConcurrencyLimitLayer;
    /// use tower::timeout::TimeoutLayer;
    ///
    /// async fn import(_: NoArguments, _cx: Context) -> &'static str { "done" }
    ///
    /// let import = ServerTool::new("import", "Import the books", import).layer(ConcurrencyLimitLayer::new(1));
    /// let server = Server::new("books", "1.0.0")
    ///     .layer(TimeoutLayer::new(Duration::from_secs(30)))
    ///     .with_tool(import);
    /// # let _ = server;
    /// ```
    ///
    /// A layer sees the call before its arguments are decoded. The future that it drops, at a time-out for example, is the
    /// function's, and a cancelled request drops the futures of all its layers. In a [task](crate::ServerTool::task) the
    /// layers are part of what runs as the task. A layer that calls the next one several times runs the function several
    /// times, whose questions then need other keys.
    ///
    /// [`Next`](crate::Next) is always ready. A layer that acts on the readiness of the one below, such as tower's
    /// `LoadShed`, has to be added with that one in a single `tower::ServiceBuilder`.
    ///
    /// # Errors of layers
    ///
    /// An [`ErrorObject`](crate::ErrorObject) is the JSON-RPC error of the answer. The client gets the text of
    /// any other error: for a tool as a result with `isError`, which the model sees, and otherwise as an internal error.
    #[must_use]
    pub fn layer<L: CallLayer<RawCall>>(mut self, layer: L) -> Self {
        Arc::make_mut(self.parts.layers.get_or_insert_default()).add_to_server(layer);
        self
    }

    /// Gives functions that are added from now on their [`State<S>`](crate::State). A server has one state of each type; the
    /// last one counts. A function whose state is missing is refused when it is added.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use std::sync::atomic::{AtomicU64, Ordering};
    ///
    /// use agentwire_mcp_server::{Server, State};
    ///
    /// async fn count(counter: State<Arc<AtomicU64>>) -> String {
    ///     (counter.fetch_add(1, Ordering::Relaxed) + 1).to_string()
    /// }
    ///
    /// let server = Server::new("counter", "1.0.0")
    ///     .state(Arc::new(AtomicU64::new(0)))
    ///     .tool("count", "Count one more", count);
    /// # let _ = server;
    /// ```
    #[must_use]
    pub fn state<S: Clone + Send + Sync + 'static>(self, state: S) -> Self {
        self.set(|settings| settings.states.insert(state))
    }

    /// Sets its name for people.
    #[must_use]
    pub fn title(self, title: impl Into<String>) -> Self {
        self.set(|settings| settings.set_title(title.into()))
    }

    /// Sets instructions for the model on how to use the server.
    #[must_use]
    pub fn instructions(self, instructions: impl Into<String>) -> Self {
        self.set(|settings| settings.instructions = Some(instructions.into()))
    }

    /// Sends the messages of [`Context::log`](crate::Context::log), from that level upwards until a client sets another.
    /// Without this a server does not log.
    #[must_use]
    pub fn logging(self, level: LoggingLevel) -> Self {
        self.set(|settings| settings.logging = Some(level))
    }

    /// Sets how many entries a page of a list has (default 100, at least 1).
    #[must_use]
    pub fn page_size(self, entries: usize) -> Self {
        self.set(|settings| settings.page_size = entries.max(1))
    }

    /// Sets how long a client may keep lists and what it discovered, and for whom (default: not at all, and only for
    /// the client that asked). Sent since revision 2026-07-28. A notification of a change takes precedence over the
    /// time.
    #[must_use]
    pub fn caching(self, time: Duration, scope: CacheScope) -> Self {
        self.set(|settings| settings.caching = Caching::new(time, scope))
    }

    /// Lets clients subscribe to changes of single resources. Report these with
    /// [`resource_updated`](Self::resource_updated).
    #[must_use]
    pub fn resource_updates(self) -> Self {
        self.answers.for_resources();
        self.set(|settings| settings.resource_updates = true)
    }

    /// Changes how many resources clients may watch, and how many bytes their URIs may have.
    #[must_use]
    pub fn subscription_limits(self, change: impl FnOnce(SubscriptionLimits) -> SubscriptionLimits) -> Self {
        self.set(|settings| settings.subscription_limits = change(settings.subscription_limits.clone()))
    }

    /// Sets how much memory the JSON of one request may take as a tree of values, in bytes (default
    /// [`DEFAULT_VALUE_LIMIT`](Self::DEFAULT_VALUE_LIMIT)). It is estimated from the text before anything is decoded; the
    /// text of strings does not count. A tree takes up to 130 bytes for each byte of text. A request over the limit is
    /// refused, with an error that names it.
    ///
    /// Arguments of a tool count as such a tree whatever the function's type is, because that may hold a
    /// `serde_json::Value`. For arguments that are a long list of numbers the estimate is far too high: 96 bytes for each.
    /// Those of all calls that one client has open together take no more either: for as long as such a function runs, they
    /// count as held by it, unless they have less than 128 bytes. What the client's sessions keep of their `initialize`
    /// counts with them. A client is what it is for
    /// [`SubscriptionLimits::client_bytes`](crate::SubscriptionLimits::client_bytes).
    /// Those of a tool [from a definition](crate::ServerTool::from_definition) stay text, and count only where the server
    /// [validates](crate::Server) them.
    #[must_use]
    pub fn value_limit(self, bytes: usize) -> Self {
        self.set(|settings| settings.value_limit = bytes)
    }

    /// Sets how many bytes the `_meta` of a request may have (default [`DEFAULT_META_LIMIT`](Self::DEFAULT_META_LIMIT)):
    /// it is kept for as long as the request is worked on. A longer one is refused.
    #[must_use]
    pub fn meta_limit(self, bytes: usize) -> Self {
        self.set(|settings| settings.meta_limit = bytes)
    }

    /// Advertises capabilities beyond those of what is registered at the handshake, such as for tools that are added later,
    /// or experimental ones.
    #[must_use]
    pub fn advertise(self, capabilities: ServerCapabilities) -> Self {
        self.answers.for_all();
        self.set(|settings| settings.advertised = capabilities)
    }

    /// Sets whether arguments are checked against the schema of their tool before its function runs, and structured content
    /// before it is sent (default: no). The type of the arguments is checked in any case.
    ///
    /// Arguments that the schema forbids are an error that names the paths, of the tool's since 2025-11-25 and "invalid
    /// params" before. Content that it forbids is an internal error. References that lead out of a schema are not followed.
    #[cfg(feature = "validate")]
    #[must_use]
    pub fn validate(self, validate: bool) -> Self {
        self.set(|settings| settings.validate = validate)
    }

    /// Changes how functions ask clients: times, limits, and the key that seals the state which clients carry from round
    /// to round.
    #[must_use]
    pub fn input(self, change: impl FnOnce(InputConfig) -> InputConfig) -> Self {
        self.set(|settings| settings.input = change(settings.input.clone()))
    }

    /// Runs calls of the [tools](crate::ServerTool::task) that allow it as tasks: a client gets the id of a task as the
    /// answer, and asks for the result later.
    #[must_use]
    pub fn tasks(self, tasks: Tasks) -> Self {
        self.set(|settings| settings.set_tasks(tasks))
    }

    /// Serves as one of several nodes, which share what the node has [stores](Node::stores) for. The caller runs the node
    /// ([`Node::run`]), or the endpoint that has it does.
    ///
    /// - Changes of tools, prompts and resources are announced to clients of all nodes.
    /// - [Tasks](Self::tasks) are watched, answered and cancelled at any node, if all have one [store](Tasks::store) of tasks. A
    ///   task whose node [is dead](Node::is_dead) has failed. Tasks of a session end when that has ended at all nodes
    ///   ([`Node::end_session`]), and not with its connection at one. If the transport never reports that, they are kept for their time.
    /// - A `requestState` is used once: a call that changes something is not worked on twice. See
    ///   [`InputConfig`](crate::InputConfig).
    ///
    /// All nodes need the same [keys](InputConfig::keys). Give the node last: what is registered before is not announced.
    #[must_use]
    pub fn node(self, node: Node) -> Self {
        self.set(|settings| settings.set_node(node))
    }

    /// Changes limits and times of its connections.
    #[must_use]
    pub fn connection(self, change: impl FnOnce(Config) -> Config) -> Self {
        self.set(|settings| settings.connection = change(settings.connection.clone()))
    }

    /// Sets the receiver of warnings (default: writes one line to stderr for each). A warning reports that a call has no effect,
    /// because the server lacks a setting, or that parts of a client's description were left out. Each kind is given once.
    #[must_use]
    pub fn on_warning(self, receive: impl Fn(ServerWarning) + Send + Sync + 'static) -> Self {
        self.set(|settings| settings.warnings = Warnings::new(receive))
    }

    /// Sets the signal at which [`serve`](Self::serve) ends, on any transport. From then on requests get an error, including
    /// modern ones over Streamable HTTP, and open subscriptions end with their results. Running functions have
    /// [`Config::drain`] to end, and may still ask their client. Streamable HTTP itself ends at a signal of its own.
    ///
    /// ```
    /// use agentwire_mcp_server::{Closed, Server};
    /// use agentwire_transport::Transport;
    ///
    /// async fn run(
    ///     server: Server,
    ///     stdio: impl Transport,
    ///     signal: impl Future<Output = ()> + Send + 'static,
    /// ) -> Result<(), Closed> {
    ///     server.shutdown(signal).serve(stdio).await
    /// }
    /// ```
    #[must_use]
    pub fn shutdown(self, signal: impl Future<Output = ()> + Send + 'static) -> Self {
        self.connection(|config| config.shutdown(signal))
    }

    /// Notifies the clients that subscribed to the resource at that URI of a change. A function that is called reports it by
    /// [`Context::resource_updated`](crate::Context::resource_updated).
    pub fn resource_updated(&self, uri: &str) {
        self.parts.settings.announce_update(uri);
    }

    /// Ends every open `subscriptions/listen` with its result, such as before the program ends. New ones can be opened.
    pub fn close_subscriptions(&self) {
        self.parts.settings.listeners.dismiss();
    }

    /// Cancels every task that runs in this process. This happens at once; the future completes when the store has the end
    /// of all of them, or has failed. [`drain_tasks`](Self::drain_tasks) lets them end before.
    pub fn cancel_tasks(&self) -> impl Future<Output = ()> + Send + use<> {
        let cancelled = self.parts.settings.tasks.as_ref().map(|tasks| drain::cancel(tasks.registry()));
        async move {
            if let Some(cancelled) = cancelled {
                cancelled.await;
            }
        }
    }

    /// Lets the tasks that run in this process end for up to `grace`, and then [cancels](Self::cancel_tasks) the rest. For
    /// the end of a program: after the transport has ended, which starts no more, and before the [node](Self::node) is
    /// released. Until then clients can answer and cancel them at other nodes. Needs the clock of a tokio runtime.
    pub fn drain_tasks(&self, grace: Duration) -> impl Future<Output = ()> + Send + use<> {
        let tasks = self.parts.settings.tasks.clone();
        async move {
            if let Some(tasks) = tasks {
                drain::drain(tasks.registry(), grace).await;
            }
        }
    }

    fn set(mut self, change: impl FnOnce(&mut Settings)) -> Self {
        change(Arc::make_mut(&mut self.parts.settings));
        self
    }
}

impl fmt::Debug for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Server")
            .field("info", &self.parts.settings.info)
            .field("tools", &self.parts.registries.tools.keys())
            .field("resources", &self.parts.registries.resources.keys())
            .field("resource_templates", &self.parts.registries.resource_templates.keys())
            .field("prompts", &self.parts.registries.prompts.keys())
            .finish_non_exhaustive()
    }
}
