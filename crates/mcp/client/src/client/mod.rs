//! `Client`: the configuration of an MCP client, and its functions that answer the server.

mod hooks;

use std::fmt;
use std::future::Future;
use std::time::Duration;

use agentwire_jsonrpc::ErrorObject;
use agentwire_mcp_schema::task_extension;
use agentwire_mcp_schema::{
    ClientCapabilities, CreateMessageRequest, CreateMessageResult, ElicitFormRequest, ElicitResult,
    ElicitUrlRequest, Era, Implementation, ListRootsRequest, ListRootsResult, LoggingLevel, Revision, Root,
};

use crate::handler::ClientHandler;
use crate::handshake::HandshakeConfig;
use crate::raw::Waits;
use crate::result::DEFAULT_VALUE_LIMIT;
use crate::{Cache, CallLayer, Config, RawCall, Tasks};

/// The configuration of an MCP client: its name, time limits and hooks, and the functions that answer questions.
///
/// It advertises the capabilities for which it has a function. Functions are `Send`, so that the future of a connection can
/// be spawned.
///
/// # Questions
///
/// In a session a server asks by requests of its own, while a call waits for it. A modern server returns its
/// questions as the result of a call, and the client makes the call again with the answers, up to a
/// [limit](Self::input_rounds). The same functions answer both, concurrently if there are several questions. Each of these
/// requests has the whole [time limit](Self::timeout) of the call, and the time in which the client answers does not count. If
/// a function fails, the call fails, because a modern server accepts no error in place of an answer. Dropping the call drops
/// the functions' futures.
///
/// # Tasks
///
/// A client with [`Tasks`] lets modern servers work on a call of a tool as a task. The call polls the task at the server's
/// interval, answers each of its questions once by the functions above, and returns what a plain call would return. It has
/// the time limit of a plain call: each change of the task counts as a progress report, and the time in which the client
/// answers does not count. When the time is over, or the call is dropped, the task is cancelled. So a call that may take
/// hours needs a [time limit](crate::Call::timeout) to match, or is [started](crate::Call::start).
///
/// In 2025-11-25 the client decides. A call becomes a task where it is started as one, has the member `task`, or its tool
/// runs no other way. There the questions are requests of the server, and the time in which the client answers them counts,
/// as it does for plain calls.
///
/// # Changes
///
/// In a session a server reports changes unasked. Over HTTP its stream for them may break off. When it cannot be resumed, the
/// client calls the hooks for lists once another one is open, because there may have been a change. It does not know which
/// resources have changed; [`RemoteServer::changes`](crate::RemoteServer::changes) reports that. A server without such a stream
/// causes [`Warning::ChangesOnlyWithCalls`](crate::Warning::ChangesOnlyWithCalls), if the client has a hook or a cache for
/// changes that the server offers to report.
///
/// A modern server reports changes only on a subscription. So a client with hooks for changes of lists opens one for the
/// changes that the server offers to report. When the server ends the subscription, the client opens another one after 1 s,
/// then 2 s, and so on up to 60 s. After such a gap it calls the hooks, because there may have been a change. If the server
/// never acknowledges, the client stops after five subscriptions. This runs within the future of the connection.
///
/// # Layers
///
/// A call passes a stack of layers, each of which may change it, repeat it or answer it. From the outside in:
///
/// 1. The typed request is downgraded to the revision and encoded; `_meta` gets the members that a modern request requires.
///    A request that the server does not offer fails here.
/// 2. **The layers of [`layer`](Self::layer)**, the first one added outermost.
/// 3. Validation of structured results (feature `validate`).
/// 4. The [cache](Self::cache).
/// 5. [Tasks](Self::tasks), which are followed to their results.
/// 6. [Questions](Self#questions), which are answered.
/// 7. Recovery: a modern request is repeated once if the refusal names the remedy.
/// 8. The request itself, with its progress token.
///
/// So your layer sees each call once and its final result, however many requests the call takes. It also sees calls that the
/// cache answers. It does not see the requests that the built-in layers make by themselves, such as `tasks/get`
/// or the lookup of a tool, nor the handshake, subscriptions and the methods of [`Task`](crate::Task). Dropping a call drops
/// its layers' futures and cancels the request. Each such layer costs one allocation for each call; without any, a plain call
/// in a session costs none for the stack.
///
/// A layer is a [`tower_layer::Layer`] over a [`tower_service::Service`], so those of `tower` fit. [`from_fn`](crate::from_fn)
/// makes one of an async function, and [`Retry`](crate::Retry) is one:
///
/// ```
/// use agentwire_mcp_client::{Client, Next, RawCall, Retry, from_fn};
///
/// let client = Client::new("my-host", "1.0.0").layer(Retry::idempotent(3)).layer(from_fn(
///     async |call: RawCall, next: Next| {
///         let method = call.method().to_owned();
///         let answer = next.call(call).await; // once for each try of the layer before
///         eprintln!("{method}: {}", if answer.is_ok() { "answered" } else { "failed" });
///         answer
///     },
/// ));
/// # let _ = client;
/// ```
///
/// # Clones
///
/// A clone makes connections of its own, with the same functions: a hook is called by the connections of all clones.
#[derive(Clone)]
pub struct Client {
    pub(crate) handshake: HandshakeConfig,
    pub(crate) connection: Config,
    pub(crate) handler: ClientHandler,
}

