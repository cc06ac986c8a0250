//! `agent` and its settings, and the future that serves a client.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use agentwire_acp_agent::{Closed, Error};
use agentwire_acp_schema::v1::{
    AvailableCommand, Implementation, PromptCapabilities, SessionConfigOption, SessionModeState,
};
use agentwire_mcp_hub::ServerConfig;
use agentwire_mcp_hub::schema::{CreateMessageRequest, CreateMessageResult};
use agentwire_peer::{Clock, TokioClock};
use agentwire_transport::Transport;
use futures_util::FutureExt;
use futures_util::future::{join, join_all, select};

use crate::connection::auth::Auth;
use crate::questions::OnSampling;
use crate::runtime::Runtime;
use crate::settings::{PermissionPolicy, Settings};
use crate::store::SessionStore;
use crate::turn::{BoxTurnHandler, Turn, TurnHandler};
use crate::v1::V1Agent;
#[cfg(feature = "v2")]
use crate::v2::V2Agent;
use crate::warning::Warning;

/// Returns an agent that answers each prompt with the closure.
///
/// The closure is called once for each prompt. Updates that it sends through its [`Turn`](crate::Turn) reach the client in order, and
/// its result is the answer to the prompt. Turns of different sessions run concurrently, within the one future of
/// [`serve`](SessionAgent::serve), which can be spawned. A handler with state of its own implements [`TurnHandler`].
pub fn agent(turn: impl TurnHandler + 'static) -> SessionAgent {
    SessionAgent { turn: Box::new(turn), settings: Settings::new(), on_sampling: None }
}

/// An agent with its settings, which [`agent`] returns.
///
/// ```no_run
/// use agentwire_acp_sessions::schema::{Implementation, StopReason};
/// use agentwire_acp_sessions::{BoxError, Turn, agent};
/// use agentwire_transport_stdio::stdio;
///
/// #[tokio::main]
/// async fn main() -> Result<(), BoxError> {
///     agent(async |turn: Turn| {
///         turn.say(format!("you said: {}", turn.text())).await?;
///         Ok(StopReason::EndTurn)
///     })
///     .info(Implementation::new("my-agent", "1.0.0"))
///     .session_limit(16)
///     .on_warning(|warning| eprintln!("{warning}"))
///     .serve(stdio()?)
///     .await?;
///     Ok(())
/// }
/// ```
#[must_use = "it does nothing until it is served"]
pub struct SessionAgent {
    turn: BoxTurnHandler,
    settings: Settings,
    on_sampling: Option<OnSampling>,
}

impl SessionAgent {
    /// Sets the store of the sessions (default: a [`MemoryStore`](crate::MemoryStore) of up to 128 MiB, which lasts until serving ends).
    pub fn store(self, store: impl SessionStore + 'static) -> Self {
        self.shared_store(Arc::new(store))
    }

    /// Sets a store that is shared, such as with the agents of other connections. A session is open on one connection at a
    /// time; requests of the others are refused as busy (-32600). The store must implement [`SessionStore::claim`] for that,
    /// as those of this crate do.
    pub fn shared_store(self, store: Arc<dyn SessionStore>) -> Self {
        self.set(|settings| settings.store = store)
    }

    /// Sets the name and version of the agent (default: those of this crate).
    pub fn info(self, info: Implementation) -> Self {
        self.set(|settings| settings.info = info)
    }

    /// Sets the modes of sessions, and the mode in which they begin (default: no modes). [`Turn::mode`](crate::Turn::mode) returns the current
    /// one.
    pub fn modes(self, modes: SessionModeState) -> Self {
        self.set(|settings| settings.state.set_modes(modes))
    }

    /// Sets the options of sessions, with their initial values (default: no options). [`Turn::option`](crate::Turn::option) returns a current
    /// value. A select of the category `mode` whose values are the ids of the modes always has the current mode as its value. Boolean options
    /// are shown only to clients that support them.
    pub fn config_options(self, options: impl IntoIterator<Item = SessionConfigOption>) -> Self {
        let options = options.into_iter().collect();
        self.set(|settings| settings.state.set_options(options))
    }

