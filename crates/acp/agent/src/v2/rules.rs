//! Checks of requests before the agent's method is called.

use agentwire_acp_schema::v2::error_code::{RESOURCE_NOT_FOUND, UNSUPPORTED_PROTOCOL_VERSION};
use agentwire_acp_schema::v2::{
    AbsolutePath, AuthMethod, AuthMethodId, ContentBlock, McpServer, ProtocolVersion, ReplayFrom,
    SessionCapabilities, SessionId, SessionNotFoundErrorData, SetSessionConfigOptionRequest,
    UnsupportedProtocolVersionErrorData,
};

use super::outgoing;
use super::sessions::Sessions;
use crate::Error;
use crate::rules::{check_absolute, quoted};

/// Returns the error for a request that names a session which does not exist or is not active.
pub fn session_not_found(session: &SessionId) -> Error {
    Error::new(RESOURCE_NOT_FOUND, format!("there is no session {}", quoted(session)))
        .with_data(&SessionNotFoundErrorData::new(session))
}

/// Returns the error for a client whose version is lower than every version that the agent supports.
pub(crate) fn unsupported(requested: ProtocolVersion, supported: &[ProtocolVersion]) -> Error {
    let why = format!("version {requested} of the protocol is not supported");
    let data = UnsupportedProtocolVersionErrorData::new(requested, supported);
    Error::new(UNSUPPORTED_PROTOCOL_VERSION, why).with_data(&data)
}

/// Checks that a session is neither closed nor being closed.
pub(crate) fn check_takes_work(session: &SessionId, sessions: &Sessions) -> Result<(), Error> {
    sessions.check_takes_work(session).map_err(|_| session_not_found(session))
}

/// Checks that the session has the option and its value.
pub(crate) fn check_option(
    request: &SetSessionConfigOptionRequest,
    sessions: &Sessions,
) -> Result<(), Error> {
    check_takes_work(&request.session_id, sessions)?;
    match sessions.options(&request.session_id) {
        Some(options) => outgoing::can_be_set(request, &options).map_err(Error::invalid_params),
        None => Ok(()),
    }
}

/// Checks that the last update of a call or terminal allowed cancelling it.
pub(crate) fn check_can_cancel(what: &str, id: &str, can: bool) -> Result<(), Error> {
    if can {
        return Ok(());
    }
    Err(Error::invalid_params(format_args!("the {what} {id:?} cannot be cancelled")))
}

/// `auth/login` names a method that was offered, and not one that the client carries out by itself.
pub(crate) fn check_auth_method(id: &AuthMethodId, offered: &[AuthMethod]) -> Result<(), Error> {
    match offered.iter().find(|method| method.method_id().as_deref() == Some(id)) {
        Some(AuthMethod::Terminal(_)) => {
            let id = quoted(id);
            Err(Error::invalid_params(format_args!("the client carries out the method {id} by itself")))
        }
        Some(_) => Ok(()),
        None => {
            Err(Error::invalid_params(format_args!("this agent did not offer the method {}", quoted(id))))
        }
    }
}

/// Checks the directories and MCP servers of a request that opens a session.
pub(crate) fn check_session_setup(
    cwd: &AbsolutePath,
    directories: &[AbsolutePath],
    servers: &[McpServer],
    session: Option<&SessionCapabilities>,
) -> Result<(), Error> {
    check_absolute("cwd", [cwd])?;
    check_absolute("each of additionalDirectories", directories)?;
    let takes_directories = session.is_some_and(|session| session.additional_directories.is_some());
    if !directories.is_empty() && !takes_directories {
        let why = "this agent takes no additional directories (session.additionalDirectories)";
        return Err(Error::invalid_params(why));
    }
    let takes = session.and_then(|session| session.mcp.as_ref());
    for server in servers {
        let (kind, offered) = match server {
            McpServer::Http(_) => ("http", takes.is_some_and(|mcp| mcp.http.is_some())),
            McpServer::Stdio(server) => {
                check_absolute("the command of an MCP server", [&server.command])?;
                ("stdio", takes.is_some_and(|mcp| mcp.stdio.is_some()))
            }
            _ => return Err(Error::invalid_params("mcpServers: there is one of an unknown type")),
        };
        if !offered {
            return Err(Error::invalid_params(format_args!(
                "mcpServers: this agent does not take {kind} servers (session.mcp.{kind})"
            )));
        }
    }
    Ok(())
}

/// Checks that the agent can begin a replay at the requested position.
pub(crate) fn check_replay(from: Option<&ReplayFrom>) -> Result<(), Error> {
    match from {
        None | Some(ReplayFrom::Start(_)) => Ok(()),
        Some(_) => Err(Error::invalid_params("replayFrom: a replay cannot begin there")),
    }
}

/// Checks that a prompt is not empty and that the agent has advertised every kind of its content.
pub(crate) fn check_prompt(
    blocks: &[ContentBlock],
    session: Option<&SessionCapabilities>,
) -> Result<(), Error> {
    if blocks.is_empty() {
        return Err(Error::invalid_params("prompt: there must be a block"));
    }
    let takes = session.and_then(|session| session.prompt.as_ref());
    for block in blocks {
        let (kind, offered) = match block {
            ContentBlock::Text(_) | ContentBlock::ResourceLink(_) => continue,
            ContentBlock::Image(_) => ("image", takes.is_some_and(|takes| takes.image.is_some())),
            ContentBlock::Audio(_) => ("audio", takes.is_some_and(|takes| takes.audio.is_some())),
            ContentBlock::Resource(_) => {
                ("embeddedContext", takes.is_some_and(|takes| takes.embedded_context.is_some()))
            }
            _ => return Err(Error::invalid_params("prompt: there is a block of an unknown type")),
        };
        if !offered {
            return Err(Error::invalid_params(format_args!(
                "prompt: this agent does not take such content (session.prompt.{kind})"
            )));
        }
    }
    Ok(())
}
