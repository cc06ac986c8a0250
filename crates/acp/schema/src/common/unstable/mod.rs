//! The types that the drafts of all versions share.

pub(crate) mod additions;
mod auth_status;
mod capabilities;
mod mcp;
mod message;
mod plan;
mod provider;
mod proxy;
mod session;
mod subagent;
pub(crate) mod union;
mod usage;
mod with_additions;

pub use auth_status::{
    AuthAccount, AuthState, AuthStatusCapabilities, AuthStatusRequest, AuthStatusResponse,
    AuthStatusUpdateNotification,
};
pub use capabilities::{
    AgentAuthCapabilitiesAdditions, AgentCapabilitiesAdditions, SessionArchiveCapabilities,
    SessionCancelCapabilities, SessionCapabilitiesAdditions, SessionForkCapabilities,
    SessionStatusCapabilities, SessionSystemPromptCapabilities, SessionSystemPromptModeCapabilities,
    SessionSystemPromptOverrideCapabilities, SessionTitleCapabilities, SubagentSessionCapabilities,
};
pub use mcp::{
    McpError, McpRequestId, McpServerAcp, McpServerAcpId, MessageMcpNotification, MessageMcpRequest,
    MessageMcpResponse,
};
pub(crate) use message::session_message_types;
pub use plan::{PlanFile, PlanMarkdown, PlanRemoved};
pub(crate) use provider::provider_types;
pub use provider::{
    DisableProviderRequest, DisableProviderResponse, LlmProtocol, ProviderId, ProvidersCapabilities,
    SetProviderResponse,
};
pub(crate) use proxy::proxy_types;
pub use proxy::{ProxySuccessorNotification, ProxySuccessorRequest, ProxySuccessorResponse};
pub(crate) use session::session_types;
pub use session::{
    ArchiveFilterAddition, ArchiveSessionRequest, ArchiveSessionResponse, ArchivedAddition,
    SessionArchiveFilter, SessionStatus, SetSessionTitleRequest, SetSessionTitleResponse, SystemPromptMode,
    UnarchiveSessionRequest, UnarchiveSessionResponse,
};
pub(crate) use subagent::subagent_types;
pub(crate) use union::draft_union;
pub use usage::{Usage, UsageAddition};
pub(crate) use with_additions::draft_requests;
pub use with_additions::{Unchanged, WithAdditions};

/// The additions of drafts to a definition, for the generator.
#[cfg(feature = "schema")]
pub(crate) trait Added {
    /// The added members or variants, as a schema of their own.
    fn added(generator: &mut schemars::SchemaGenerator) -> schemars::Schema;
}