    /// Sets the slash commands that are announced when a session is opened (default: none). A prompt that uses one begins
    /// with `/` and its name.
    pub fn commands(self, commands: impl IntoIterator<Item = AvailableCommand>) -> Self {
        let commands = commands.into_iter().collect();
        self.set(|settings| settings.state.commands = commands)
    }

    /// Requires authentication (default: none).
    pub fn auth(self, auth: Auth) -> Self {
        self.set(|settings| settings.auth = Some(auth))
    }

    /// Sets what a prompt may contain beyond text and resource links (default: nothing).
    pub fn prompt_capabilities(self, capabilities: PromptCapabilities) -> Self {
        self.set(|settings| settings.prompt = capabilities)
    }

    /// Sets the configuration of the MCP hub: time limits, logs, memory of servers.
    ///
    /// The session answers the requests of servers for which the configuration has no handler. Roots are the session's
    /// directories. Elicitations go to the client while a turn runs, if the client supports them, and their message begins
    /// with the server's name.
    pub fn hub(self, config: agentwire_mcp_hub::HubConfig) -> Self {
        self.set(|settings| settings.hub = config)
    }

    /// Sets the handler of sampling requests of MCP servers, which use the agent's language model (default: none, and servers
    /// do not see the capability).
    ///
    /// A server can send such a request while a turn runs. The hook gets that turn, the server's name and the request. It
    /// decides whether to ask the user first. Its future is dropped when the turn is cancelled or over, or the server
    /// withdraws the request.
    ///
    /// ```
    /// use agentwire_acp_sessions::hub::schema::{CreateMessageRequest, CreateMessageResult};
    /// use agentwire_acp_sessions::schema::StopReason;
    /// use agentwire_acp_sessions::{Turn, agent};
    ///
    /// # async fn complete(_: CreateMessageRequest) -> String { String::new() }
    /// let agent = agent(async |_: Turn| Ok(StopReason::EndTurn)).on_sampling(
    ///     async |turn: Turn, server: String, request: CreateMessageRequest| {
    ///         turn.say(format!("{server} uses the model")).await?;
    ///         Ok(CreateMessageResult::new("my-model", complete(request).await))
    ///     },
    /// );
    /// # let _ = agent;
    /// ```
    pub fn on_sampling<H, O>(mut self, hook: H) -> Self
    where
        H: Fn(Turn, String, CreateMessageRequest) -> O + Send + Sync + 'static,
        O: Future<Output = Result<CreateMessageResult, Error>> + Send + 'static,
    {
        self.on_sampling = Some(Arc::new(move |turn, server, request| hook(turn, server, request).boxed()));
        self
    }

    /// Adds an MCP server to every session, before the servers of the client.
    pub fn mcp_server(self, server: ServerConfig) -> Self {
        self.set(|settings| settings.servers.push(server))
    }

    /// Sets whether the user is asked before [`Turn::call_tool`](crate::Turn::call_tool) calls a tool (default: [`PermissionPolicy::Ask`]).
    pub fn permissions(self, policy: PermissionPolicy) -> Self {
        self.set(|settings| settings.permissions = policy)
    }

    /// Sets the grace period: how long a cancelled turn may take to return before its future is dropped, and after that
    /// how long the client may take to release its terminals (default 2 s).
    pub fn grace(self, grace: Duration) -> Self {
        self.set(|settings| settings.grace = grace)
    }

    /// Sets how long closing a session waits for the store, after its turn has ended, and how long deleting one waits
    /// (default 10 s). After that time the session is closed, but the request fails, because the store may not have finished. The
    /// session cannot be opened before the store has answered.
    pub fn store_timeout(self, time: Duration) -> Self {
        self.set(|settings| settings.store_timeout = time)
    }

    /// Sets the most sessions on one page of `session/list` (default 50).
    pub fn page_size(self, sessions: usize) -> Self {
        self.set(|settings| settings.page_size = sessions.max(1))
    }

    /// Sets how many sessions may be open at once (default 1024).
    pub fn session_limit(self, sessions: usize) -> Self {
        self.set(|settings| settings.session_limit = sessions)
    }

