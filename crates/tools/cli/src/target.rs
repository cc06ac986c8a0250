//! Checks a target before anything is started.

pub(crate) mod program_stderr;
pub(crate) mod text_lines;

use std::path::Path;

use agentwire_mcp_hub::Target;
use anyhow::Result;

use crate::command_line;
use crate::failure::{Usage, is_launcher};
use crate::output::text::one_line;

/// Reads a target: a URL, or a command line.
///
/// # Errors
///
/// When it is a URL without its scheme, or a program that is not a server without arguments.
pub(crate) fn checked_target(text: &str) -> Result<Target> {
    if let Some(url) = without_scheme(text) {
        return Err(Usage(format!("`{}` has no scheme; write {}", one_line(text), one_line(&url))).into());
    }
    let target = command_line::target(text).map_err(Usage)?;
    match &target {
        Target::Stdio(command) if command.arguments().is_empty() && is_launcher(command) => {
            let name = one_line(text);
            Err(Usage(format!(
                "`{name}` alone is not a server; quote the whole command line, as in '{name} PACKAGE', or put -- before it"
            ))
            .into())
        }
        _ => Ok(target),
    }
}

/// The URL for a text such as `localhost:8080/mcp`, if no such file exists.
fn without_scheme(text: &str) -> Option<String> {
    let authority = text.split('/').next()?;
    let (host, port) = authority.rsplit_once(':')?;
    let is_host = !host.is_empty() && host.chars().all(|c| c.is_ascii_alphanumeric() || "-.[]:".contains(c));
    let is_port = port.parse::<u16>().is_ok();
    if !is_host || !is_port || Path::new(host).exists() || Path::new(text).exists() {
        return None;
    }
    let is_near = matches!(host, "localhost" | "[::1]") || host.starts_with("127.");
    Some(format!("{}://{text}", if is_near { "http" } else { "https" }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(text: &str) -> Option<String> {
        checked_target(text).err().map(|error| error.to_string())
    }

    #[test]
    fn a_url_without_a_scheme_is_not_a_command() {
        assert_eq!(
            refused("localhost:8080/mcp").as_deref(),
            Some("`localhost:8080/mcp` has no scheme; write http://localhost:8080/mcp")
        );
        assert_eq!(
            refused("mcp.example:443").as_deref(),
            Some("`mcp.example:443` has no scheme; write https://mcp.example:443")
        );
        assert_eq!(
            refused("[::1]:80/mcp").as_deref(),
            Some("`[::1]:80/mcp` has no scheme; write http://[::1]:80/mcp")
        );
        for text in
            ["my-server", "my-server --at localhost:80", "http://localhost:80", "a:b", "servers.json:name"]
        {
            assert_eq!(refused(text), None, "{text}");
        }
    }

    #[test]
    fn a_launcher_alone_is_not_a_server() {
        let text = "`npx` alone is not a server; quote the whole command line, as in 'npx PACKAGE', or put -- before it";
        assert_eq!(refused("npx").as_deref(), Some(text));
        assert_eq!(refused("npx server"), None);
    }
}
