//! The table of the methods that drafts add to version 1.

use super::{
    ArchiveSessionRequest, ArchiveSessionResponse, AuthStatusRequest, AuthStatusResponse,
    AuthStatusUpdateNotification, DisableProviderRequest, DisableProviderResponse, ForkSessionRequest,
    ForkSessionResponse, InitializeProxyRequest, InitializeProxyResponse, ListProvidersRequest,
    ListProvidersResponse, MessageMcpNotification, MessageMcpRequest, MessageMcpResponse,
    ProxySuccessorNotification, ProxySuccessorRequest, ProxySuccessorResponse, SessionStatusRequest,
    SessionStatusResponse, SetProviderRequest, SetProviderResponse, SetSessionTitleRequest,
    SetSessionTitleResponse, UnarchiveSessionRequest, UnarchiveSessionResponse,
};
use crate::common::methods;

methods! {
    /// The methods that drafts add to those of [version 1](crate::v1::METHODS), by name within each direction.
    ///
    /// `proxy/*` is spoken between the components of a chain, not between a client and an agent: `proxy/initialize` in the
    /// direction of the agent, `proxy/successor` in both.
    METHODS {
        request AuthStatusRequest -> AuthStatusResponse: ClientToAgent if "agentCapabilities.auth.status",
        notification MessageMcpNotification: ClientToAgent if "agentCapabilities.mcpCapabilities.acp",
        request DisableProviderRequest -> DisableProviderResponse: ClientToAgent
            if "agentCapabilities.providers",
        request ListProvidersRequest -> ListProvidersResponse: ClientToAgent if "agentCapabilities.providers",
        request SetProviderRequest -> SetProviderResponse: ClientToAgent if "agentCapabilities.providers",
        request InitializeProxyRequest -> InitializeProxyResponse: ClientToAgent,
        request ArchiveSessionRequest -> ArchiveSessionResponse: ClientToAgent
            if "agentCapabilities.sessionCapabilities.archive",
        request ForkSessionRequest -> ForkSessionResponse: ClientToAgent
            if "agentCapabilities.sessionCapabilities.fork",
        request SetSessionTitleRequest -> SetSessionTitleResponse: ClientToAgent
            if "agentCapabilities.sessionCapabilities.title",
        request SessionStatusRequest -> SessionStatusResponse: ClientToAgent
            if "agentCapabilities.sessionCapabilities.status",
        request UnarchiveSessionRequest -> UnarchiveSessionResponse: ClientToAgent
            if "agentCapabilities.sessionCapabilities.archive",
        notification AuthStatusUpdateNotification: AgentToClient if "agentCapabilities.auth.status",
        request MessageMcpRequest -> MessageMcpResponse: AgentToClient
            if "agentCapabilities.mcpCapabilities.acp",
        request ProxySuccessorRequest -> ProxySuccessorResponse: Both,
        notification ProxySuccessorNotification: Both,
    }
}
