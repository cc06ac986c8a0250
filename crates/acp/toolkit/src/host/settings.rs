//! The settings of a host, and the calls that open a connection and its sessions.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use agentwire_acp_client::{AgentHandle, Backoff, CallError, Config};
use agentwire_acp_schema::v1::error_code::AUTH_REQUIRED;
use agentwire_acp_schema::v1::{
    AuthMethod, AuthMethodId, AuthenticateRequest, ClientCapabilities, Implementation, InitializeRequest,
    McpServer, ProtocolVersion,
};

use super::event::HostEvent;

/// The future of a function that selects a method of authentication.
type MethodFuture = Pin<Box<dyn Future<Output = Option<AuthMethodId>> + Send>>;
type Authenticate = Arc<dyn Fn(Vec<AuthMethod>) -> MethodFuture + Send + Sync>;
type OnEvent = Arc<dyn Fn(HostEvent) + Send + Sync>;

#[derive(Clone)]
pub(super) struct Settings {
    pub(super) info: Option<Implementation>,
    pub(super) mcp_servers: Vec<McpServer>,
    pub(super) authenticate: Option<Authenticate>,
    pub(super) on_event: Option<OnEvent>,
    pub(super) timeout: Duration,
    pub(super) authenticate_timeout: Duration,
    pub(super) config: Config,
    pub(super) backoff: Backoff,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            info: None,
            mcp_servers: Vec::new(),
            authenticate: None,
            on_event: None,
            timeout: Duration::from_secs(60),
            authenticate_timeout: Duration::from_secs(600),
            config: Config::new(),
            backoff: Backoff::default(),
        }
    }
}

impl Settings {
    pub(super) fn report(&self, event: HostEvent) {
        if let Some(hook) = &self.on_event {
            hook(event);
        }
    }

    pub(super) async fn initialize(
        &self,
        agent: &AgentHandle,
        capabilities: ClientCapabilities,
    ) -> Result<(), CallError> {
        let mut hello = InitializeRequest::new(ProtocolVersion::V1).client_capabilities(capabilities);
        hello.client_info = self.info.clone();
        agent.initialize(hello).timeout(self.timeout).await.map(drop)
    }

    /// Makes a call. If the agent refuses it with `AUTH_REQUIRED`, authenticates and repeats it once.
    pub(super) async fn authenticated<R, F>(
        &self,
        agent: &AgentHandle,
        mut call: impl FnMut() -> F,
    ) -> Result<R, CallError>
    where
        F: Future<Output = Result<R, CallError>>,
    {
        let refused = match call().await {
            Err(error) if error.refusal().is_some_and(|refusal| refusal.code == AUTH_REQUIRED) => error,
            outcome => return outcome,
        };
        let Some(select) = &self.authenticate else { return Err(refused) };
        let methods =
            agent.initialize_response().map(|answer| answer.auth_methods.clone()).unwrap_or_default();
        let Some(method) = select(methods).await else { return Err(refused) };
        agent.authenticate(AuthenticateRequest::new(method)).timeout(self.authenticate_timeout).await?;
        call().await
    }
}

impl fmt::Debug for Settings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Settings")
            .field("info", &self.info)
            .field("timeout", &self.timeout)
            .field("backoff", &self.backoff)
            .finish_non_exhaustive()
    }
}
