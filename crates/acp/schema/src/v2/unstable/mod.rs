//! The additions of drafts to version 2. They are not part of the version yet, and may change or disappear.
//!
//! The params and results of an added method are named after it; [`METHODS`] lists the added methods. Additions to a type of
//! [`v2`](crate::v2) have one of three forms:
//!
//! - params and results: a [`WithAdditions`] under the type's name, such as [`NewSessionRequest`]. On the wire the type and its
//!   additions are one object.
//! - unions: a union under the same name with more variants, such as [`SessionUpdate`]. It converts from and into the version's
//!   union, which keeps unknown variants.
//! - capabilities: a type of the added ones, such as [`SessionCapabilitiesAdditions`]. It is read from and written into the field
//!   `extra` of the version's type.
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
    DisableProviderResponse, LlmProtocol, McpError, McpRequestId, McpServerAcp, McpServerAcpId,
    MessageMcpNotification, MessageMcpRequest, MessageMcpResponse, PlanFile, PlanMarkdown, PlanRemoved,
    ProviderId, ProvidersCapabilities, ProxySuccessorNotification, ProxySuccessorRequest,
    ProxySuccessorResponse, SessionArchiveCapabilities, SessionArchiveFilter, SessionCancelCapabilities,
    SessionCapabilitiesAdditions, SessionForkCapabilities, SessionStatus, SessionStatusCapabilities,
    SessionSystemPromptCapabilities, SessionSystemPromptModeCapabilities,
    SessionSystemPromptOverrideCapabilities, SessionTitleCapabilities, SetProviderResponse,
    SetSessionTitleRequest, SetSessionTitleResponse, SubagentSessionCapabilities, SystemPromptMode,
    UnarchiveSessionRequest, UnarchiveSessionResponse, Usage, UsageAddition, WithAdditions,
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
