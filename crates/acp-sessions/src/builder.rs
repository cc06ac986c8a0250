use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use agentwire_acp_agent::{Closed, Error};
use agentwire_acp_schema::v1::{
    AvailableCommand, Implementation, PromptCapabilities, SessionConfigOption, SessionModeState, StopReason,
};
use agentwire_jsonrpc::DEFAULT_LINE_LIMIT;
use agentwire_mcp_hub::ServerConfig;
use agentwire_transport::Transport;
use futures::future::{join, join_all, select};

use crate::auth::Auth;
use crate::facts::Facts;
use crate::runtime::Runtime;
use crate::store::{MemoryStore, SessionStore};
use crate::turn::{self, Ask, Turn};
use crate::warning::Warning;

/// How many bytes of JSON an update may have unless [`SessionAgent::update_limit`] says otherwise: a line of the default
/// limit of its reader, 32 MiB, less 64 KiB for what stands around the update.
pub const DEFAULT_UPDATE_LIMIT: usize = DEFAULT_LINE_LIMIT - (64 << 10);

/// How many bytes a directory of a session may have unless [`SessionAgent::path_limit`] says otherwise: 4,096, which is
/// `PATH_MAX` on Linux.
pub const DEFAULT_PATH_LIMIT: usize = 4 << 10;

/// How many bytes of memory a session's directories and servers may take unless [`SessionAgent::setup_limit`] says
/// otherwise: 64 KiB.
pub const DEFAULT_SETUP_LIMIT: usize = 64 << 10;

/// An agent of which only the turn is written: everything else comes with this crate.
///
/// The closure is called once for each prompt. What it says through its [`Turn`] reaches the client in order, and what
/// it gives is the answer to the prompt. Turns of different sessions run at the same time, within the one future of
/// [`serve`](SessionAgent::serve), which is `Send` if the closure's futures are.
pub fn agent<F>(turn: F) -> SessionAgent<F>
where
    F: AsyncFn(Turn) -> Result<StopReason, Error>,
{
    SessionAgent { turn, settings: Settings::new() }
}

/// See [`agent`].
#[must_use = "it does nothing until it is served"]
pub struct SessionAgent<F> {
    turn: F,
    settings: Settings,
}

/// Hears of what went wrong.
pub(crate) type OnWarning = Arc<dyn Fn(Warning) + Send + Sync>;

/// All but the turn.
pub(crate) struct Settings {
    pub(crate) store: Arc<dyn SessionStore>,
    pub(crate) info: Implementation,
    pub(crate) facts: Facts,
    pub(crate) auth: Option<Auth>,
    pub(crate) prompt: PromptCapabilities,
    pub(crate) hub: agentwire_mcp_hub::Config,
    pub(crate) servers: Vec<ServerConfig>,
    pub(crate) ask: Ask,
    pub(crate) grace: Duration,
    pub(crate) store_timeout: Duration,
    pub(crate) page_size: usize,
    pub(crate) session_limit: usize,
    pub(crate) path_limit: usize,
    pub(crate) setup_limit: usize,
    pub(crate) update_limit: usize,
    pub(crate) on_warning: Option<OnWarning>,
}

impl Settings {
    fn new() -> Self {
        Self {
            store: Arc::new(MemoryStore::new()),
            info: Implementation::new(env!("CARGO_PKG_NAME"), env!("CARGO_PKG_VERSION")),
            facts: Facts::default(),
            auth: None,
            prompt: PromptCapabilities::new(),
            hub: agentwire_mcp_hub::Config::new(),
            servers: Vec::new(),
            ask: Ask::default(),
            grace: Duration::from_secs(2),
            store_timeout: Duration::from_secs(10),
            page_size: 50,
            session_limit: 1024,
            path_limit: DEFAULT_PATH_LIMIT,
            setup_limit: DEFAULT_SETUP_LIMIT,
            update_limit: DEFAULT_UPDATE_LIMIT,
            on_warning: None,
        }
    }

    /// How long a session may take to close: its turn has twice the grace, and the store its own time.
    pub(crate) fn close_limit(&self) -> Duration {
        self.grace.saturating_mul(2).saturating_add(self.store_timeout)
    }

    pub(crate) fn warn(&self, warning: Warning) {
        if let Some(hook) = &self.on_warning {
            hook(warning);
        }
    }

    /// Passes on what the store has found.
    pub(crate) fn warn_of_store(&self) {
        self.store.take_warnings().into_iter().for_each(|warning| self.warn(Warning::Store(warning)));
    }
}

