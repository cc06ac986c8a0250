//! The table of the methods that drafts add to version 1.

use super::*;
use crate::common::methods;

methods! {
    /// The methods that drafts add to those of [version 1](crate::v1::METHODS), by name within each direction.
    ///
    /// `proxy/*` is spoken between the components of a chain, not between a client and an agent: `proxy/initialize` in the
    /// direction of the agent, `proxy/successor` in both.
    METHODS {
        "auth/status": request AuthStatusRequest -> AuthStatusResponse: ClientToAgent
            if "agentCapabilities.auth.status",
        "mcp/message": notification MessageMcpNotification: ClientToAgent
            if "agentCapabilities.mcpCapabilities.acp",
        "providers/disable": request DisableProviderRequest -> DisableProviderResponse: ClientToAgent
            if "agentCapabilities.providers",
        "providers/list": request ListProvidersRequest -> ListProvidersResponse: ClientToAgent
            if "agentCapabilities.providers",
        "providers/set": request SetProviderRequest -> SetProviderResponse: ClientToAgent
            if "agentCapabilities.providers",
        "proxy/initialize": request InitializeProxyRequest -> InitializeProxyResponse: ClientToAgent,
        "session/archive": request ArchiveSessionRequest -> ArchiveSessionResponse: ClientToAgent
            if "agentCapabilities.sessionCapabilities.archive",
        "session/fork": request ForkSessionRequest -> ForkSessionResponse: ClientToAgent
            if "agentCapabilities.sessionCapabilities.fork",
        "session/set_title": request SetSessionTitleRequest -> SetSessionTitleResponse: ClientToAgent
            if "agentCapabilities.sessionCapabilities.title",
        "session/status": request SessionStatusRequest -> SessionStatusResponse: ClientToAgent
            if "agentCapabilities.sessionCapabilities.status",
        "session/unarchive": request UnarchiveSessionRequest -> UnarchiveSessionResponse: ClientToAgent
            if "agentCapabilities.sessionCapabilities.archive",
        "auth/status_update": notification AuthStatusUpdateNotification: AgentToClient
            if "agentCapabilities.auth.status",
        "mcp/message": request MessageMcpRequest -> MessageMcpResponse: AgentToClient
            if "agentCapabilities.mcpCapabilities.acp",
        "proxy/successor": request ProxySuccessorRequest -> ProxySuccessorResponse: Both,
        "proxy/successor": notification ProxySuccessorNotification: Both,
    }
}