    /// Sets the limit of `cwd` and of each of `additionalDirectories`, in bytes (default [`DEFAULT_PATH_LIMIT`](crate::DEFAULT_PATH_LIMIT), 4,096). A
    /// request with a longer one is refused (-32602).
    pub fn path_limit(self, bytes: usize) -> Self {
        self.set(|settings| settings.path_limit = bytes)
    }

    /// Sets the memory limit of `cwd`, `additionalDirectories` and `mcpServers` of one session together, in bytes (default
    /// [`DEFAULT_SETUP_LIMIT`](crate::DEFAULT_SETUP_LIMIT), 64 KiB). A request with more is refused (-32602) before anything is stored or started. A
    /// directory counts three times, because three copies are kept; a server counts with its configuration. Servers of
    /// [`mcp_server`](Self::mcp_server) do not count.
    pub fn setup_limit(self, bytes: usize) -> Self {
        self.set(|settings| settings.setup_limit = bytes)
    }

    /// Sets the limit of an update, in bytes of JSON (default [`DEFAULT_UPDATE_LIMIT`](crate::DEFAULT_UPDATE_LIMIT)). A client drops a line over its own
    /// limit, so an update over this one is neither written nor sent, and fails with
    /// [`TurnError::TooLong`](crate::TurnError). Results of tools, and updates of a session that is loaded, are shortened and
    /// marked instead.
    pub fn update_limit(self, bytes: usize) -> Self {
        self.set(|settings| settings.update_limit = bytes)
    }

    /// Sets a hook for [warnings](Warning), which report problems that fail no request (default: none).
    pub fn on_warning(self, hook: impl Fn(Warning) + Send + Sync + 'static) -> Self {
        self.set(|settings| settings.on_warning = Some(Arc::new(hook)))
    }

    /// Sets whether clients of version 2 of the protocol are served too (default: no). The first `initialize` of a connection
    /// selects its version: the highest that both sides speak.
    ///
    /// The version is a draft. It is off by default, even with the feature `v2`, because a feature that another crate turns on
    /// must not change what an agent answers. See [the crate's docs](crate#versions) on what differs.
    #[cfg(feature = "v2")]
    pub fn v2(self, served: bool) -> Self {
        self.set(|settings| settings.serves_v2 = served)
    }

    /// Serves a client with the default [`Config`](crate::Config), until it closes the connection. Then all MCP servers are
    /// closed.
    ///
    /// # Errors
    ///
    /// When the transport fails.
    pub async fn serve<T: Transport>(self, transport: T) -> Result<(), Closed> {
        self.serve_with(transport, agentwire_acp_agent::Config::new()).await
    }

    /// Serves a client until it closes the connection.
    ///
    /// # Errors
    ///
    /// When the transport fails.
    pub async fn serve_with<T: Transport>(
        self,
        transport: T,
        config: agentwire_acp_agent::Config,
    ) -> Result<(), Closed> {
        let grace = self.settings.grace;
        let (runtime, mut tasks) = Runtime::new(self.turn, self.settings, self.on_sampling);
        let runtime = Arc::new(runtime);
        let served = tasks.run_with(serve_versions(runtime.clone(), transport, config)).await;
        let open = runtime.sessions.drain();
        let logs = join_all(open.iter().map(|(session, _)| session.log.close()));
        // A store that hangs must not keep the agent from ending.
        let closed = select(logs, TokioClock::default().sleep(grace));
        tasks.run_with(join(closed, join_all(open.iter().map(|(session, _)| session.hub.close())))).await;
        served
    }

    fn set(mut self, change: impl FnOnce(&mut Settings)) -> Self {
        change(&mut self.settings);
        self
    }
}

/// Serves a client of any version that the agent speaks.
async fn serve_versions<T: Transport>(
    runtime: Arc<Runtime>,
    transport: T,
    config: agentwire_acp_agent::Config,
) -> Result<(), Closed> {
    #[cfg(feature = "v2")]
    if runtime.settings.serves_v2 {
        let agents = agentwire_acp_agent::Router::both(V1Agent(runtime.clone()), V2Agent(runtime));
        return agents.serve_with(transport, config).await;
    }
    agentwire_acp_agent::serve_with(V1Agent(runtime), transport, config).await
}

impl fmt::Debug for SessionAgent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SessionAgent").field("info", &self.settings.info).finish_non_exhaustive()
    }
}
