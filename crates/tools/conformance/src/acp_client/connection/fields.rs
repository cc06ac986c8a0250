//! The members of everything that a client sends, in both versions and their drafts.

use serde_json::Value;

/// A member that is not specified, or a name in the wrong style: where it is.
pub(in crate::acp_client) fn unspecified(message: &Value, asked: &str) -> Option<String> {
    let is_response = message.get("method").is_none();
    let (table, name, body) = if is_response {
        (RESULTS, asked, "result")
    } else {
        (PARAMS, message["method"].as_str()?, "params")
    };
    let known = table.iter().find(|(method, _)| *method == name)?;
    unknown_member(message.get(body)?, known.1, name)
}

fn unknown_member(value: &Value, of: &str, at: &str) -> Option<String> {
    if let Value::Array(items) = value {
        return items.iter().find_map(|item| unknown_member(item, of, at));
    }
    let members = MEMBERS.iter().find(|(name, _)| *name == of)?.1;
    value.as_object()?.iter().find_map(|(name, member)| {
        let place = format!("{at}.{name}");
        match members.iter().find(|(known, _)| known == name) {
            None => Some(place),
            Some((_, "")) => None,
            Some((_, of)) => unknown_member(member, of, &place),
        }
    })
}

/// The methods that a client may call.
pub(in crate::acp_client) fn is_method(name: &str) -> bool {
    PARAMS.iter().any(|(known, _)| *known == name)
}

/// The type of the params of each method that a client calls.
const PARAMS: &[(&str, &str)] = &[
    ("initialize", "InitializeRequest"),
    ("authenticate", "AuthenticateRequest"),
    ("logout", "LogoutRequest"),
    ("session/new", "NewSessionRequest"),
    ("session/load", "LoadSessionRequest"),
    ("session/list", "ListSessionsRequest"),
    ("session/delete", "DeleteSessionRequest"),
    ("session/resume", "ResumeSessionRequest"),
    ("session/close", "CloseSessionRequest"),
    ("session/set_mode", "SetSessionModeRequest"),
    ("session/set_config_option", "SetSessionConfigOptionRequest"),
    ("session/prompt", "PromptRequest"),
    ("session/cancel", "CancelNotification"),
    ("$/cancel_request", "CancelRequestNotification"),
    ("providers/list", "ListProvidersRequest"),
    ("providers/set", "SetProviderRequest"),
    ("providers/disable", "DisableProviderRequest"),
    ("auth/status", "AuthStatusRequest"),
    ("session/fork", "ForkSessionRequest"),
    ("session/archive", "ArchiveSessionRequest"),
    ("session/unarchive", "UnarchiveSessionRequest"),
    ("session/status", "SessionStatusRequest"),
    ("session/set_title", "SetSessionTitleRequest"),
    ("mcp/message", "MessageMcpNotification"),
    ("auth/login", "LoginAuthRequest"),
    ("auth/logout", "LogoutAuthRequest"),
    ("tool_call/cancel", "CancelToolCallRequest"),
    ("terminal/cancel", "CancelTerminalRequest"),
];

/// The type of the result of each method that an agent calls.
const RESULTS: &[(&str, &str)] = &[
    ("fs/write_text_file", "WriteTextFileResponse"),
    ("fs/read_text_file", "ReadTextFileResponse"),
    ("session/request_permission", "RequestPermissionResponse"),
    ("terminal/create", "CreateTerminalResponse"),
    ("terminal/output", "TerminalOutputResponse"),
    ("terminal/release", "ReleaseTerminalResponse"),
    ("terminal/wait_for_exit", "WaitForTerminalExitResponse"),
    ("terminal/kill", "KillTerminalResponse"),
    ("elicitation/create", "CreateElicitationResponse"),
    ("mcp/message", "MessageMcpResponse"),
];

