//! What a request must obey whatever the agent does with it.

use std::path::{Path, PathBuf};

use agentwire_acp_schema::v1::{
    AgentCapabilities, AuthMethod, AuthMethodId, ClientCapabilities, ContentBlock, McpServer,
    SessionConfigOptionValue,
};

use crate::Error;
use crate::outgoing::takes_booleans;

/// How many characters of what a client sent are repeated in an error.
const REPEATED: usize = 200;

/// What a client sent, as it is repeated in an error: quoted, and its beginning where it is long.
pub(crate) fn repeated(text: &str) -> String {
    match text.char_indices().nth(REPEATED) {
        Some((end, _)) => format!("{:?}… ({} bytes)", &text[..end], text.len()),
        None => format!("{text:?}"),
    }
}

/// Whether a path is absolute, here or on a system of another kind: client and agent may run on two.
pub(crate) fn is_absolute(path: &Path) -> bool {
    match path.as_os_str().as_encoded_bytes() {
        [b'/', ..] | [b'\\', b'\\', ..] => true,
        [drive, b':', b'/' | b'\\', ..] => drive.is_ascii_alphabetic(),
        _ => path.is_absolute(),
    }
}

/// Whether a path holds a NUL. No system has such paths: a call that is given one fails, or takes what precedes the NUL.
pub(crate) fn holds_nul(path: &Path) -> bool {
    path.as_os_str().as_encoded_bytes().contains(&0)
}

/// Checks paths that a request holds: they are absolute, and hold no NUL.
pub(crate) fn absolute<'a>(what: &str, paths: impl IntoIterator<Item = &'a Path>) -> Result<(), Error> {
    paths.into_iter().try_for_each(|path| {
        let shown = || repeated(&path.to_string_lossy());
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
pub(crate) fn auth_method(id: &AuthMethodId, offered: &[AuthMethod]) -> Result<(), Error> {
    match offered.iter().find(|method| method.id().as_deref() == Some(id)) {
        Some(AuthMethod::Terminal(_)) => {
            let id = repeated(id);
            Err(Error::invalid_params(format_args!("the client carries out the method {id} by itself")))
        }
        Some(_) => Ok(()),
        None => {
            Err(Error::invalid_params(format_args!("this agent did not offer the method {}", repeated(id))))
        }
    }
}

/// A boolean is set only by a client that said that it takes such options: no other was offered one.
pub(crate) fn option_value(
    value: &SessionConfigOptionValue,
    client: &ClientCapabilities,
) -> Result<(), Error> {
    if matches!(value, SessionConfigOptionValue::Boolean(_)) && !takes_booleans(client) {
        let why = "boolean options are for clients with the capability session.configOptions.boolean";
        return Err(Error::invalid_params(why));
    }
    Ok(())
}

/// The roots and servers that a session is set up with.
pub(crate) fn session_setup(
    cwd: &Path,
    directories: &[PathBuf],
    servers: &[McpServer],
    agent: &AgentCapabilities,
) -> Result<(), Error> {
    absolute("cwd", [cwd])?;
    absolute("each of additionalDirectories", directories.iter().map(PathBuf::as_path))?;
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_repeat_the_beginning_of_what_is_long() {
        let nul = format!("/{}\0", "\u{7f}".repeat(1 << 20));
        for (path, says) in [("a".repeat(1 << 20), "must be an absolute path"), (nul, "must hold no NUL")] {
            let why = absolute("cwd", [Path::new(&path)]).unwrap_err().message;
            assert!(why.contains(says) && why.len() < 2000, "{} bytes", why.len());
        }
        let why = auth_method(&"m".repeat(1 << 20).into(), &[]).unwrap_err().message;
        assert!(why.contains("this agent did not offer") && why.len() < 1000, "{} bytes", why.len());
        let why = absolute("cwd", [Path::new("a\nb")]).unwrap_err().message;
        assert!(why.ends_with(r#"cwd must be an absolute path, and "a\nb" is not"#), "{why}");
    }
}