impl Client {
    /// The default of [`value_limit`](Self::value_limit): 32 MiB.
    pub const DEFAULT_VALUE_LIMIT: usize = DEFAULT_VALUE_LIMIT;

    /// Creates a client with this name and version.
    pub fn new(name: impl Into<String>, version: impl Into<String>) -> Self {
        Self::from_info(Implementation::new(name, version))
    }

    /// Creates a client with more information about itself, such as a title.
    pub fn from_info(info: Implementation) -> Self {
        let handshake = HandshakeConfig {
            era: Era::Auto,
            revisions: Revision::ALL.to_vec(),
            info,
            capabilities: ClientCapabilities::default(),
            log_level: None,
            has_log_hook: false,
            discover_timeout: Duration::from_secs(5),
            handshake_timeout: Some(Duration::from_secs(60)),
            waits: Waits {
                timeout: Some(Duration::from_secs(60)),
                progress_maximum: Some(Duration::from_secs(600)),
            },
        };
        Self { handshake, connection: Config::new(), handler: ClientHandler::default() }
    }

    /// Sets the era to speak (default [`Era::Auto`]).
    ///
    /// With [`Era::Auto`] the client sends `server/discover` first. It sends `initialize` on the same connection if the server
    /// refuses that, answers something else, or is [silent](Self::discover_timeout). If the server names its versions, the
    /// client takes the newest one that it speaks. A failure of the transport is an error; the HTTP transport takes a 4xx
    /// without JSON-RPC for a refusal.
    #[must_use]
    pub fn era(mut self, era: Era) -> Self {
        self.handshake.era = era;
        self
    }

    /// Returns the era to speak.
    pub fn chosen_era(&self) -> Era {
        self.handshake.era
    }

    /// Sets which revisions may be agreed on (default all that the library has), within the [era](Self::era): the newest
    /// of them is offered, and a server that wants another is refused.
    ///
    /// Without this a client speaks the newest revision that both sides have. If none of these belongs to the era, connecting
    /// fails with [`HandshakeError::NoRevision`](crate::HandshakeError::NoRevision), and nothing is sent.
    #[must_use]
    pub fn revisions(mut self, revisions: impl IntoIterator<Item = Revision>) -> Self {
        self.handshake.revisions = revisions.into_iter().collect();
        self
    }

    /// Sets how long [`Era::Auto`] waits for the answer to `server/discover` before it also sends `initialize` (default 5 s).
    /// The wait restarts at the server's first message. A late answer to `server/discover` still counts.
    #[must_use]
    pub fn discover_timeout(mut self, timeout: Duration) -> Self {
        self.handshake.discover_timeout = timeout;
        self
    }

