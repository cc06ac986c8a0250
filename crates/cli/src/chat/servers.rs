//! The session's MCP servers, from `--mcp NAME=TARGET`, `--header` and `--header-file`.

use std::path::{Path, PathBuf};

use agentwire_acp_schema::v1::{HttpHeader, McpServer, McpServerHttp, McpServerStdio};
use agentwire_mcp_hub::Target;
use anyhow::{Context as _, Result, bail};

use crate::failure::Usage;
use crate::headers::{Header, Secret, add_headers};
use crate::text::Notes;
use crate::values::{NamedTarget, NamedValue};

/// The headers of a server, by its name.
pub(super) struct NamedHeaders(Vec<(String, Header)>);

impl NamedHeaders {
    /// Reads `NAME=HEADER: VALUE` and `NAME=FILE`.
    pub(super) fn read(headers: &[Secret], files: &[NamedValue]) -> Result<Self> {
        let wrong =
            || Usage("--header: write NAME=HEADER: VALUE, as in 'web=Authorization: Bearer …'".into());
        let mut all = Vec::new();
        for Secret(text) in headers {
            let (server, header) = text.split_once('=').ok_or_else(wrong)?;
            all.push((server.to_owned(), Header::parse(header).ok_or_else(wrong)?));
        }
        for NamedValue { id, value } in files {
            all.extend(Header::read_file(Path::new(value))?.into_iter().map(|header| (id.clone(), header)));
        }
        Ok(Self(all))
    }
}

/// The session's servers: the named ones. Without any, our own agent gets our own server.
pub(super) fn all(
    named: &[NamedTarget],
    NamedHeaders(headers): &NamedHeaders,
    our_agent: bool,
    notes: &Notes,
) -> Result<Vec<McpServer>> {
    let is_named = |(server, _): &&(String, Header)| named.iter().any(|named| named.name == *server);
    if let Some((server, _)) = headers.iter().find(|header| !is_named(header)) {
        return Err(Usage(format!("--header: no --mcp has the name `{server}`")).into());
    }
    if named.is_empty() && our_agent {
        let ourselves = std::env::current_exe().context("our own program cannot be found")?;
        let ourselves = ourselves.to_str().context("the path of our own program is not UTF-8")?;
        return Ok(vec![McpServerStdio::new("demo", ourselves).args(["server"]).into()]);
    }
    let headers_of = |name: &str| {
        headers.iter().filter(|(server, _)| server == name).map(|(_, header)| header.clone()).collect()
    };
    named.iter().map(|server| one(server, headers_of(&server.name), notes)).collect()
}

/// A server for `session/new`: its URL with headers, or its command with the program's absolute path.
fn one(named: &NamedTarget, headers: Vec<Header>, notes: &Notes) -> Result<McpServer> {
    let NamedTarget { name, target: url } = named;
    match Target::parse(url) {
        Ok(Target::Http(target)) => {
            // The agent sends the headers. They are checked here, where the error can name the argument.
            add_headers(target, url, &headers, notes)?;
            let mut server = McpServerHttp::new(name, url);
            server.headers =
                headers.iter().map(|header| HttpHeader::new(&header.name, &header.value)).collect();
            Ok(server.into())
        }
        _ if headers.is_empty() => local(name, url),
        _ => {
            Err(Usage(format!("--header: `{name}` is no server at a URL, and only those take headers"))
                .into())
        }
    }
}

fn local(name: &str, command: &str) -> Result<McpServer> {
    let words = shell_words::split(command).with_context(|| format!("--mcp {name}"))?;
    let Some((program, arguments)) = words.split_first() else {
        bail!("--mcp {name}: no command");
    };
    let program = find(program).with_context(|| format!("--mcp {name}: {program}: no such program"))?;
    let program = std::path::absolute(program)?;
    let program = program.to_str().with_context(|| format!("--mcp {name}: the path is not UTF-8"))?;
    Ok(McpServerStdio::new(name, program).args(arguments.iter().cloned()).into())
}

/// The path of a program: a name without `/` is looked for in `PATH`, as a shell does it.
#[cfg(unix)]
fn find(program: &str) -> Option<PathBuf> {
    let is_program =
        |path: &PathBuf| path.is_file() && rustix::fs::access(path, rustix::fs::Access::EXEC_OK).is_ok();
    if program.contains('/') {
        return Some(PathBuf::from(program)).filter(is_program);
    }
    let folders = std::env::var_os("PATH")?;
    std::env::split_paths(&folders).map(|folder| folder.join(program)).find(is_program)
}

#[cfg(not(unix))]
fn find(program: &str) -> Option<PathBuf> {
    which::which(program).ok()
}

#[cfg(all(test, unix))]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn only_what_can_be_executed_is_a_program() {
        assert!(find("sh").is_some_and(|path| path.is_absolute() && path.ends_with("sh")));
        assert_eq!(find("no-such-program-anywhere"), None);
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(find(folder.path().to_str().unwrap()), None, "a folder");
        let file = folder.path().join("run");
        fs::write(&file, "").unwrap();
        assert_eq!(find(file.to_str().unwrap()), None, "a file");
        fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
        assert_eq!(find(file.to_str().unwrap()), Some(file));
    }
}
