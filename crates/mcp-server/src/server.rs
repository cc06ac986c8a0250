mod asked;

use std::fmt;
use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use agentwire_mcp_schema::{CacheScope, Implementation, LoggingLevel, ServerCapabilities};
use agentwire_peer::{Closed, TokioClock, driver};
use agentwire_transport::Transport;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;

use crate::ask::Asking;
use crate::caching::Caching;
use crate::dispatch::Answers;
use crate::era::stateless::signature;
use crate::handler::ConnectionHandler;
use crate::listeners::{Change, Listeners};
use crate::quota::Quota;
use crate::registry::{Entry, Registry};
use crate::tasks::Tasks;
use crate::{
    Config, Context, IntoPromptResult, IntoResourceContents, IntoToolResult, ServerPrompt, ServerResource,
    ServerResourceTemplate, ServerTool, SubscriptionLimits,
};

/// How many entries a page of a list has unless the server says otherwise.
const PAGE_SIZE: usize = 100;

/// An MCP server: what it offers, for any number of connections.
///
/// Cloning is cheap, and clones share what is registered: keep one to [add](Self::add_tool) and
/// [remove](Self::remove_tool) things while another serves. A name that is registered again replaces what had
/// it, in its place in the list.
///
/// A client is told at the handshake which kinds of things there are. So a server that starts without any tool
/// but will have some must say so with [`advertise`](Self::advertise).
#[derive(Clone)]
pub struct Server {
    settings: Arc<Settings>,
    offers: Arc<Offers>,
}

#[derive(Clone)]
struct Settings {
    info: Implementation,
    /// The `_meta` that says so.
    signature: Box<RawValue>,
    instructions: Option<String>,
    advertised: ServerCapabilities,
    logging: Option<LoggingLevel>,
    page_size: usize,
    caching: Caching,
    resource_updates: bool,
    subscription_limits: SubscriptionLimits,
    value_limit: usize,
    meta_limit: usize,
    /// Whether schemas are held against what they are about; never without the feature of that name.
    validate: bool,
    asking: Asking,
    tasks: Option<Tasks>,
    connection: Config,
}

/// What clones have in common.
#[derive(Default)]
struct Offers {
    tools: Registry<ServerTool>,
    resources: Registry<ServerResource>,
    resource_templates: Registry<ServerResourceTemplate>,
    prompts: Registry<ServerPrompt>,
    answers: Answers,
    listeners: Listeners,
    /// Bytes of the URIs that clients watch.
    watched: Quota,
    /// Bytes of the arguments that clients' calls hold, as trees of values.
    values: Quota,
    /// How many sessions there have been.
    sessions: AtomicU64,
}

impl Server {
    /// The default of [`value_limit`](Self::value_limit): 32 MiB.
    pub const DEFAULT_VALUE_LIMIT: usize = 32 * 1024 * 1024;
    /// The default of [`meta_limit`](Self::meta_limit): 64 KiB.
    pub const DEFAULT_META_LIMIT: usize = 64 * 1024;

    /// A server of that name and version, which offers nothing yet.
    pub fn new(name: impl Into<String>, version: impl Into<String>) -> Self {
        Self::from_info(Implementation::new(name, version))
    }

    /// A server that says more of itself, such as a title.
    pub fn from_info(info: Implementation) -> Self {
        let settings = Settings {
            signature: signature(&info),
            info,
            instructions: None,
            advertised: ServerCapabilities::default(),
            logging: None,
            page_size: PAGE_SIZE,
            caching: Caching::default(),
            resource_updates: false,
            subscription_limits: SubscriptionLimits::default(),
            value_limit: Self::DEFAULT_VALUE_LIMIT,
            meta_limit: Self::DEFAULT_META_LIMIT,
            validate: false,
            asking: Asking::new(),
            tasks: None,
            connection: Config::new(),
        };
        Self { settings: Arc::new(settings), offers: Arc::default() }
    }

    /// Offers a tool: its name (1 to 128 of `A-Z a-z 0-9 _ - .`), what it does, in words for the model, and
    /// the function that does it.
    ///
    /// The function takes its arguments as one type, which gives the schema, and a [`Context`]. What it may
    /// give is said at [`IntoToolResult`]. A closure that captures something has to clone it before its
    /// `async move` block.
    ///
    /// # Panics
    ///
    /// When the argument type is not one whose JSON is an object, or a mark `x-mcp-header` in it is wrong.
    #[must_use]
    pub fn tool<A, F, O>(self, name: impl Into<String>, description: impl Into<String>, function: F) -> Self
    where
        A: DeserializeOwned + schemars::JsonSchema + Send + 'static,
        F: Fn(A, Context) -> O + Send + Sync + 'static,
        O: Future<Output: IntoToolResult> + Send + 'static,
    {
        self.with_tool(ServerTool::new(name, description, function))
    }

