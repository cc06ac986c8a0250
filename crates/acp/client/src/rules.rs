//! Checks of messages against what the other side offered, before they are sent or after they arrive.

use std::path::{Path, PathBuf};

use agentwire_acp_schema::v1::{
    AgentCapabilities, ContentBlock, McpServer, PermissionOptionId, RequestPermissionOutcome,
    SessionConfigKind, SessionConfigOption, SessionConfigOptionValue,
};
use agentwire_jsonrpc::RawObject;

use crate::Error;
use crate::session::options::{Options, Value, Values};

pub(crate) fn advertised(capability: &str, has: bool) -> Result<(), String> {
    if has { Ok(()) } else { Err(format!("the agent did not advertise the capability {capability}")) }
}

/// Paths that cross the wire hold no NUL and are absolute, here or on a system of another kind: the agent may run on one.
pub(crate) fn absolute<'a>(paths: impl IntoIterator<Item = &'a Path>) -> Result<(), String> {
    let is_absolute = |path: &Path| match path.as_os_str().as_encoded_bytes() {
        [b'/', ..] | [b'\\', b'\\', ..] => true,
        [drive, b':', b'/' | b'\\', ..] => drive.is_ascii_alphabetic(),
        _ => path.is_absolute(),
    };
    paths.into_iter().try_for_each(|path| {
        if !is_absolute(path) {
            return Err(format!("paths are absolute, and {path:?} is not"));
        }
        if path.as_os_str().as_encoded_bytes().contains(&0) {
            return Err(format!("paths hold no NUL, and {path:?} does"));
        }
        Ok(())
    })
}

/// Returns whether a server of an unknown type is of the draft's type `acp`.
pub(crate) fn names_acp(server: &RawObject) -> bool {
    server.text("type").as_deref() == Some("acp")
}

/// Checks the directories and MCP servers of a request that opens a session.
pub(crate) fn session_setup(
    cwd: &Path,
    directories: &[PathBuf],
    servers: &[McpServer],
    agent: &AgentCapabilities,
) -> Result<(), String> {
    absolute(std::iter::once(cwd).chain(directories.iter().map(PathBuf::as_path)))?;
    if !directories.is_empty() {
        let capability = &agent.session_capabilities.additional_directories;
        advertised("sessionCapabilities.additionalDirectories", capability.is_some())?;
    }
    for server in servers {
        match server {
            McpServer::Http(_) => advertised("mcpCapabilities.http", agent.mcp_capabilities.http)?,
            McpServer::Sse(_) => advertised("mcpCapabilities.sse", agent.mcp_capabilities.sse)?,
            McpServer::Stdio(server) => absolute([Path::new(&server.command)])?,
            // A type of a draft; the agent decides about other unknown types.
            McpServer::Unknown(server) if names_acp(server) => {
                let acp = agent.mcp_capabilities.extra.get("acp");
                advertised("mcpCapabilities.acp", acp.is_some_and(|acp| acp.as_str() == "true"))?;
            }
            _ => {}
        }
    }
    Ok(())
}

/// Checks that the agent has advertised every kind of content in a prompt.
pub(crate) fn prompt(blocks: &[ContentBlock], agent: &AgentCapabilities) -> Result<(), String> {
    let takes = &agent.prompt_capabilities;
    for block in blocks {
        match block {
            ContentBlock::Image(_) => advertised("promptCapabilities.image", takes.image)?,
            ContentBlock::Audio(_) => advertised("promptCapabilities.audio", takes.audio)?,
            ContentBlock::Resource(_) => {
                advertised("promptCapabilities.embeddedContext", takes.embedded_context)?;
            }
            _ => {}
        }
    }
    Ok(())
}

/// Checks that the selected option was offered. Any other is a fault of the client, and no consent.
pub(crate) fn chosen(
    outcome: &RequestPermissionOutcome,
    offered: &[PermissionOptionId],
) -> Result<(), Error> {
    match outcome {
        RequestPermissionOutcome::Selected(selected) => chosen_option(&selected.option_id, offered),
        _ => Ok(()),
    }
}

pub(crate) fn chosen_option(
    chosen: &PermissionOptionId,
    offered: &[PermissionOptionId],
) -> Result<(), Error> {
    if offered.contains(chosen) {
        Ok(())
    } else {
        Err(Error::internal_error("the client chose an option that was not offered"))
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
    options.iter().map(|option| (option.id.clone(), values(option))).collect()
}

/// Returns the value that an option is set to, for either version.
pub(crate) fn value(value: &SessionConfigOptionValue) -> Value<'_> {
    match value {
        SessionConfigOptionValue::ValueId(id) => Value::Id(id),
        SessionConfigOptionValue::Boolean(_) => Value::Boolean,
        _ => Value::Unknown,
    }
}
