//! The settings of an agent.

use std::sync::Arc;
use std::time::Duration;

use agentwire_acp_schema::v1::{Implementation, PromptCapabilities};
use agentwire_jsonrpc::DEFAULT_LINE_LIMIT;
use agentwire_mcp_hub::ServerConfig;

use crate::connection::auth::Auth;
use crate::state::SessionState;
use crate::store::{MemoryStore, SessionStore};
use crate::warning::Warning;

/// The default of [`SessionAgent::update_limit`](crate::SessionAgent::update_limit), in bytes of JSON: the default limit of a line, 32 MiB, less 64 KiB for
/// the message around the update.
pub const DEFAULT_UPDATE_LIMIT: usize = DEFAULT_LINE_LIMIT - (64 << 10);

/// The default of [`SessionAgent::path_limit`](crate::SessionAgent::path_limit): 4,096 bytes, which is `PATH_MAX` on Linux.
pub const DEFAULT_PATH_LIMIT: usize = 4 << 10;

/// The default of [`SessionAgent::setup_limit`](crate::SessionAgent::setup_limit): 64 KiB.
pub const DEFAULT_SETUP_LIMIT: usize = 64 << 10;

/// The policy for questions to the user before a tool of an MCP server is called.
///
/// ```
/// use agentwire_acp_sessions::{PermissionPolicy, Turn, agent, schema::StopReason};
///
/// let agent = agent(async |turn: Turn| {
///     // One call is asked about, although the agent allows all others.
///     turn.call_tool("deploy", ()).permissions(PermissionPolicy::Ask).await?;
///     Ok(StopReason::EndTurn)
/// })
/// .permissions(PermissionPolicy::Allow);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum PermissionPolicy {
    /// Asks the user, through the client. An answer "always" is valid for that tool while the session is open. "Always allow"
    /// ends when the server describes the tool in another way; "always reject" does not.
    #[default]
    Ask,
    /// Allows every tool without a question.
    Allow,
}

pub(crate) type OnWarning = Arc<dyn Fn(Warning) + Send + Sync>;

/// The settings of an agent.
pub(crate) struct Settings {
    pub(crate) store: Arc<dyn SessionStore>,
    pub(crate) info: Implementation,
    pub(crate) state: SessionState,
    pub(crate) auth: Option<Auth>,
    pub(crate) prompt: PromptCapabilities,
    pub(crate) hub: agentwire_mcp_hub::HubConfig,
    pub(crate) servers: Vec<ServerConfig>,
    pub(crate) permissions: PermissionPolicy,
    pub(crate) grace: Duration,
    pub(crate) store_timeout: Duration,
    pub(crate) page_size: usize,
    pub(crate) session_limit: usize,
    pub(crate) path_limit: usize,
    pub(crate) setup_limit: usize,
    pub(crate) update_limit: usize,
    pub(crate) on_warning: Option<OnWarning>,
    #[cfg(feature = "v2")]
    pub(crate) serves_v2: bool,
}

impl Settings {
    pub(crate) fn new() -> Self {
        Self {
            store: Arc::new(MemoryStore::new()),
            info: Implementation::new(env!("CARGO_PKG_NAME"), env!("CARGO_PKG_VERSION")),
            state: SessionState::default(),
            auth: None,
            prompt: PromptCapabilities::new(),
            hub: agentwire_mcp_hub::HubConfig::new(),
            servers: Vec::new(),
            permissions: PermissionPolicy::default(),
            grace: Duration::from_secs(2),
            store_timeout: Duration::from_secs(10),
            page_size: 50,
            session_limit: 1024,
            path_limit: DEFAULT_PATH_LIMIT,
            setup_limit: DEFAULT_SETUP_LIMIT,
            update_limit: DEFAULT_UPDATE_LIMIT,
            on_warning: None,
            #[cfg(feature = "v2")]
            serves_v2: false,
        }
    }

    /// Returns how long a session may take to close: twice the grace period for its turn, and the time-out of the store.
    pub(crate) fn close_limit(&self) -> Duration {
        self.grace.saturating_mul(2).saturating_add(self.store_timeout)
    }

    pub(crate) fn warn(&self, warning: Warning) {
        if let Some(hook) = &self.on_warning {
            hook(warning);
        }
    }

    /// Takes the warnings of the store, and calls the hook with each.
    pub(crate) fn warn_of_store(&self) {
        self.store.take_warnings().into_iter().for_each(|warning| self.warn(Warning::Store(warning)));
    }
}