    /// Offers a tool of which there is more to say.
    ///
    /// # Panics
    ///
    /// When a mark `x-mcp-header` in its schema is wrong.
    #[must_use]
    pub fn with_tool(self, tool: ServerTool) -> Self {
        self.add_tool(tool);
        self
    }

    /// Offers a resource: its URI, its name for programs, and the function that reads it, which gets the URI.
    #[must_use]
    pub fn resource<F, O>(self, uri: impl Into<String>, name: impl Into<String>, function: F) -> Self
    where
        F: Fn(String, Context) -> O + Send + Sync + 'static,
        O: Future<Output: IntoResourceContents> + Send + 'static,
    {
        self.with_resource(ServerResource::new(uri, name, function))
    }

    /// Offers a resource of which there is more to say.
    #[must_use]
    pub fn with_resource(self, resource: ServerResource) -> Self {
        self.add_resource(resource);
        self
    }

    /// Offers resources that are not listed one by one: the template of their URIs, a name for programs, and the
    /// function that reads each, which gets the values of the template's variables. See [`ServerResourceTemplate`].
    ///
    /// # Panics
    ///
    /// When the template is none that [`UriTemplate`](crate::UriTemplate) takes.
    #[must_use]
    pub fn resource_template<V, F, O>(
        self,
        uri_template: impl Into<String>,
        name: impl Into<String>,
        function: F,
    ) -> Self
    where
        V: DeserializeOwned + Send + 'static,
        F: Fn(V, Context) -> O + Send + Sync + 'static,
        O: Future<Output: IntoResourceContents> + Send + 'static,
    {
        self.with_resource_template(ServerResourceTemplate::new(uri_template, name, function))
    }

    /// Offers a resource template of which there is more to say.
    #[must_use]
    pub fn with_resource_template(self, template: ServerResourceTemplate) -> Self {
        self.add_resource_template(template);
        self
    }

    /// Offers a prompt: its name, what it is for, and the function that fills it in. See [`ServerPrompt`].
    ///
    /// # Panics
    ///
    /// When the argument type is not one whose JSON is an object.
    #[must_use]
    pub fn prompt<A, F, O>(self, name: impl Into<String>, description: impl Into<String>, function: F) -> Self
    where
        A: DeserializeOwned + schemars::JsonSchema + Send + 'static,
        F: Fn(A, Context) -> O + Send + Sync + 'static,
        O: Future<Output: IntoPromptResult> + Send + 'static,
    {
        self.with_prompt(ServerPrompt::new(name, description, function))
    }

    /// Offers a prompt of which there is more to say.
    #[must_use]
    pub fn with_prompt(self, prompt: ServerPrompt) -> Self {
        self.add_prompt(prompt);
        self
    }

    /// Sets how to use the server, in words for the model.
    #[must_use]
    pub fn instructions(self, instructions: impl Into<String>) -> Self {
        self.set(|settings| settings.instructions = Some(instructions.into()))
    }

    /// Sends what [`Context::log`] is given, from that level upwards until a client sets another. Without
    /// this a server does not log.
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
    /// who asked). Clients are told so since 2026-07-28. What they hear of a change counts more than the time.
    #[must_use]
    pub fn caching(self, time: Duration, scope: CacheScope) -> Self {
        self.set(|settings| settings.caching = Caching::new(time, scope))
    }

