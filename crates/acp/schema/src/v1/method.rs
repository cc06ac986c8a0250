//! The method table of version 1.

use super::*;
use crate::common::methods;

methods! {
    /// All methods of version 1, by name within each direction.
    METHODS {
        "authenticate": request AuthenticateRequest -> AuthenticateResponse: ClientToAgent
            if "authMethods is not empty",
        "initialize": request InitializeRequest -> InitializeResponse: ClientToAgent,
        "logout": request LogoutRequest -> LogoutResponse: ClientToAgent if "agentCapabilities.auth.logout",
        "session/cancel": notification CancelNotification: ClientToAgent,
        "session/close": request CloseSessionRequest -> CloseSessionResponse: ClientToAgent
            if "agentCapabilities.sessionCapabilities.close",
        "session/delete": request DeleteSessionRequest -> DeleteSessionResponse: ClientToAgent
            if "agentCapabilities.sessionCapabilities.delete",
        "session/list": request ListSessionsRequest -> ListSessionsResponse: ClientToAgent
            if "agentCapabilities.sessionCapabilities.list",
        "session/load": request LoadSessionRequest -> LoadSessionResponse: ClientToAgent
            if "agentCapabilities.loadSession",
        "session/new": request NewSessionRequest -> NewSessionResponse: ClientToAgent,
        "session/prompt": request PromptRequest -> PromptResponse: ClientToAgent,
        "session/resume": request ResumeSessionRequest -> ResumeSessionResponse: ClientToAgent
            if "agentCapabilities.sessionCapabilities.resume",
        "session/set_config_option": request SetSessionConfigOptionRequest -> SetSessionConfigOptionResponse: ClientToAgent
            if "configOptions in the result of session/new",
        "session/set_mode": request SetSessionModeRequest -> SetSessionModeResponse: ClientToAgent
            if "modes in the result of session/new",
        "elicitation/complete": notification CompleteElicitationNotification: AgentToClient
            if "clientCapabilities.elicitation.url",
        "elicitation/create": request CreateElicitationRequest -> CreateElicitationResponse: AgentToClient
            if "clientCapabilities.elicitation.form or .url",
        "fs/read_text_file": request ReadTextFileRequest -> ReadTextFileResponse: AgentToClient
            if "clientCapabilities.fs.readTextFile",
        "fs/write_text_file": request WriteTextFileRequest -> WriteTextFileResponse: AgentToClient
            if "clientCapabilities.fs.writeTextFile",
        "session/request_permission": request RequestPermissionRequest -> RequestPermissionResponse: AgentToClient,
        "session/update": notification SessionNotification: AgentToClient,
        "terminal/create": request CreateTerminalRequest -> CreateTerminalResponse: AgentToClient
            if "clientCapabilities.terminal",
        "terminal/kill": request KillTerminalRequest -> KillTerminalResponse: AgentToClient
            if "clientCapabilities.terminal",
        "terminal/output": request TerminalOutputRequest -> TerminalOutputResponse: AgentToClient
            if "clientCapabilities.terminal",
        "terminal/release": request ReleaseTerminalRequest -> ReleaseTerminalResponse: AgentToClient
            if "clientCapabilities.terminal",
        "terminal/wait_for_exit": request WaitForTerminalExitRequest -> WaitForTerminalExitResponse: AgentToClient
            if "clientCapabilities.terminal",
        "$/cancel_request": notification CancelRequestNotification: Both,
    }
}
