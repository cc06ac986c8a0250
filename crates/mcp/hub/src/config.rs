//! `ServerConfig` and `HubConfig`: the servers to connect to, and the settings of a hub.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use agentwire_mcp_client::{Era, Tasks, Warning};
use agentwire_mcp_schema::{Implementation, LoggingLevel, LoggingMessageNotification};
use agentwire_peer::observe::Observer;
use agentwire_wire_derive::Build;

use crate::connecting::ConnectOptions;
use crate::questions::AnswerFunctions;
use crate::target::Target;

/// A server to connect to, and its name.
///
/// ```
/// use agentwire_mcp_hub::{ServerConfig, Target};
///
/// let files = ServerConfig::new("files", Target::parse("file-server --root /repo")?);
/// assert_eq!(files.name, "files");
/// # Ok::<(), agentwire_mcp_hub::ParseTargetError>(())
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ServerConfig {
    /// The server's name, shown to users and used as the prefix of its tools' names.
    pub name: String,
    /// Its address.
    pub target: Target,
}

impl ServerConfig {
    /// Creates the configuration of a server.
    pub fn new(name: impl Into<String>, target: impl Into<Target>) -> Self {
        Self { name: name.into(), target: target.into() }
    }
}

/// The most bytes of short names that are recorded for each server by default: 256 KiB.
pub const DEFAULT_SHORT_NAME_LIMIT: usize = 256 << 10;

/// The most servers of a hub over its life by default: 1024.
pub const DEFAULT_SERVER_LIMIT: usize = 1024;

/// The shortest pause between two listings of a server's tools, by default of [`HubConfig::relist_pause`]:
/// 1 s.
pub const DEFAULT_RELIST_PAUSE: Duration = Duration::from_secs(1);

/// The settings of a [`Hub`](crate::Hub) for its servers.
///
/// ```
/// use std::time::Duration;
///
/// use agentwire_mcp_hub::{Hub, HubConfig};
///
/// let config = HubConfig::new()
///     .timeout(Duration::from_secs(300))
///     .on_warning(|server, warning| eprintln!("{server}: {warning}"));
/// let (hub, driver) = Hub::with_config(config, []);
/// # let _ = (hub, driver);
/// ```
#[derive(Clone, Build)]
#[build(new)]
#[non_exhaustive]
pub struct HubConfig {
    /// The client's name and version for the servers. The default is those of this library.
    #[build(default = Implementation::new(env!("CARGO_PKG_NAME"), env!("CARGO_PKG_VERSION")))]
    pub info: Implementation,
    /// How long a server may take from its start until it has listed its tools (default 30 s).
    #[build(default = Duration::from_secs(30))]
    pub connect_limit: Duration,
    /// How long a call waits for its answer unless it has a time-out of its own (default 60 s); `None` for ever.
    #[build(optional, default = Some(Duration::from_secs(60)))]
    pub timeout: Option<Duration>,
    /// The era to speak with the servers (default [`Era::Auto`]).
    #[build(default = Era::Auto)]
    pub era: Era,
    /// How to connect to a server. Hubs that share a [`Memory`](crate::Memory) find out the era of a server once.
    #[build(default = ConnectOptions::new())]
    pub connect_options: ConnectOptions,
    /// The maximum number of consecutive restarts of a process that crashes (default 3); 0 disables restarts. The count
    /// starts again after a minute without a crash.
    #[build(default = 3)]
    pub restarts: u32,
    /// The longest pause before the first restart (default 1 s). It doubles for each next one, up to 30 s. Each is shortened
    /// by a random part of at most half.
    #[build(default = Duration::from_secs(1))]
    pub restart_pause: Duration,
    /// How to follow the tasks that servers create for calls (default: the defaults of [`Tasks`]). With `None`, the hub does not
    /// advertise support for tasks.
    #[build(optional, default = Some(Tasks::new()))]
    pub tasks: Option<Tasks>,
    /// How many bytes of short names are recorded for each server over the hub's life (default
    /// [`DEFAULT_SHORT_NAME_LIMIT`]). Each name counts as its length and 64 bytes. Tools beyond
    /// that limit have only their full names, `server__tool`. With 0, all tools have only these.
    #[build(default = DEFAULT_SHORT_NAME_LIMIT)]
    pub short_name_limit: usize,
    /// How many servers a hub may have over its life, removed ones included, because their names are not given out again
    /// (default [`DEFAULT_SERVER_LIMIT`]). [`Hub::add`](crate::Hub::add) refuses more. The servers
    /// of the constructor are not refused.
    #[build(default = DEFAULT_SERVER_LIMIT)]
    pub server_limit: usize,
    /// The pause between two listings of a server's tools after repeated change notifications (default
    /// [`DEFAULT_RELIST_PAUSE`]). Each further pause is twice as long, up to 30 s, until the server reports no change during one.
    #[build(default = DEFAULT_RELIST_PAUSE)]
    pub relist_pause: Duration,
    /// Asks the servers for their logs from that level upwards (default: no request). Since 2026-07-28 a
    /// server sends no log messages that were not requested.
    pub(crate) log_level: Option<LoggingLevel>,
    /// Calls the hook with each log message: the server's name and the message. Since 2026-07-28 a server is asked for
    /// `info` and above, unless a [level](Self::log_level) is set.
    #[build(dynamic)]
    #[expect(clippy::type_complexity, reason = "the derived setter takes any such function")]
    pub(crate) on_log: Option<Arc<dyn Fn(&str, LoggingMessageNotification) + Send + Sync>>,
    /// Calls the hook with each warning: a failure that no call returns. Gives the server's name and the warning.
    #[build(dynamic)]
    #[expect(clippy::type_complexity, reason = "the derived setter takes any such function")]
    pub(crate) on_warning: Option<Arc<dyn Fn(&str, Warning) + Send + Sync>>,
    /// Calls the function for each connection to a server. It returns the connection's observer, or `None` (default:
    /// no observers).
    #[build(dynamic)]
    #[expect(clippy::type_complexity, reason = "the derived setter takes any such function")]
    pub(crate) observer: Option<Arc<dyn Fn(&ServerConfig) -> Option<Arc<dyn Observer>> + Send + Sync>>,
    /// How many processes were started again. Clones share it.
    #[build(skip)]
    pub(crate) restarted: Arc<AtomicU64>,
    pub(crate) questions: AnswerFunctions,
}

/// Receives the name of a server, and a log message or warning.
pub(crate) type Hook<T> = Arc<dyn Fn(&str, T) + Send + Sync>;

impl HubConfig {
    /// Returns how many processes were started again after a crash, for metrics: those of all hubs of this configuration and
    /// of its clones.
    pub fn restart_count(&self) -> u64 {
        self.restarted.load(Ordering::Relaxed)
    }
}

impl fmt::Debug for HubConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HubConfig")
            .field("info", &self.info)
            .field("connect_limit", &self.connect_limit)
            .field("timeout", &self.timeout)
            .field("era", &self.era)
            .field("connect_options", &self.connect_options)
            .field("restarts", &self.restarts)
            .field("restart_pause", &self.restart_pause)
            .field("tasks", &self.tasks)
            .field("short_name_limit", &self.short_name_limit)
            .field("server_limit", &self.server_limit)
            .field("relist_pause", &self.relist_pause)
            .finish_non_exhaustive()
    }
}
