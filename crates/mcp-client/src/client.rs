use std::fmt;
use std::future::Future;
use std::sync::Mutex;
use std::time::Duration;

use agentwire_jsonrpc::{ErrorObject, Notification};
use agentwire_mcp_schema::{
    ClientCapabilities, CreateMessageRequest, CreateMessageResult, ElicitRequest, ElicitResult,
    Implementation, ListRootsRequest, ListRootsResult, LoggingMessageNotification, Root,
};
use agentwire_peer::{Closed, Config, Dialect, TokioClock, driver};
use agentwire_transport::Transport;

use crate::front::{Front, Hook};
use crate::handshake::{Handshake, HandshakeError};
use crate::server::Server;

/// Whatever went wrong in the code that was given to [`connect`], or before it.
pub type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// Connects to a server, with the defaults, for as long as `main` runs.
///
/// # Errors
///
/// A [`HandshakeError`], or those of `main`. When the connection ends first, the calls that `main` waits for
/// fail, and say why.
pub async fn connect<T: Transport, R>(
    transport: T,
    main: impl AsyncFnOnce(Server) -> Result<R, BoxError>,
) -> Result<R, BoxError> {
    Client::default().connect(transport, main).await
}

/// An MCP client before it is connected: who it is, how long it waits, what it hears and what it answers.
///
/// What it was given something to answer with is what it advertises. Functions are `Send`, so that the future
/// of a connection can be spawned.
pub struct Client {
    handshake: Handshake,
    connection: Config,
    front: Front,
}

impl Client {
    /// A client of that name and version.
    pub fn new(name: impl Into<String>, version: impl Into<String>) -> Self {
        Self::from_info(Implementation::new(name, version))
    }

    /// A client that says more of itself, such as a title.
    pub fn from_info(info: Implementation) -> Self {
        let front = Front::default();
        let handshake = Handshake {
            info,
            agreed: front.agreed.clone(),
            capabilities: ClientCapabilities::default(),
            handshake_timeout: Some(Duration::from_secs(60)),
            timeout: Some(Duration::from_secs(60)),
            progress_maximum: Some(Duration::from_secs(600)),
        };
        Self { handshake, connection: Config::new(Dialect::MCP), front }
    }

    /// Sets how long a call waits for its answer (default 60 s); `None` for ever.
    #[must_use]
    pub fn timeout(mut self, timeout: impl Into<Option<Duration>>) -> Self {
        self.handshake.timeout = timeout.into();
        self
    }

    /// Sets how long a call waits at most when progress reports start its wait anew (default 10 min). With
    /// `None` they do not.
    #[must_use]
    pub fn progress_maximum(mut self, maximum: impl Into<Option<Duration>>) -> Self {
        self.handshake.progress_maximum = maximum.into();
        self
    }

    /// Sets how long the answer to `initialize` may take (default 60 s); `None` for ever.
    #[must_use]
    pub fn handshake_timeout(mut self, timeout: impl Into<Option<Duration>>) -> Self {
        self.handshake.handshake_timeout = timeout.into();
        self
    }

    /// Changes limits and times of the connection.
    #[must_use]
    pub fn connection(mut self, change: impl FnOnce(Config) -> Config) -> Self {
        self.connection = change(self.connection);
        self
    }

    /// Changes what is advertised beyond what follows from what is answered, such as experimental things.
    #[must_use]
    pub fn advertise(mut self, change: impl FnOnce(&mut ClientCapabilities)) -> Self {
        change(&mut self.handshake.capabilities);
        self
    }

    /// Tells the server, when it asks, the folders that we work in.
    #[must_use]
    pub fn roots(mut self, roots: Vec<Root>) -> Self {
        self.handshake.capabilities.roots.get_or_insert_default();
        self.front.answer(move |_: ListRootsRequest| {
            let result = ListRootsResult::new(roots.clone());
            async { Ok(result) }
        });
        self
    }

    /// Lets the server ask our language model. Ask the user first.
    #[must_use]
    pub fn sampling<F, O>(mut self, function: F) -> Self
    where
        F: Fn(CreateMessageRequest) -> O + Send + Sync + 'static,
        O: Future<Output = Result<CreateMessageResult, ErrorObject>> + Send + 'static,
    {
        self.handshake.capabilities.sampling.get_or_insert_default();
        self.front.answer(function);
        self
    }

    /// Lets the server ask our user, by forms.
    #[must_use]
    pub fn elicitation<F, O>(mut self, function: F) -> Self
    where
        F: Fn(ElicitRequest) -> O + Send + Sync + 'static,
        O: Future<Output = Result<ElicitResult, ErrorObject>> + Send + 'static,
    {
        self.handshake.capabilities.elicitation.get_or_insert_default();
        self.front.answer(function);
        self
    }

    /// Hears the server's log.
    #[must_use]
    pub fn on_log(mut self, hook: impl FnMut(LoggingMessageNotification) + Send + 'static) -> Self {
        self.front.on_log = set(hook);
        self
    }

    /// Hears that the server's tools are others now.
    #[must_use]
    pub fn on_tools_changed(mut self, mut hook: impl FnMut() + Send + 'static) -> Self {
        self.front.on_tools_changed = set(move |()| hook());
        self
    }

    /// Hears that the server's resources are others now.
    #[must_use]
    pub fn on_resources_changed(mut self, mut hook: impl FnMut() + Send + 'static) -> Self {
        self.front.on_resources_changed = set(move |()| hook());
        self
    }

    /// Hears that the server's prompts are others now.
    #[must_use]
    pub fn on_prompts_changed(mut self, mut hook: impl FnMut() + Send + 'static) -> Self {
        self.front.on_prompts_changed = set(move |()| hook());
        self
    }

    /// Hears the URI of a resource that changed, after [`Server::subscribe`].
    #[must_use]
    pub fn on_resource_updated(mut self, hook: impl FnMut(String) + Send + 'static) -> Self {
        self.front.on_resource_updated = set(hook);
        self
    }

    /// Hears every notification that nothing else here is for.
    #[must_use]
    pub fn on_other(mut self, hook: impl FnMut(Notification) + Send + 'static) -> Self {
        self.front.on_other = set(hook);
        self
    }

    /// Connects to a server for as long as `main` runs.
    ///
    /// The future needs the clock of a tokio runtime. Dropping it ends the connection.
    ///
    /// # Errors
    ///
    /// As [`connect`] says.
    pub async fn connect<T: Transport, R>(
        self,
        transport: T,
        main: impl AsyncFnOnce(Server) -> Result<R, BoxError>,
    ) -> Result<R, BoxError> {
        let (peer, driver) = driver(self.connection, TokioClock::default());
        let handshake = self.handshake;
        let main = async move { main(handshake.with(peer).await?).await };
        driver.run(self.front, transport, main).await.0
    }

    /// A future that gives the handle on a server, and the one that runs the connection until the server
    /// closes it.
    ///
    /// For programs in which the connection does not end where a function ends. Nothing happens unless the
    /// second future is polled; dropping it ends the connection.
    pub fn start<T: Transport>(
        self,
        transport: T,
    ) -> (impl Future<Output = Result<Server, HandshakeError>>, impl Future<Output = Result<(), Closed>>)
    {
        let (peer, driver) = driver(self.connection, TokioClock::default());
        (self.handshake.with(peer), driver.serve(self.front, transport))
    }
}

/// A client that gives the name and version of this library as its own.
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

fn set<T>(hook: impl FnMut(T) + Send + 'static) -> Hook<T> {
    Some(Mutex::new(Box::new(hook)))
}