    /// Sets how long a call waits for its answer (default 60 s); `None` for ever.
    #[must_use]
    pub fn timeout(mut self, timeout: impl Into<Option<Duration>>) -> Self {
        self.handshake.waits.timeout = timeout.into();
        self
    }

    /// Sets how long a call waits at most when progress reports restart its time limit (default 10 min); `None` sets no
    /// maximum. A call of a tool, a prompt or a resource requests progress if its time limit can be extended: it has one, and
    /// the maximum is above the [time limit](Self::timeout). Otherwise only a [hook](crate::Call::on_progress) requests it.
    #[must_use]
    pub fn progress_maximum(mut self, maximum: impl Into<Option<Duration>>) -> Self {
        self.handshake.waits.progress_maximum = maximum.into();
        self
    }

    /// Sets how long the answer to `initialize` may take, or with [`Era::Modern`] that to `server/discover`
    /// (default 60 s); `None` for ever.
    #[must_use]
    pub fn handshake_timeout(mut self, timeout: impl Into<Option<Duration>>) -> Self {
        self.handshake.handshake_timeout = timeout.into();
        self
    }

    /// Changes limits and time limits of the connection.
    #[must_use]
    pub fn connection(mut self, change: impl FnOnce(Config) -> Config) -> Self {
        self.connection = change(self.connection);
        self
    }

    /// Changes the advertised capabilities, for example to add experimental ones.
    #[must_use]
    pub fn advertise(mut self, change: impl FnOnce(&mut ClientCapabilities)) -> Self {
        change(&mut self.handshake.capabilities);
        self
    }

    /// Answers the server's requests for roots with these folders.
    #[must_use]
    pub fn roots(mut self, roots: impl IntoIterator<Item = Root>) -> Self {
        let roots: Vec<_> = roots.into_iter().collect();
        self.handshake.capabilities.roots.get_or_insert_default();
        self.handler.answers.set(move |_: ListRootsRequest| {
            let result = ListRootsResult::new(roots.clone());
            async { Ok(result) }
        });
        self
    }

    /// Lets the server use the client's language model. Ask the user first.
    ///
    /// A request with tools for the model is refused unless the client [advertises](Self::advertise) `sampling.tools`.
    #[must_use]
    pub fn sampling<F, O>(mut self, function: F) -> Self
    where
        F: Fn(CreateMessageRequest) -> O + Send + Sync + 'static,
        O: Future<Output = Result<CreateMessageResult, ErrorObject>> + Send + 'static,
    {
        self.handshake.capabilities.sampling.get_or_insert_default();
        self.handler.answers.set(function);
        self
    }

    /// Lets the server ask the user by forms.
    ///
    /// Fields that an accepted form leaves out get their defaults, so the function need only return what the user changed.
    #[must_use]
    pub fn elicitation<F, O>(mut self, function: F) -> Self
    where
        F: Fn(ElicitFormRequest) -> O + Send + Sync + 'static,
        O: Future<Output = Result<ElicitResult, ErrorObject>> + Send + 'static,
    {
        let modes = self.handshake.capabilities.elicitation.get_or_insert_default();
        // Servers older than the modes know the capability without them only.
        if modes.url.is_some() {
            modes.form.get_or_insert_default();
        }
        self.handler.answers.set_form(function);
        self
    }

    /// Lets the server send the user to a web page, for data that must not pass through the client. Show the whole URL and ask
    /// before it is opened; accepting means that the user agreed to open it. Since 2025-11-25.
    #[must_use]
    pub fn elicitation_url<F, O>(mut self, function: F) -> Self
    where
        F: Fn(ElicitUrlRequest) -> O + Send + Sync + 'static,
        O: Future<Output = Result<ElicitResult, ErrorObject>> + Send + 'static,
    {
        let had = self.handshake.capabilities.elicitation.is_some();
        let modes = self.handshake.capabilities.elicitation.get_or_insert_default();
        if had && modes.has_form() {
            modes.form.get_or_insert_default();
        }
        modes.url.get_or_insert_default();
        self.handler.answers.set_url(function);
        self
    }

