use crate::common::Direction::{AgentToClient, Both, ClientToAgent};
use crate::common::MethodInfo;

/// All methods of version 1, by name within each direction.
pub const METHODS: &[MethodInfo] = &[
    MethodInfo::request("authenticate", ClientToAgent, Some("authMethods is not empty")),
    MethodInfo::request("initialize", ClientToAgent, None),
    MethodInfo::request("logout", ClientToAgent, Some("agentCapabilities.auth.logout")),
    MethodInfo::notification("session/cancel", ClientToAgent, None),
    MethodInfo::request("session/close", ClientToAgent, Some("agentCapabilities.sessionCapabilities.close")),
    MethodInfo::request(
        "session/delete",
        ClientToAgent,
        Some("agentCapabilities.sessionCapabilities.delete"),
    ),
    MethodInfo::request("session/list", ClientToAgent, Some("agentCapabilities.sessionCapabilities.list")),
    MethodInfo::request("session/load", ClientToAgent, Some("agentCapabilities.loadSession")),
    MethodInfo::request("session/new", ClientToAgent, None),
    MethodInfo::request("session/prompt", ClientToAgent, None),
    MethodInfo::request(
        "session/resume",
        ClientToAgent,
        Some("agentCapabilities.sessionCapabilities.resume"),
    ),
    MethodInfo::request(
        "session/set_config_option",
        ClientToAgent,
        Some("configOptions in the result of session/new"),
    ),
    MethodInfo::request("session/set_mode", ClientToAgent, Some("modes in the result of session/new")),
    MethodInfo::notification(
        "elicitation/complete",
        AgentToClient,
        Some("clientCapabilities.elicitation.url"),
    ),
    MethodInfo::request(
        "elicitation/create",
        AgentToClient,
        Some("clientCapabilities.elicitation.form or .url"),
    ),
    MethodInfo::request("fs/read_text_file", AgentToClient, Some("clientCapabilities.fs.readTextFile")),
    MethodInfo::request("fs/write_text_file", AgentToClient, Some("clientCapabilities.fs.writeTextFile")),
    MethodInfo::request("session/request_permission", AgentToClient, None),
    MethodInfo::notification("session/update", AgentToClient, None),
    MethodInfo::request("terminal/create", AgentToClient, Some("clientCapabilities.terminal")),
    MethodInfo::request("terminal/kill", AgentToClient, Some("clientCapabilities.terminal")),
    MethodInfo::request("terminal/output", AgentToClient, Some("clientCapabilities.terminal")),
    MethodInfo::request("terminal/release", AgentToClient, Some("clientCapabilities.terminal")),
    MethodInfo::request("terminal/wait_for_exit", AgentToClient, Some("clientCapabilities.terminal")),
    MethodInfo::notification("$/cancel_request", Both, None),
];
