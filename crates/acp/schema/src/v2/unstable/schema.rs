//! The definitions that drafts add to those of version 2, and what they add to those.

use super::*;
use crate::schema::{additions, definitions};
use crate::v2;

definitions! {
    /// Every definition that drafts add but the envelopes of JSON-RPC.
    DEFINITIONS {
        ArchiveSessionRequest,
        ArchiveSessionResponse,
        AuthAccount,
        AuthState,
        AuthStatusCapabilities,
        AuthStatusRequest,
        AuthStatusResponse,
        AuthStatusUpdateNotification,
        BackgroundSubagent,
        DisableProviderRequest,
        DisableProviderResponse,
        ForkSessionRequest,
        ForkSessionResponse,
        InitializeProxyRequest,
        InitializeProxyResponse,
        ListProvidersRequest,
        ListProvidersResponse,
        LlmProtocol,
        McpAcpCapabilities,
        McpError,
        McpRequestId,
        McpServerAcp,
        McpServerAcpId,
        MessageMcpNotification,
        MessageMcpRequest,
        MessageMcpResponse,
        PlanFile where { "uri" "format" = "uri", },
        PlanMarkdown,
        PlanRemoved,
        ProviderCurrentConfig,
        ProviderId,
        ProviderInfo,
        ProvidersCapabilities,
        ProxySuccessorNotification,
        ProxySuccessorRequest,
        ProxySuccessorResponse,
        SessionArchiveCapabilities,
        SessionArchiveFilter,
        SessionCancelCapabilities,
        SessionForkCapabilities,
        SessionMessage,
        SessionMessageChunk,
        SessionStatus,
        SessionStatusCapabilities,
        SessionStatusRequest,
        SessionStatusResponse,
        SessionSystemPromptCapabilities,
        SessionSystemPromptModeCapabilities,
        SessionSystemPromptOverrideCapabilities,
        SessionTitleCapabilities,
        SetProviderRequest,
        SetProviderResponse,
        SetSessionTitleRequest,
        SetSessionTitleResponse,
        SubagentSessionCapabilities,
        SubagentUpdate,
        SystemPrompt,
        SystemPromptMode,
        UnarchiveSessionRequest,
        UnarchiveSessionResponse,
        UnknownStateUpdate,
        Usage,
    }
}

additions! {
    /// The additions of drafts to definitions of [version 2](crate::v2::schema::DEFINITIONS), and to the envelopes nothing but
    /// [`METHODS`].
    ADDITIONS {
        AgentAuthCapabilities = v2::AgentAuthCapabilities: AgentAuthCapabilitiesAdditions,
        AgentCapabilities = v2::AgentCapabilities: AgentCapabilitiesAdditions,
        BackgroundWork = BackgroundWork,
        IdleStateUpdate = IdleStateUpdate,
        ListSessionsRequest = ListSessionsRequest,
        McpCapabilities = v2::McpCapabilities: McpCapabilitiesAdditions,
        McpServer = McpServer,
        NewSessionRequest = NewSessionRequest,
        PlanUpdateContent = PlanUpdateContent,
        ResumeSessionRequest = ResumeSessionRequest,
        SessionCapabilities = v2::SessionCapabilities: SessionCapabilitiesAdditions,
        SessionInfo = SessionInfo,
        SessionUpdate = SessionUpdate,
        StateUpdate = StateUpdate,
    }
}
