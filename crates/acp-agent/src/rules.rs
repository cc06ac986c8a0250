//! What a request must obey whatever the agent does with it.

use std::path::{Path, PathBuf};

use agentwire_acp_schema::v1::{AgentCapabilities, ContentBlock, McpServer};

use crate::Error;

/// Paths that cross the wire are absolute.
pub(crate) fn absolute(what: &str, path: &Path) -> Result<(), Error> {
    if path.is_absolute() {
        Ok(())
    } else {
        Err(Error::invalid_params(format_args!("{what} must be an absolute path, and {path:?} is not")))
    }
}

/// The roots and servers that a session is set up with.
pub(crate) fn session_setup(
    cwd: &Path,
    directories: &[PathBuf],
    servers: &[McpServer],
    agent: &AgentCapabilities,
) -> Result<(), Error> {
    absolute("cwd", cwd)?;
    for directory in directories {
        absolute("each of additionalDirectories", directory)?;
    }
    for server in servers {
        let (kind, offered) = match server {
            McpServer::Http(_) => ("http", agent.mcp_capabilities.http),
            McpServer::Sse(_) => ("sse", agent.mcp_capabilities.sse),
            _ => continue,
        };
        if !offered {
            return Err(Error::invalid_params(format_args!(
                "mcpServers: this agent does not take {kind} servers (mcpCapabilities.{kind})"
            )));
        }
    }
    Ok(())
}

/// A prompt holds only what the agent said it takes.
pub(crate) fn prompt(blocks: &[ContentBlock], agent: &AgentCapabilities) -> Result<(), Error> {
    let takes = &agent.prompt_capabilities;
    for block in blocks {
        let (kind, offered) = match block {
            ContentBlock::Image(_) => ("image", takes.image),
            ContentBlock::Audio(_) => ("audio", takes.audio),
            ContentBlock::Resource(_) => ("embeddedContext", takes.embedded_context),
            _ => continue,
        };
        if !offered {
            return Err(Error::invalid_params(format_args!(
                "prompt: this agent does not take such content (promptCapabilities.{kind})"
            )));
        }
    }
    Ok(())
}