    /// Lets clients ask to hear when what a resource holds changes. Say so with
    /// [`resource_updated`](Self::resource_updated).
    #[must_use]
    pub fn resource_updates(self) -> Self {
        self.offers.answers.for_resources();
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

    /// Advertises capabilities beyond those of what is registered at the handshake: of tools that come later,
    /// or experimental ones.
    #[must_use]
    pub fn advertise(self, capabilities: ServerCapabilities) -> Self {
        self.offers.answers.for_all();
        self.set(|settings| settings.advertised = capabilities)
    }

    /// Sets whether arguments are held against the schema of their tool before its function runs, and structured content
    /// before it is sent (default: no). What the type of the arguments says is held in any case.
    ///
    /// Arguments that the schema forbids are an error that names the paths, of the tool's since 2025-11-25 and "invalid
    /// params" before. Content that it forbids is an internal error. References that lead out of a schema are not followed.
    #[cfg(feature = "validate")]
    #[must_use]
    pub fn validate(self, validate: bool) -> Self {
        self.set(|settings| settings.validate = validate)
    }

    /// Changes how clients are asked by what works for them: times, limits, and the key that seals what they carry
    /// from round to round.
    #[must_use]
    pub fn asking(self, change: impl FnOnce(Asking) -> Asking) -> Self {
        self.set(|settings| settings.asking = change(settings.asking.clone()))
    }

    /// Runs calls as tasks, of the [tools](ServerTool::task) that can: a client gets the name of a task for an answer, and
    /// comes back for the result.
    #[must_use]
    pub fn tasks(self, tasks: Tasks) -> Self {
        self.set(|settings| settings.tasks = Some(tasks))
    }

    /// Changes limits and times of its connections.
    #[must_use]
    pub fn connection(self, change: impl FnOnce(Config) -> Config) -> Self {
        self.set(|settings| settings.connection = change(settings.connection.clone()))
    }

    /// Adds a tool and tells connected clients.
    ///
    /// # Panics
    ///
    /// When a mark `x-mcp-header` in its schema is wrong ([`Tool::header_marks`](crate::schema::Tool::header_marks)).
    pub fn add_tool(&self, mut tool: ServerTool) {
        tool.read_schemas();
        self.offers.tools.add(tool);
        self.tools_changed();
    }

    /// Takes a tool away and tells connected clients. Calls that are running go on. False if there is none.
    pub fn remove_tool(&self, name: &str) -> bool {
        let removed = self.offers.tools.remove(name);
        if removed {
            self.tools_changed();
        }
        removed
    }

    /// Adds a resource and tells connected clients.
    pub fn add_resource(&self, resource: ServerResource) {
        self.offers.answers.for_resources();
        self.offers.resources.add(resource);
        self.resources_changed();
    }

    /// Takes the resource at that URI away and tells connected clients. False if there is none.
    pub fn remove_resource(&self, uri: &str) -> bool {
        let removed = self.offers.resources.remove(uri);
        if removed {
            self.resources_changed();
        }
        removed
    }

    /// Adds a resource template and tells connected clients.
    pub fn add_resource_template(&self, template: ServerResourceTemplate) {
        self.offers.answers.for_resources();
        self.offers.answers.for_completions();
        self.offers.resource_templates.add(template);
        self.resources_changed();
    }

    /// Takes the resource template with that text away and tells connected clients. False if there is none.
    pub fn remove_resource_template(&self, uri_template: &str) -> bool {
        let removed = self.offers.resource_templates.remove(uri_template);
        if removed {
            self.resources_changed();
        }
        removed
    }

    /// Adds a prompt and tells connected clients.
    pub fn add_prompt(&self, prompt: ServerPrompt) {
        self.offers.answers.for_prompts();
        self.offers.answers.for_completions();
        self.offers.prompts.add(prompt);
        self.prompts_changed();
    }

    /// Takes a prompt away and tells connected clients. False if there is none.
    pub fn remove_prompt(&self, name: &str) -> bool {
        let removed = self.offers.prompts.remove(name);
        if removed {
            self.prompts_changed();
        }
        removed
    }

    /// Tells the clients that asked to hear of it that the resource at that URI holds something else now.
    pub fn resource_updated(&self, uri: &str) {
        self.offers.listeners.announce(Change::Resource(uri));
    }

    /// Ends every open `subscriptions/listen` in good order, such as before the program ends. New ones can be opened.
    pub fn close_subscriptions(&self) {
        self.offers.listeners.dismiss();
    }

    /// Cancels every task that runs here, such as before the program ends. The future, which need not be awaited for that,
    /// completes when all of them have ended and that is written down.
    pub fn cancel_tasks(&self) -> impl Future<Output = ()> + Send + use<> {
        let tasks = self.settings.tasks.clone();
        let boards = tasks.as_ref().map(|tasks| tasks.boards().all()).unwrap_or_default();
        for board in &boards {
            board.cancel("the server ends");
        }
        async move {
            for board in boards {
                board.written().await;
            }
        }
    }

    /// Serves one client until it closes the connection.
    ///
    /// Each of its requests is answered in the era that it is in, so one client may do both: begin a session with
    /// `initialize`, and send requests that stand alone. A connection that carries just one of these costs little.
    ///
    /// The future needs the clock of a tokio runtime. It is `Send` if the transport is, and does not borrow
    /// the server, so it can be spawned, once for each client. Dropping it ends the connection and all that
    /// runs for it.
    ///
    /// # Errors
    ///
    /// What the transport reported last.
    pub fn serve<T: Transport>(&self, transport: T) -> impl Future<Output = Result<(), Closed>> + use<T> {
        let (_, driver) = driver(self.settings.connection.clone().into(), TokioClock::default());
        driver.serve(ConnectionHandler::new(self.clone()), transport)
    }

    fn set(mut self, change: impl FnOnce(&mut Settings)) -> Self {
        change(Arc::make_mut(&mut self.settings));
        self
    }

    fn tools_changed(&self) {
        self.offers.listeners.announce(Change::Tools);
    }

    fn resources_changed(&self) {
        self.offers.listeners.announce(Change::Resources);
    }

    fn prompts_changed(&self) {
        self.offers.listeners.announce(Change::Prompts);
    }
}

impl fmt::Debug for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fn names<E: Entry>(registry: &Registry<E>) -> Vec<String> {
            registry.keys()
        }
        f.debug_struct("Server")
            .field("info", &self.settings.info)
            .field("tools", &names(&self.offers.tools))
            .field("resources", &names(&self.offers.resources))
            .field("resource_templates", &names(&self.offers.resource_templates))
            .field("prompts", &names(&self.offers.prompts))
            .finish_non_exhaustive()
    }
}
