//! Finds servers by their names in configuration files: `.mcp.json`, those of Claude, Cursor and VS Code, and our own.

mod path;

use std::path::Path;

use agentwire_jsonrpc::{WithCauses, did_you_mean};
use agentwire_mcp_hub::{McpConfig, McpConfigReader, ServerConfig, Target};
use anyhow::Result;

use self::path::{FileAndName, base_folder, check_file, file_and_name, no_such_file};
use crate::config::Config;
use crate::failure::Usage;
use crate::output::text::{Notes, beginning};
use crate::programs;
use crate::target::checked_target;

/// The longest file: 8 MiB. Those of editors hold more than servers.
const FILE_LIMIT: usize = 8 << 20;

/// The most names of servers that an error lists.
const LISTED_NAMES: usize = 20;

/// The most bytes of a server's name that an error shows.
const NAME_LIMIT: usize = 100;

/// Resolves a target of the command line: a server of our own configuration, `FILE` or `FILE:NAME`, a URL, or a
/// command line.
pub(crate) fn resolve(text: &str, config: &Config, notes: &Notes) -> Result<Target> {
    let text = text.trim();
    if let Some(target) = config.server(text)? {
        return Ok(target);
    }
    match file_and_name(text)? {
        Some(FileAndName { path, name }) => Ok(one(path, name, notes)?.target),
        None => {
            let target = checked_target(text)?;
            config.check_server(text)?;
            check_file(text)?;
            Ok(target)
        }
    }
}

/// The server of that name, or the only one.
fn one(path: &Path, name: Option<&str>, notes: &Notes) -> Result<ServerConfig, Usage> {
    let names = read(path, reader(path).select(|_| false))?.unselected().to_vec();
    let is_there = |name: &str| names.iter().any(|other| other == name);
    let name = match (name, names.as_slice()) {
        (Some(name), _) if is_there(name) => name.to_owned(),
        (None, [only]) => only.clone(),
        (Some(name), names) => {
            let meant = did_you_mean(name, names.iter().map(String::as_str));
            let name = beginning(name, NAME_LIMIT);
            return Err(Usage(format!("{}: no server `{name}`; {}{meant}", path.display(), listed(names))));
        }
        (None, []) => return Err(Usage(format!("{}: it names no servers", path.display()))),
        (None, names) => {
            let example = beginning(&names[0], NAME_LIMIT);
            let file = path.display();
            return Err(Usage(format!(
                "{file}: {}; write one of them, as in {file}:{example}",
                listed(names)
            )));
        }
    };
    let wanted = name.clone();
    let config = read(path, reader(path).select(move |other| other == wanted))?;
    warn(path, &config, notes);
    let server = config.into_servers().into_iter().next();
    let server = server.ok_or_else(|| {
        Usage(format!("{}: the server `{}` is disabled", path.display(), beginning(&name, NAME_LIMIT)))
    })?;
    check_command(path, &server)?;
    Ok(server)
}

/// Refuses a whole command line in the place of a program: editors have the arguments in a list.
fn check_command(path: &Path, server: &ServerConfig) -> Result<(), Usage> {
    let Target::Stdio(command) = &server.target else { return Ok(()) };
    let program = command.program().to_string_lossy();
    let is_line = command.arguments().is_empty() && program.contains(char::is_whitespace);
    if !is_line || Path::new(&*program).exists() || programs::find(&program).is_some() {
        return Ok(());
    }
    let (file, name) = (path.display(), beginning(&server.name, NAME_LIMIT));
    let why = "its `command` is a whole command line; write the program there, and its arguments in `args`";
    Err(Usage(format!("{file}: server `{name}`: {why}")))
}

/// All servers of a file that are not disabled.
pub(crate) fn all(path: &Path, notes: &Notes) -> Result<Vec<ServerConfig>> {
    if !path.exists() {
        return Err(no_such_file(path).into());
    }
    let config = read(path, reader(path))?;
    warn(path, &config, notes);
    let servers = config.into_servers();
    servers.iter().try_for_each(|server| check_command(path, server))?;
    Ok(servers)
}

fn reader(path: &Path) -> McpConfigReader {
    let base = base_folder(path);
    McpConfigReader::new().size_limit(FILE_LIMIT).workspace_folder(base.clone()).base_folder(base)
}

fn read(path: &Path, reader: McpConfigReader) -> Result<McpConfig, Usage> {
    reader.read(path).map_err(|error| Usage(WithCauses::new(&error).to_string()))
}

/// Warns of members of servers that are ignored. Other members of the file are settings of other programs.
fn warn(path: &Path, config: &McpConfig, notes: &Notes) {
    for warning in config.warnings().iter().filter(|warning| warning.server.is_some()) {
        notes.add(&format!("warning: {}: {warning}", path.display()));
    }
}

/// The names of servers, as a sentence.
fn listed(names: &[String]) -> String {
    let shown: Vec<_> = names.iter().take(LISTED_NAMES).map(|name| beginning(name, NAME_LIMIT)).collect();
    let more = match names.len().saturating_sub(LISTED_NAMES) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    if names.is_empty() { "it has none".into() } else { format!("it has {}{more}", shown.join(", ")) }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_server_is_found_by_its_file_and_its_name() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(".mcp.json");
        let file = path.to_str().unwrap();
        let found = |text: &str| match resolve(text, &Config::default(), &Notes::new()) {
            Ok(Target::Stdio(command)) => {
                Ok((command.program().to_owned(), command.directory().map(Path::to_owned)))
            }
            Ok(other) => panic!("{other:?}"),
            Err(error) => Err(error.downcast::<Usage>().unwrap().0.replace(file, "FILE")),
        };
        let base = folder.path().canonicalize().unwrap();
        let two = r#"{ "mcpServers": { // two
            "a:b": { "command": "./bin/a" }, "c": { "command": "c", "cwd": "d", "env": { "T": "${UNSET_T}" } },
            "off": { "command": "c", "disabled": true }, } }"#;
        fs::write(&path, two).unwrap();
        assert_eq!(found(&format!("{file}:a:b")), Ok((base.join("./bin/a").into(), Some(base.clone()))));
        assert_eq!(found(file), Err("FILE: it has a:b, c, off; write one of them, as in FILE:a:b".into()));
        assert_eq!(found(&format!("{file}:x")), Err("FILE: no server `x`; it has a:b, c, off".into()));
        assert_eq!(found(&format!("{file}:off")), Err("FILE: the server `off` is disabled".into()));
        let unset = "\"FILE\": server \"c\": member \"env.T\": the variable \"UNSET_T\" is not set, and has no default, as in `${NAME:-default}`";
        assert_eq!(found(&format!("{file}:c")), Err(unset.into()));
        fs::write(&path, r#"{ "servers": { "only": { "command": "x" } }, "inputs": [] }"#).unwrap();
        assert_eq!(found(file), Ok(("x".into(), Some(base))));
        fs::write(&path, r#"{ "servers": { "a": { "command": "python3 /x/srv.py a" } } }"#).unwrap();
        let line = "FILE: server `a`: its `command` is a whole command line; write the program there, and its arguments in `args`";
        assert_eq!(found(file), Err(line.into()));
        fs::write(&path, r#"{ "servers": {} }"#).unwrap();
        assert_eq!(found(file), Err("FILE: it names no servers".into()));
        fs::write(&path, "[").unwrap();
        assert_eq!(found(file), Err("\"FILE\": it is not JSON: line 1, column 1".into()));
        fs::remove_file(&path).unwrap();
        assert_eq!(found(file), Err("FILE: there is no such file".into()));
    }
}
