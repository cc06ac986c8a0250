use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use agentwire_mcp_schema::{Implementation, LoggingMessageNotification};
use agentwire_transport_stdio::{Command, ParseCommandError};

/// A server to connect to, and what to call it.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ServerConfig {
    /// The name by which users and tools' names tell it from others.
    pub name: String,
    /// Where it is.
    pub target: Target,
}

impl ServerConfig {
    /// A server of that name, which is reached there.
    pub fn new(name: impl Into<String>, target: impl Into<Target>) -> Self {
        Self { name: name.into(), target: target.into() }
    }
}

/// Where a server is.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Target {
    /// A process, to be started and spoken to over its stdin and stdout. Never start what somebody else
    /// configured without asking.
    Stdio(Command),
    /// A server on the network. There is no transport for those here yet: connecting fails and says so.
    Url(String),
}

impl Target {
    /// Reads what a user wrote: a URL if it begins with `http://` or `https://`, otherwise a command line as
    /// [`Command::parse`] reads it.
    ///
    /// # Errors
    ///
    /// When it is no command line.
    pub fn parse(text: &str) -> Result<Self, ParseCommandError> {
        let text = text.trim();
        if ["http://", "https://"].iter().any(|scheme| text.starts_with(scheme)) {
            Ok(Self::Url(text.to_owned()))
        } else {
            Command::parse(text).map(Self::Stdio)
        }
    }
}

impl From<Command> for Target {
    fn from(command: Command) -> Self {
        Self::Stdio(command)
    }
}

/// How a [`Hub`](crate::Hub) treats its servers.
#[derive(Clone)]
#[non_exhaustive]
pub struct Config {
    /// Who we tell the servers that we are. The default is the name and version of this library.
    pub info: Implementation,
    /// How long a server may take from its start until it has told its tools (default 30 s).
    pub connect_limit: Duration,
    /// How long a call waits for its answer unless it says otherwise (default 60 s); `None` for ever.
    pub timeout: Option<Duration>,
    pub(crate) on_log: Option<LogHook>,
}

pub(crate) type LogHook = Arc<dyn Fn(&str, LoggingMessageNotification) + Send + Sync>;

impl Config {
    /// The defaults.
    pub fn new() -> Self {
        Self {
            info: Implementation::new(env!("CARGO_PKG_NAME"), env!("CARGO_PKG_VERSION")),
            connect_limit: Duration::from_secs(30),
            timeout: Some(Duration::from_secs(60)),
            on_log: None,
        }
    }

    /// Sets who we tell the servers that we are.
    #[must_use]
    pub fn info(mut self, info: Implementation) -> Self {
        self.info = info;
        self
    }

    /// Sets how long a server may take from its start until it has told its tools.
    #[must_use]
    pub fn connect_limit(mut self, limit: Duration) -> Self {
        self.connect_limit = limit;
        self
    }

    /// Sets how long a call waits for its answer unless it says otherwise; `None` for ever.
    #[must_use]
    pub fn timeout(mut self, timeout: impl Into<Option<Duration>>) -> Self {
        self.timeout = timeout.into();
        self
    }

    /// Hears the servers' logs: the server's name and the message.
    #[must_use]
    pub fn on_log(mut self, hook: impl Fn(&str, LoggingMessageNotification) + Send + Sync + 'static) -> Self {
        self.on_log = Some(Arc::new(hook));
        self
    }
}

impl Default for Config {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Config {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Config")
            .field("info", &self.info)
            .field("connect_limit", &self.connect_limit)
            .field("timeout", &self.timeout)
            .finish_non_exhaustive()
    }
}