    /// Sets how often a call is made again with answers to a modern server's questions (default 10).
    #[must_use]
    pub fn input_rounds(mut self, rounds: usize) -> Self {
        self.handler.answers.round_limit = rounds;
        self
    }

    /// Sets how many questions a server may ask at once on one connection (default 100). They are answered concurrently.
    ///
    /// In a session each question over the limit is refused with an error that names the limit. A modern server's call fails.
    #[must_use]
    pub fn input_requests(mut self, requests: usize) -> Self {
        self.handler.answers.request_limit = requests;
        self
    }

    /// Sets how long the answer to a question may take (default 1 h); `None` for ever. Then its function's future is dropped,
    /// and the server gets an error, or a modern server's call fails.
    #[must_use]
    pub fn input_timeout(mut self, timeout: impl Into<Option<Duration>>) -> Self {
        self.handler.answers.time_limit = timeout.into();
        self
    }

    /// Sets how many bytes of memory one decoded message of the server may take (default
    /// [`DEFAULT_VALUE_LIMIT`](Self::DEFAULT_VALUE_LIMIT)). This is estimated from the text, before it is decoded. The text of
    /// strings and structured content, which stays text, do not count.
    ///
    /// A result over the limit is a [`CallError::Decode`](crate::CallError::Decode) that names it, a request is refused, and
    /// a notification is ignored. [`Pages`](crate::Pages) hold all items of a list to it.
    #[must_use]
    pub fn value_limit(mut self, bytes: usize) -> Self {
        self.handler.answers.value_limit = bytes;
        self
    }

    /// Caches lists and resources while a modern server calls them fresh (default: off).
    ///
    /// Such a client also subscribes to changes of lists. Changes of a resource are reported only on a
    /// [subscription](crate::RemoteServer::listen) to it.
    #[must_use]
    pub fn cache(mut self, cache: Cache) -> Self {
        self.handler.cache = Some(cache);
        self
    }

    /// Adds a layer that every call of this client passes; see [above](Self#layers). The first layer added is the outermost.
    ///
    /// A layer's error becomes the error of the call: a [`CallError`](crate::CallError) as it is, and any other as the cause
    /// of a [`CallError::Failed`](crate::CallError::Failed).
    #[must_use]
    pub fn layer<L: CallLayer<RawCall>>(mut self, layer: L) -> Self {
        self.handler.layers.add(layer);
        self
    }

    /// Lets servers run tool calls as tasks, and follows these (default: off); see [above](Self#tasks).
    #[must_use]
    pub fn tasks(mut self, tasks: Tasks) -> Self {
        let extensions = self.handshake.capabilities.extensions.get_or_insert_default();
        extensions.extend(task_extension::extensions());
        self.handler.tasks = Some(tasks);
        self
    }

    /// Checks the results of tools against their output schemas (default: off). A call whose result does not match fails with
    /// [`CallError::Unusable`](crate::CallError::Unusable), which names the place and does not repeat the value.
    ///
    /// This holds for tools that [`RemoteServer::tools`](crate::RemoteServer::tools) listed before the call, and not for
    /// results with `is_error`. Nothing is fetched for a schema: where it refers to another document, the tool's results are
    /// not checked, and
    /// [`on_warning`](Self::on_warning) is called.
    #[cfg(feature = "validate")]
    #[must_use]
    pub fn validate_output(mut self, validate: bool) -> Self {
        self.handler.checks_output = validate;
        self
    }

    /// Requests the server's log from this level upwards; see [`on_log`](Self::on_log).
    ///
    /// In a session this sends `logging/setLevel` first, if the server has a log; a refusal is ignored. Every modern
    /// request carries the level, and a modern server logs nothing without one.
    #[must_use]
    pub fn log_level(mut self, level: LoggingLevel) -> Self {
        self.handshake.log_level = Some(level);
        self
    }
}

/// A client with the name and version of this library.
impl Default for Client {
    fn default() -> Self {
        Self::new(env!("CARGO_PKG_NAME"), env!("CARGO_PKG_VERSION"))
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client")
            .field("info", &self.handshake.info)
            .field("capabilities", &self.handshake.capabilities)
            .finish_non_exhaustive()
    }
}
