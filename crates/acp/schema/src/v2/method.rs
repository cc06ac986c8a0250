//! The method table of version 2.

use super::*;
use crate::common::methods;

methods! {
    /// All methods of version 2, by name within each direction.
    METHODS {
        "auth/login": request LoginAuthRequest -> LoginAuthResponse: ClientToAgent
            if "authMethods is not empty",
        "auth/logout": request LogoutAuthRequest -> LogoutAuthResponse: ClientToAgent
            if "authMethods is not empty",
        "initialize": request InitializeRequest -> InitializeResponse: ClientToAgent,
        "session/cancel": notification CancelSessionNotification: ClientToAgent if "capabilities.session",
        request CloseSessionRequest -> CloseSessionResponse: ClientToAgent if "capabilities.session",
        request DeleteSessionRequest -> DeleteSessionResponse: ClientToAgent if "capabilities.session.delete",
        "session/list": request ListSessionsRequest -> ListSessionsResponse: ClientToAgent
            if "capabilities.session",
        "session/new": request NewSessionRequest -> NewSessionResponse: ClientToAgent
            if "capabilities.session",
        "session/prompt": request PromptRequest -> PromptResponse: ClientToAgent if "capabilities.session",
        "session/resume": request ResumeSessionRequest -> ResumeSessionResponse: ClientToAgent
            if "capabilities.session",
        "session/set_config_option": request SetSessionConfigOptionRequest -> SetSessionConfigOptionResponse: ClientToAgent
            if "configOptions of that session",
        "terminal/cancel": request CancelTerminalRequest -> CancelTerminalResponse: ClientToAgent
            if "capabilities.cancel of that terminal",
        "tool_call/cancel": request CancelToolCallRequest -> CancelToolCallResponse: ClientToAgent
            if "capabilities.cancel of that tool call",
        notification CompleteElicitationNotification: AgentToClient if "capabilities.elicitation.url",
        "elicitation/create": request CreateElicitationRequest -> CreateElicitationResponse: AgentToClient
            if "capabilities.elicitation.form or .url",
        "session/request_permission": request RequestPermissionRequest -> RequestPermissionResponse: AgentToClient
            if "capabilities.session",
        "session/update": notification UpdateSessionNotification: AgentToClient if "capabilities.session",
        notification CancelRequestNotification: Both,
    }
}
