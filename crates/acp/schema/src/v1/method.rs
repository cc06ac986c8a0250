//! The method table of version 1.

use super::{
    AuthenticateRequest, AuthenticateResponse, CancelNotification, CancelRequestNotification,
    CloseSessionRequest, CloseSessionResponse, CompleteElicitationNotification, CreateElicitationRequest,
    CreateElicitationResponse, CreateTerminalRequest, CreateTerminalResponse, DeleteSessionRequest,
    DeleteSessionResponse, InitializeRequest, InitializeResponse, KillTerminalRequest, KillTerminalResponse,
    ListSessionsRequest, ListSessionsResponse, LoadSessionRequest, LoadSessionResponse, LogoutRequest,
    LogoutResponse, NewSessionRequest, NewSessionResponse, PromptRequest, PromptResponse,
    ReadTextFileRequest, ReadTextFileResponse, ReleaseTerminalRequest, ReleaseTerminalResponse,
    RequestPermissionRequest, RequestPermissionResponse, ResumeSessionRequest, ResumeSessionResponse,
    SessionNotification, SetSessionConfigOptionRequest, SetSessionConfigOptionResponse,
    SetSessionModeRequest, SetSessionModeResponse, TerminalOutputRequest, TerminalOutputResponse,
    WaitForTerminalExitRequest, WaitForTerminalExitResponse, WriteTextFileRequest, WriteTextFileResponse,
};
use crate::common::methods;

methods! {
    /// All methods of version 1, by name within each direction.
    METHODS {
        request AuthenticateRequest -> AuthenticateResponse: ClientToAgent if "authMethods is not empty",
        request InitializeRequest -> InitializeResponse: ClientToAgent,
        request LogoutRequest -> LogoutResponse: ClientToAgent if "agentCapabilities.auth.logout",
        notification CancelNotification: ClientToAgent,
        request CloseSessionRequest -> CloseSessionResponse: ClientToAgent
            if "agentCapabilities.sessionCapabilities.close",
        request DeleteSessionRequest -> DeleteSessionResponse: ClientToAgent
            if "agentCapabilities.sessionCapabilities.delete",
        request ListSessionsRequest -> ListSessionsResponse: ClientToAgent
            if "agentCapabilities.sessionCapabilities.list",
        request LoadSessionRequest -> LoadSessionResponse: ClientToAgent if "agentCapabilities.loadSession",
        request NewSessionRequest -> NewSessionResponse: ClientToAgent,
        request PromptRequest -> PromptResponse: ClientToAgent,
        request ResumeSessionRequest -> ResumeSessionResponse: ClientToAgent
            if "agentCapabilities.sessionCapabilities.resume",
        request SetSessionConfigOptionRequest -> SetSessionConfigOptionResponse: ClientToAgent
            if "configOptions in the result of session/new",
        request SetSessionModeRequest -> SetSessionModeResponse: ClientToAgent
            if "modes in the result of session/new",
        notification CompleteElicitationNotification: AgentToClient if "clientCapabilities.elicitation.url",
        request CreateElicitationRequest -> CreateElicitationResponse: AgentToClient
            if "clientCapabilities.elicitation.form or .url",
        request ReadTextFileRequest -> ReadTextFileResponse: AgentToClient
            if "clientCapabilities.fs.readTextFile",
        request WriteTextFileRequest -> WriteTextFileResponse: AgentToClient
            if "clientCapabilities.fs.writeTextFile",
        request RequestPermissionRequest -> RequestPermissionResponse: AgentToClient,
        notification SessionNotification: AgentToClient,
        request CreateTerminalRequest -> CreateTerminalResponse: AgentToClient
            if "clientCapabilities.terminal",
        request KillTerminalRequest -> KillTerminalResponse: AgentToClient if "clientCapabilities.terminal",
        request TerminalOutputRequest -> TerminalOutputResponse: AgentToClient
            if "clientCapabilities.terminal",
        request ReleaseTerminalRequest -> ReleaseTerminalResponse: AgentToClient
            if "clientCapabilities.terminal",
        request WaitForTerminalExitRequest -> WaitForTerminalExitResponse: AgentToClient
            if "clientCapabilities.terminal",
        notification CancelRequestNotification: Both,
    }
}
