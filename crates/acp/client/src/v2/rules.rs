//! Checks of requests before they are sent.

use agentwire_acp_schema::v2::{
    AbsolutePath, AgentCapabilities, AuthMethod, AuthMethodId, ContentBlock, InitializeResponse, McpServer,
    SessionCapabilities, SessionConfigKind, SessionConfigOption, SessionConfigOptionValue,
};

use crate::rules::{absolute, advertised, names_acp};
use crate::session::options::{Options, Value, Values};

/// Returns the capabilities of the agent's sessions, or an error where it has no sessions.
pub(crate) fn sessions(agent: &AgentCapabilities) -> Result<&SessionCapabilities, String> {
    advertised("session", agent.session.is_some())?;
    agent.session.as_ref().ok_or_else(String::new)
}

/// Checks the directories and MCP servers of a request that opens a session.
pub(crate) fn session_setup(
    cwd: &AbsolutePath,
    directories: &[AbsolutePath],
    servers: &[McpServer],
    agent: &AgentCapabilities,
) -> Result<(), String> {
    let session = sessions(agent)?;
    absolute(std::iter::once(cwd).chain(directories).map(AbsolutePath::as_path))?;
    if !directories.is_empty() {
        advertised("session.additionalDirectories", session.additional_directories.is_some())?;
    }
    let mcp = session.mcp.as_ref();
    for server in servers {
        match server {
            McpServer::Http(_) => advertised("session.mcp.http", mcp.is_some_and(|mcp| mcp.http.is_some()))?,
            McpServer::Stdio(server) => {
                advertised("session.mcp.stdio", mcp.is_some_and(|mcp| mcp.stdio.is_some()))?;
                absolute([server.command.as_path()])?;
            }
            // A type of a draft; the agent decides about other unknown types.
            McpServer::Unknown(server) if names_acp(server) => {
                let acp = mcp.and_then(|mcp| mcp.extra.get("acp"));
                advertised("session.mcp.acp", acp.is_some_and(|acp| acp.as_str().starts_with('{')))?;
            }
            _ => {}
        }
    }
    Ok(())
}

/// Checks that a prompt is not empty and that the agent has advertised every kind of its content.
pub(crate) fn prompt(blocks: &[ContentBlock], agent: &AgentCapabilities) -> Result<(), String> {
    let takes = sessions(agent)?.prompt.as_ref();
    if blocks.is_empty() {
        return Err("a prompt has at least one block".into());
    }
    for block in blocks {
        match block {
            ContentBlock::Image(_) => {
                advertised("session.prompt.image", takes.is_some_and(|takes| takes.image.is_some()))?;
            }
            ContentBlock::Audio(_) => {
                advertised("session.prompt.audio", takes.is_some_and(|takes| takes.audio.is_some()))?;
            }
            ContentBlock::Resource(_) => {
                let has = takes.is_some_and(|takes| takes.embedded_context.is_some());
                advertised("session.prompt.embeddedContext", has)?;
            }
            _ => {}
        }
    }
    Ok(())
}

/// Checks that the agent offers a method to log in.
pub(crate) fn offers_login(response: &InitializeResponse) -> Result<(), String> {
    match response.auth_methods.is_empty() {
        true => Err("the agent offers no way to authenticate".into()),
        false => Ok(()),
    }
}

/// Checks that the agent offers this method to log in and carries it out itself.
pub(crate) fn login(method: &AuthMethodId, response: &InitializeResponse) -> Result<(), String> {
    offers_login(response)?;
    match response.auth_methods.iter().find(|offered| offered.method_id().as_deref() == Some(method)) {
        Some(AuthMethod::Agent(_)) => Ok(()),
        Some(_) => Err("a method that is not of type \"agent\" is used outside of the protocol".into()),
        None => Err("the agent did not offer that method".into()),
    }
}

/// Returns the possible values of each option.
pub(crate) fn options(options: &[SessionConfigOption]) -> Options {
    let values = |option: &SessionConfigOption| match &option.kind {
        SessionConfigKind::Boolean(_) => Values::OnOrOff,
        SessionConfigKind::Select(select) => {
            Values::OneOf(select.options.values().map(|value| value.value.clone()).collect())
        }
        _ => Values::Unknown,
    };
    options.iter().map(|option| (option.config_id.clone(), values(option))).collect()
}

/// Converts a value of version 2 into the type that the check of both versions uses.
pub(crate) fn value(value: &SessionConfigOptionValue) -> Value<'_> {
    match value {
        SessionConfigOptionValue::Id(id) => Value::Id(id),
        SessionConfigOptionValue::Boolean(_) => Value::Boolean,
        _ => Value::Unknown,
    }
}