/// The members of each type, with their own type where it has members. Variants of one type are joined.
#[rustfmt::skip]
const MEMBERS: &[(&str, &[(&str, &str)])] = &[
    ("InitializeRequest", &[
        ("_meta", ""), ("capabilities", "ClientCapabilities"), ("clientCapabilities", "ClientCapabilities"),
        ("clientInfo", "Implementation"), ("info", "Implementation"), ("protocolVersion", ""),
    ]),
    ("ClientCapabilities", &[
        ("_meta", ""), ("auth", "AuthCapabilities"), ("elicitation", "ElicitationCapabilities"),
        ("fs", "FileSystemCapabilities"), ("plan", "PlanCapabilities"), ("session", "ClientSessionCapabilities"),
        ("subagents", "SubagentCapabilities"), ("terminal", ""),
    ]),
    ("FileSystemCapabilities", &[("_meta", ""), ("readTextFile", ""), ("writeTextFile", "")]),
    ("ClientSessionCapabilities", &[
        ("_meta", ""), ("compaction", ""), ("configOptions", "SessionConfigOptionsCapabilities"), ("notices", ""),
    ]),
    ("SessionConfigOptionsCapabilities", &[("_meta", ""), ("boolean", "BooleanConfigOptionCapabilities")]),
    ("BooleanConfigOptionCapabilities", &[("_meta", "")]),
    ("AuthCapabilities", &[("_meta", ""), ("terminal", "TerminalAuthCapabilities")]),
    ("TerminalAuthCapabilities", &[("_meta", "")]),
    ("ElicitationCapabilities", &[
        ("_meta", ""), ("form", "ElicitationFormCapabilities"), ("url", "ElicitationUrlCapabilities"),
    ]),
    ("ElicitationFormCapabilities", &[("_meta", "")]),
    ("ElicitationUrlCapabilities", &[("_meta", "")]),
    ("SubagentCapabilities", &[("_meta", "")]),
    ("PlanCapabilities", &[("_meta", "")]),
    ("Implementation", &[("_meta", ""), ("name", ""), ("title", ""), ("version", "")]),
    ("AuthenticateRequest", &[("_meta", ""), ("methodId", "")]),
    ("LogoutRequest", &[("_meta", "")]),
    ("NewSessionRequest", &[
        ("_meta", ""), ("additionalDirectories", ""), ("cwd", ""), ("mcpServers", "McpServer"),
        ("systemPrompt", "SystemPrompt"),
    ]),
    ("McpServer", &[
        ("_meta", ""), ("args", ""), ("command", ""), ("env", "EnvVariable"), ("headers", "HttpHeader"), ("name", ""),
        ("serverId", ""), ("type", ""), ("url", ""),
    ]),
    ("HttpHeader", &[("_meta", ""), ("name", ""), ("value", "")]),
    ("EnvVariable", &[("_meta", ""), ("name", ""), ("value", "")]),
    ("SystemPrompt", &[("_meta", ""), ("content", "ContentBlock"), ("mode", "")]),
    ("ContentBlock", &[
        ("_meta", ""), ("annotations", "Annotations"), ("data", ""), ("description", ""), ("icons", "Icon"),
        ("mimeType", ""), ("name", ""), ("resource", "EmbeddedResourceResource"), ("size", ""), ("text", ""),
        ("title", ""), ("type", ""), ("uri", ""),
    ]),
    ("Annotations", &[("_meta", ""), ("audience", ""), ("lastModified", ""), ("priority", "")]),
    ("EmbeddedResourceResource", &[("_meta", ""), ("blob", ""), ("mimeType", ""), ("text", ""), ("uri", "")]),
    ("Icon", &[("_meta", ""), ("mimeType", ""), ("sizes", ""), ("src", ""), ("theme", "")]),
    ("LoadSessionRequest", &[
        ("_meta", ""), ("additionalDirectories", ""), ("cwd", ""), ("mcpServers", "McpServer"), ("sessionId", ""),
        ("systemPrompt", "SystemPrompt"),
    ]),
    ("ListSessionsRequest", &[("_meta", ""), ("archived", ""), ("cursor", ""), ("cwd", "")]),
    ("DeleteSessionRequest", &[("_meta", ""), ("sessionId", "")]),
    ("ResumeSessionRequest", &[
        ("_meta", ""), ("additionalDirectories", ""), ("cwd", ""), ("mcpServers", "McpServer"),
        ("replayFrom", "ReplayFrom"), ("sessionId", ""), ("systemPrompt", "SystemPrompt"),
    ]),
    ("ReplayFrom", &[("_meta", ""), ("type", "")]),
    ("CloseSessionRequest", &[("_meta", ""), ("sessionId", "")]),
    ("SetSessionModeRequest", &[("_meta", ""), ("modeId", ""), ("sessionId", "")]),
    ("SetSessionConfigOptionRequest", &[
        ("_meta", ""), ("configId", ""), ("sessionId", ""), ("type", ""), ("value", ""),
    ]),
    ("PromptRequest", &[("_meta", ""), ("prompt", "ContentBlock"), ("sessionId", "")]),
    ("CancelNotification", &[("_meta", ""), ("sessionId", "")]),
    ("CancelRequestNotification", &[("_meta", ""), ("requestId", "")]),
    ("ListProvidersRequest", &[("_meta", "")]),
    ("SetProviderRequest", &[("_meta", ""), ("apiType", ""), ("baseUrl", ""), ("headers", ""), ("providerId", "")]),
    ("DisableProviderRequest", &[("_meta", ""), ("providerId", "")]),
    ("AuthStatusRequest", &[("_meta", "")]),
    ("ForkSessionRequest", &[
        ("_meta", ""), ("additionalDirectories", ""), ("cwd", ""), ("mcpServers", "McpServer"), ("sessionId", ""),
        ("systemPrompt", "SystemPrompt"),
    ]),
    ("ArchiveSessionRequest", &[("_meta", ""), ("sessionId", "")]),
    ("UnarchiveSessionRequest", &[("_meta", ""), ("sessionId", "")]),
    ("SessionStatusRequest", &[("_meta", ""), ("sessionId", "")]),
    ("SetSessionTitleRequest", &[("_meta", ""), ("sessionId", ""), ("title", "")]),
    ("MessageMcpNotification", &[("_meta", ""), ("method", ""), ("params", ""), ("requestId", ""), ("serverId", "")]),
    ("LoginAuthRequest", &[("_meta", ""), ("methodId", "")]),
    ("LogoutAuthRequest", &[("_meta", "")]),
    ("CancelToolCallRequest", &[("_meta", ""), ("sessionId", ""), ("toolCallId", "")]),
    ("CancelTerminalRequest", &[("_meta", ""), ("sessionId", ""), ("terminalId", "")]),
    ("WriteTextFileResponse", &[("_meta", "")]),
    ("ReadTextFileResponse", &[("_meta", ""), ("content", "")]),
    ("RequestPermissionResponse", &[("_meta", ""), ("outcome", "RequestPermissionOutcome")]),
    ("RequestPermissionOutcome", &[("_meta", ""), ("optionId", ""), ("outcome", "")]),
    ("CreateTerminalResponse", &[("_meta", ""), ("terminalId", "")]),
    ("TerminalOutputResponse", &[
        ("_meta", ""), ("exitStatus", "TerminalExitStatus"), ("output", ""), ("truncated", ""),
    ]),
    ("TerminalExitStatus", &[("_meta", ""), ("exitCode", ""), ("signal", "")]),
    ("ReleaseTerminalResponse", &[("_meta", "")]),
    ("WaitForTerminalExitResponse", &[("_meta", ""), ("exitCode", ""), ("signal", "")]),
    ("KillTerminalResponse", &[("_meta", "")]),
    ("CreateElicitationResponse", &[("_meta", ""), ("action", ""), ("content", "")]),
    ("MessageMcpResponse", &[("_meta", ""), ("error", "McpError"), ("result", "")]),
    ("McpError", &[("code", ""), ("data", ""), ("message", "")]),
];
