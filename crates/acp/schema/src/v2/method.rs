//! The method table of version 2.

use super::{
    CancelRequestNotification, CancelSessionNotification, CancelTerminalRequest, CancelTerminalResponse,
    CancelToolCallRequest, CancelToolCallResponse, CloseSessionRequest, CloseSessionResponse,
    CompleteElicitationNotification, CreateElicitationRequest, CreateElicitationResponse,
    DeleteSessionRequest, DeleteSessionResponse, InitializeRequest, InitializeResponse, ListSessionsRequest,
    ListSessionsResponse, LoginAuthRequest, LoginAuthResponse, LogoutAuthRequest, LogoutAuthResponse,
    NewSessionRequest, NewSessionResponse, PromptRequest, PromptResponse, RequestPermissionRequest,
    RequestPermissionResponse, ResumeSessionRequest, ResumeSessionResponse, SetSessionConfigOptionRequest,
    SetSessionConfigOptionResponse, UpdateSessionNotification,
};
use crate::common::methods;

methods! {
    /// All methods of version 2, by name within each direction.
    METHODS {
        request LoginAuthRequest -> LoginAuthResponse: ClientToAgent if "authMethods is not empty",
        request LogoutAuthRequest -> LogoutAuthResponse: ClientToAgent if "authMethods is not empty",
        request InitializeRequest -> InitializeResponse: ClientToAgent,
        notification CancelSessionNotification: ClientToAgent if "capabilities.session",
        request CloseSessionRequest -> CloseSessionResponse: ClientToAgent if "capabilities.session",
        request DeleteSessionRequest -> DeleteSessionResponse: ClientToAgent if "capabilities.session.delete",
        request ListSessionsRequest -> ListSessionsResponse: ClientToAgent if "capabilities.session",
        request NewSessionRequest -> NewSessionResponse: ClientToAgent if "capabilities.session",
        request PromptRequest -> PromptResponse: ClientToAgent if "capabilities.session",
        request ResumeSessionRequest -> ResumeSessionResponse: ClientToAgent if "capabilities.session",
        request SetSessionConfigOptionRequest -> SetSessionConfigOptionResponse: ClientToAgent
            if "configOptions of that session",
        request CancelTerminalRequest -> CancelTerminalResponse: ClientToAgent if "capabilities.cancel of that terminal",
        request CancelToolCallRequest -> CancelToolCallResponse: ClientToAgent if "capabilities.cancel of that tool call",
        notification CompleteElicitationNotification: AgentToClient if "capabilities.elicitation.url",
        request CreateElicitationRequest -> CreateElicitationResponse: AgentToClient
            if "capabilities.elicitation.form or .url",
        request RequestPermissionRequest -> RequestPermissionResponse: AgentToClient if "capabilities.session",
        notification UpdateSessionNotification: AgentToClient if "capabilities.session",
        notification CancelRequestNotification: Both,
    }
}
