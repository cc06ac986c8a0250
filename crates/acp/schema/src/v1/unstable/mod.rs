//! The additions of drafts to version 1. They are not part of the version, and may change or disappear.
//!
//! The params and results of an added method are named after it; [`METHODS`] lists the added methods. Additions to a type of
//! [`v1`](crate::v1) have one of three forms:
//!
//! - params and results: a [`WithAdditions`] under the type's name, such as [`NewSessionRequest`]. On the wire the type and its
//!   additions are one object.
//! - unions: a union under the same name with more variants, such as [`SessionUpdate`]. It converts from and into the version's
//!   union, which keeps unknown variants.
//! - capabilities: a type of the added ones, such as [`SessionCapabilitiesAdditions`]. It is read from and written into the field
//!   `extra` of the version's type.
//!
//! ```
//! use agentwire_acp_schema::v1::unstable::{
//!     NewSessionRequest, PlanRemoved, SessionUpdate, SystemPrompt, SystemPromptAddition, SystemPromptMode,
//! };
//! use agentwire_acp_schema::v1::{self, SessionNotification};
//!
//! # fn main() -> Result<(), serde_json::Error> {
//! let prompt = SystemPrompt::new(SystemPromptMode::Append, ["Speak French.".into()]);
//! let added = SystemPromptAddition::new().system_prompt(prompt);
//! let request = NewSessionRequest::new(v1::NewSessionRequest::new("/repo"), added);
//! assert_eq!(
//!     serde_json::to_string(&request)?,
//!     r#"{"cwd":"/repo","mcpServers":[],"systemPrompt":{"mode":"append","content":[{"type":"text","text":"Speak French."}]}}"#,
//! );
//!
//! // A program that speaks version 1 sends and receives the additions too.
//! let update = v1::SessionUpdate::try_from(SessionUpdate::from(PlanRemoved::new("plan")))?;
//! let sent = serde_json::to_string(&SessionNotification::new("session-1", update))?;
//! let received: SessionNotification = serde_json::from_str(&sent)?;
//! assert_eq!(SessionUpdate::from(received.update), PlanRemoved::new("plan").into());
//! # Ok(())
//! # }
//! ```

mod capabilities;
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
    UnarchiveSessionRequest, UnarchiveSessionResponse, Unchanged, Usage, UsageAddition, WithAdditions,
};
pub use crate::common::{ErrorStopReason, IdleStopReason, PlanId};
pub use capabilities::{
    ClientCapabilitiesAdditions, McpCapabilitiesAdditions, PlanCapabilities, SubagentCapabilities,
};
pub use mcp_server::McpServer;
pub use method::METHODS;
pub use plan::{PlanItems, PlanUpdate, PlanUpdateContent};
pub use provider::{
    ListProvidersRequest, ListProvidersResponse, ProviderCurrentConfig, ProviderInfo, SetProviderRequest,
};
pub use proxy::{InitializeProxyRequest, InitializeProxyResponse};
pub use session::{
    ForkSessionRequest, ForkSessionResponse, ListSessionsRequest, ListSessionsResponse, LoadSessionRequest,
    NewSessionRequest, PromptRequest, PromptResponse, ResumeSessionRequest, SessionInfo,
    SessionStatusRequest, SessionStatusResponse, SystemPrompt, SystemPromptAddition,
};
pub use state::{
    IdleStateUpdate, RequiresActionStateUpdate, RunningStateUpdate, StateUpdate, UnknownStateUpdate,
};
pub use update::{SessionMessage, SessionMessageChunk, SessionUpdate, SubagentUpdate};
