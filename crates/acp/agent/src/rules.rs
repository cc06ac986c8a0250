//! Checks of requests before the agent's method is called.

use std::path::{Path, PathBuf};

use agentwire_acp_schema::v1::{
    AgentCapabilities, AuthMethod, AuthMethodId, ClientCapabilities, ContentBlock, McpServer,
    SessionConfigOptionValue,
};

use crate::Error;
use crate::outgoing::takes_booleans;
use crate::path::{holds_nul, is_absolute};

/// How many characters of the client's text an error repeats.
const QUOTED_CHARS: usize = 200;

/// Returns the client's text for an error: quoted, and shortened to its beginning where it is long.
pub(crate) fn quoted(text: &str) -> String {
    match text.char_indices().nth(QUOTED_CHARS) {
        Some((end, _)) => format!("{:?}… ({} bytes)", &text[..end], text.len()),
        None => format!("{text:?}"),
    }
}

/// Checks paths that a request holds: they are absolute, and hold no NUL.
pub(crate) fn check_absolute<'a, P: AsRef<Path> + ?Sized + 'a>(
    what: &str,
    paths: impl IntoIterator<Item = &'a P>,
) -> Result<(), Error> {
    paths.into_iter().map(AsRef::as_ref).try_for_each(|path| {
        let shown = || quoted(&path.to_string_lossy());
        if !is_absolute(path) {
            let why = format_args!("{what} must be an absolute path, and {} is not", shown());
            return Err(Error::invalid_params(why));
        }
        if holds_nul(path) {
            return Err(Error::invalid_params(format_args!("{what} must hold no NUL, and {} does", shown())));
        }
        Ok(())
    })
}

/// `authenticate` names a method that was offered, and not one that the client carries out by itself.
pub(crate) fn check_auth_method(id: &AuthMethodId, offered: &[AuthMethod]) -> Result<(), Error> {
    match offered.iter().find(|method| method.id().as_deref() == Some(id)) {
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

/// Checks that only a client that advertised boolean options sets one.
pub(crate) fn check_option_value(
    value: &SessionConfigOptionValue,
    client: &ClientCapabilities,
) -> Result<(), Error> {
    if matches!(value, SessionConfigOptionValue::Boolean(_)) && !takes_booleans(client) {
        let why = "boolean options are for clients with the capability session.configOptions.boolean";
        return Err(Error::invalid_params(why));
    }
    Ok(())
}

/// Checks the directories and MCP servers of a request that opens a session.
pub(crate) fn check_session_setup(
    cwd: &Path,
    directories: &[PathBuf],
    servers: &[McpServer],
    agent: &AgentCapabilities,
) -> Result<(), Error> {
    check_absolute("cwd", [cwd])?;
    check_absolute("each of additionalDirectories", directories)?;
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

/// Checks that the agent has advertised every kind of content in a prompt.
pub(crate) fn check_prompt(blocks: &[ContentBlock], agent: &AgentCapabilities) -> Result<(), Error> {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_shorten_long_text_of_the_client() {
        let nul = format!("/{}\0", "\u{7f}".repeat(1 << 20));
        for (path, says) in [("a".repeat(1 << 20), "must be an absolute path"), (nul, "must hold no NUL")] {
            let why = check_absolute("cwd", [Path::new(&path)]).unwrap_err().message;
            assert!(why.contains(says) && why.len() < 2000, "{} bytes", why.len());
        }
        let why = check_auth_method(&"m".repeat(1 << 20).into(), &[]).unwrap_err().message;
        assert!(why.contains("this agent did not offer") && why.len() < 1000, "{} bytes", why.len());
        let why = check_absolute("cwd", [Path::new("a\nb")]).unwrap_err().message;
        assert!(why.ends_with(r#"cwd must be an absolute path, and "a\nb" is not"#), "{why}");
    }
}
