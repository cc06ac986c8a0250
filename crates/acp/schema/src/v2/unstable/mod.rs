//! The draft of version 2 beyond its own stable set. It is not part of the version yet: it may change and go.
//!
//! The params and results of a method are named after it, as in the version itself; [`METHODS`] lists the added ones. What adds
//! to something that the version has is made as in the additions to version 1: a [`Draft`] or a union under the name that
//! the version's type has, such as [`NewSessionRequest`] and [`SessionUpdate`], or the added capabilities under a name of
//! their own, such as [`SessionCapabilitiesAdditions`].
//!
//! ```
//! use agentwire_acp_schema::v2;
//! use agentwire_acp_schema::v2::unstable::{
//!     SessionCapabilitiesAdditions, SessionUpdate, StateUpdate, UpdateSessionNotification,
//! };
//!
//! # fn main() -> Result<(), serde_json::Error> {
//! let received: UpdateSessionNotification = serde_json::from_str(
//!     r#"{"sessionId":"s","update":{"sessionUpdate":"state_update","state":"idle","stopReason":"end_turn","usage":{
//!         "totalTokens":3,"inputTokens":2,"outputTokens":1
//!     }}}"#,
//! )?;
//! let SessionUpdate::StateUpdate(state) = received.update else { panic!("another update") };
//! let StateUpdate::Idle(idle) = *state else { panic!("another state") };
//! assert_eq!(idle.stop_reason, Some(v2::IdleStopReason::EndTurn));
//! assert_eq!(idle.added.usage.map(|usage| usage.total_tokens), Some(3));
//!
//! let capabilities: v2::SessionCapabilities = serde_json::from_str(r#"{"fork":{}}"#)?;
//! assert!(SessionCapabilitiesAdditions::of(&capabilities.extra).fork.is_some());
//! # Ok(())
//! # }
//! ```

mod mcp_server;
mod method;
mod plan;
mod provider;
mod proxy;
#[cfg(feature = "schema")]
pub mod schema;
mod session;
mod state;
mod update;

pub use crate::common::unstable::{
    AgentAuthCapabilitiesAdditions, AgentCapabilitiesAdditions, ArchiveFilterAddition, ArchiveSessionRequest,
    ArchiveSessionResponse, ArchivedAddition, AuthAccount, AuthState, AuthStatusCapabilities,
    AuthStatusRequest, AuthStatusResponse, AuthStatusUpdateNotification, DisableProviderRequest,
    DisableProviderResponse, Draft, LlmProtocol, McpError, McpRequestId, McpServerAcp, McpServerAcpId,
    MessageMcpNotification, MessageMcpRequest, MessageMcpResponse, PlanFile, PlanMarkdown, PlanRemoved,
    ProviderId, ProvidersCapabilities, ProxySuccessorNotification, ProxySuccessorRequest,
    ProxySuccessorResponse, SessionArchiveCapabilities, SessionArchiveFilter, SessionCancelCapabilities,
    SessionCapabilitiesAdditions, SessionForkCapabilities, SessionStatus, SessionStatusCapabilities,
    SessionSystemPromptCapabilities, SessionSystemPromptModeCapabilities,
    SessionSystemPromptOverrideCapabilities, SessionTitleCapabilities, SetProviderResponse,
    SetSessionTitleRequest, SetSessionTitleResponse, SubagentSessionCapabilities, SystemPromptMode,
    UnarchiveSessionRequest, UnarchiveSessionResponse, Usage, UsageAddition,
};
pub use mcp_server::{McpAcpCapabilities, McpCapabilitiesAdditions, McpServer};
pub use method::METHODS;
pub use plan::PlanUpdateContent;
pub use provider::{
    ListProvidersRequest, ListProvidersResponse, ProviderCurrentConfig, ProviderInfo, SetProviderRequest,
};
pub use proxy::{InitializeProxyRequest, InitializeProxyResponse};
pub use session::{
    ForkSessionRequest, ForkSessionResponse, ListSessionsRequest, ListSessionsResponse, NewSessionRequest,
    ResumeSessionRequest, SessionInfo, SessionStatusRequest, SessionStatusResponse, SystemPrompt,
    SystemPromptAddition,
};
pub use state::{BackgroundSubagent, BackgroundWork, IdleStateUpdate, StateUpdate, UnknownStateUpdate};
pub use update::{
    SessionMessage, SessionMessageChunk, SessionUpdate, SubagentUpdate, UpdateSessionNotification,
};