impl<F> SessionAgent<F>
where
    F: AsyncFn(Turn) -> Result<StopReason, Error>,
{
    /// Sets where sessions are kept (default: a [`MemoryStore`], which is in memory until serving ends and has a limit of
    /// 128 MiB).
    pub fn store(self, store: impl SessionStore + 'static) -> Self {
        self.shared_store(Arc::new(store))
    }

    /// Sets where sessions are kept, and lets others use the same, such as the agents of other connections. One of them at
    /// a time can have a session open; for the others it is busy (-32600). That is for stores that keep it so, as those of
    /// this crate do: see [`SessionStore::claim`].
    pub fn shared_store(self, store: Arc<dyn SessionStore>) -> Self {
        self.set(|settings| settings.store = store)
    }

    /// Sets what the agent is called (default: the name and version of this crate).
    pub fn info(self, info: Implementation) -> Self {
        self.set(|settings| settings.info = info)
    }

    /// Sets the modes that sessions have, and the one they begin in (default: there are none). [`Turn::mode`] says which
    /// it is.
    pub fn modes(self, modes: SessionModeState) -> Self {
        self.set(|settings| settings.facts.set_modes(modes))
    }

    /// Sets the options that sessions have, with what they are set to at first (default: there are none).
    /// [`Turn::option`] says what one is set to. A select of the category `mode` whose values are the modes' ids always
    /// shows the mode. Options that are on or off are shown only to clients that understand them.
    pub fn config_options(self, options: impl IntoIterator<Item = SessionConfigOption>) -> Self {
        let options = options.into_iter().collect();
        self.set(|settings| settings.facts.set_options(options))
    }

    /// Sets the slash commands that the client is told of when a session is opened (default: there are none). They
    /// arrive as the text of a prompt, which begins with `/`.
    pub fn commands(self, commands: impl IntoIterator<Item = AvailableCommand>) -> Self {
        let commands = commands.into_iter().collect();
        self.set(|settings| settings.facts.commands = commands)
    }

    /// Lets in only who has authenticated (default: everybody).
    pub fn auth(self, auth: Auth) -> Self {
        self.set(|settings| settings.auth = Some(auth))
    }

    /// Sets what a prompt may hold beyond text and links (default: nothing).
    pub fn prompt_capabilities(self, capabilities: PromptCapabilities) -> Self {
        self.set(|settings| settings.prompt = capabilities)
    }

    /// Sets how MCP servers are treated: time limits, logs, what is remembered of them.
    pub fn hub(self, config: agentwire_mcp_hub::Config) -> Self {
        self.set(|settings| settings.hub = config)
    }

    /// Adds an MCP server that every session has, before those that the client lists.
    pub fn mcp_server(self, server: ServerConfig) -> Self {
        self.set(|settings| settings.servers.push(server))
    }

    /// Sets who is asked before [`Turn::call_tool`] calls a tool (default: the person, through the client).
    pub fn ask(self, ask: Ask) -> Self {
        self.set(|settings| settings.ask = ask)
    }

    /// Sets how long a turn may take to end by itself once it is cancelled, before it is dropped, and how long the
    /// client may then take to give back its terminals (default 2 s).
    pub fn grace(self, grace: Duration) -> Self {
        self.set(|settings| settings.grace = grace)
    }

    /// Sets how long closing a session waits for the store, beyond the time that a turn has to end, and how long deleting
    /// one waits for it after that (default 10 s). Then the session is closed all the same, but the request fails, since what
    /// was said last may not be kept, or the session not be deleted yet; and nobody can open the session before the store
    /// has answered.
    pub fn store_timeout(self, time: Duration) -> Self {
        self.set(|settings| settings.store_timeout = time)
    }

    /// Sets how many sessions a page of `session/list` has at most (default 50).
    pub fn page_size(self, sessions: usize) -> Self {
        self.set(|settings| settings.page_size = sessions.max(1))
    }

    /// Sets how many sessions may be open at once (default 1024).
    pub fn session_limit(self, sessions: usize) -> Self {
        self.set(|settings| settings.session_limit = sessions)
    }

    /// Sets how many bytes `cwd`, and each of `additionalDirectories`, may have (default [`DEFAULT_PATH_LIMIT`], 4,096).
    /// A request that opens a session with a longer one is refused (-32602).
    pub fn path_limit(self, bytes: usize) -> Self {
        self.set(|settings| settings.path_limit = bytes)
    }

    /// Sets how many bytes of memory `cwd`, `additionalDirectories` and `mcpServers` of one session may take together
    /// (default [`DEFAULT_SETUP_LIMIT`], 64 KiB). A request that opens a session with more is refused (-32602) before
    /// anything is kept or started. Directories count as often as they are kept, which is three times, and servers with the
    /// memory of their configuration. Servers of [`mcp_server`](Self::mcp_server) do not count.
    pub fn setup_limit(self, bytes: usize) -> Self {
        self.set(|settings| settings.setup_limit = bytes)
    }

    /// Sets how many bytes of JSON an update may have (default [`DEFAULT_UPDATE_LIMIT`]). A client drops a line that is
    /// longer than it takes, so an update over the limit is neither kept nor sent: [`TurnError::TooLong`](crate::TurnError)
    /// tells its author. What a tool has given is shortened and marked instead, and so are updates of a session that is
    /// loaded.
    pub fn update_limit(self, bytes: usize) -> Self {
        self.set(|settings| settings.update_limit = bytes)
    }

    /// Hears what went wrong without being anybody's error (default: nobody does).
    pub fn on_warning(self, hook: impl Fn(Warning) + Send + Sync + 'static) -> Self {
        self.set(|settings| settings.on_warning = Some(Arc::new(hook)))
    }

    /// Serves a client until it closes the connection, with the defaults. All MCP servers end with it.
    ///
    /// # Errors
    ///
    /// When the transport fails.
    pub async fn serve<T: Transport>(self, transport: T) -> Result<(), Closed> {
        self.serve_with(transport, agentwire_acp_agent::config()).await
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
        let (runtime, mut tasks) = Runtime::new(self.turn, self.settings);
        let sessions = runtime.sessions();
        let served = tasks.beside(agentwire_acp_agent::serve_with(runtime, transport, config)).await;
        let open = sessions.drain();
        let outboxes = join_all(open.iter().map(|(session, _)| session.outbox.close()));
        // A store that hangs does not keep us.
        let kept = select(outboxes, turn::sleep(grace));
        tasks.beside(join(kept, join_all(open.iter().map(|(session, _)| session.hub.close())))).await;
        served
    }

    fn set(mut self, change: impl FnOnce(&mut Settings)) -> Self {
        change(&mut self.settings);
        self
    }
}

impl<F> fmt::Debug for SessionAgent<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SessionAgent").field("info", &self.settings.info).finish_non_exhaustive()
    }
}
