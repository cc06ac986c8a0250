//! The table of the methods that drafts add to version 2.

use super::*;
use crate::common::methods;

methods! {
    /// The methods that drafts add to those of [version 2](crate::v2::METHODS), by name within each direction.
    ///
    /// `proxy/*` is spoken between the components of a chain, not between a client and an agent: `proxy/initialize` in the
    /// direction of the agent, `proxy/successor` in both.
    METHODS {
        request AuthStatusRequest -> AuthStatusResponse: ClientToAgent if "capabilities.auth.status",
        notification MessageMcpNotification: ClientToAgent if "capabilities.session.mcp.acp",
        request DisableProviderRequest -> DisableProviderResponse: ClientToAgent
            if "capabilities.providers",
        "providers/list": request ListProvidersRequest -> ListProvidersResponse: ClientToAgent
            if "capabilities.providers",
        "providers/set": request SetProviderRequest -> SetProviderResponse: ClientToAgent
            if "capabilities.providers",
        "proxy/initialize": request InitializeProxyRequest -> InitializeProxyResponse: ClientToAgent,
        request ArchiveSessionRequest -> ArchiveSessionResponse: ClientToAgent
            if "capabilities.session.archive",
        "session/fork": request ForkSessionRequest -> ForkSessionResponse: ClientToAgent
            if "capabilities.session.fork",
        request SetSessionTitleRequest -> SetSessionTitleResponse: ClientToAgent
            if "capabilities.session.title",
        "session/status": request SessionStatusRequest -> SessionStatusResponse: ClientToAgent
            if "capabilities.session.status",
        request UnarchiveSessionRequest -> UnarchiveSessionResponse: ClientToAgent
            if "capabilities.session.archive",
        notification AuthStatusUpdateNotification: AgentToClient if "capabilities.auth.status",
        request MessageMcpRequest -> MessageMcpResponse: AgentToClient
            if "capabilities.session.mcp.acp",
        request ProxySuccessorRequest -> ProxySuccessorResponse: Both,
        notification ProxySuccessorNotification: Both,
    }
}
