//! The session's MCP servers, from `--mcp NAME=TARGET`, `--mcp-config`, `--header` and `--header-file`.

use std::path::Path;

use agentwire_acp_schema::v1::{McpServer, McpServerStdio};
use agentwire_jsonrpc::did_you_mean;
use agentwire_mcp_hub::{ServerConfig, Target};
use anyhow::{Context as _, Result};

use super::session_server::session_server;
use crate::arguments;
use crate::arguments::headers::{Header, Secret, add_headers};
use crate::arguments::values::{NamedTarget, NamedValue};
use crate::config::Config;
use crate::failure::Usage;
use crate::mcp_config;
use crate::output::text::Notes;

/// Headers with the names of their servers.
struct NamedHeaders(Vec<(String, Header)>);

impl NamedHeaders {
    /// Reads `NAME=HEADER: VALUE` and `NAME=FILE`.
    fn read(headers: &[Secret], files: &[NamedValue]) -> Result<Self> {
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

/// The session's servers: those of `--mcp`, and all of the files of `--mcp-config`. Without any, our own agent gets our own
/// server.
pub(in crate::chat) fn all(
    arguments: &arguments::Chat,
    our_agent: bool,
    config: &Config,
    notes: &Notes,
) -> Result<Vec<McpServer>> {
    let NamedHeaders(headers) = NamedHeaders::read(&arguments.headers, &arguments.header_files)?;
    let cwd = std::path::absolute(arguments.cwd.as_deref().unwrap_or(Path::new(".")))?;
    let mut found = Vec::new();
    for NamedTarget { name, target: text } in &arguments.mcp {
        let server = ServerConfig::new(name, mcp_config::resolve(text, config, notes)?);
        found.push((server, format!("--mcp {name}"), Some(text.as_str())));
    }
    for path in &arguments.mcp_config {
        for server in mcp_config::all(path, notes)? {
            if found.iter().any(|(other, ..)| other.name == server.name) {
                let name = &server.name;
                return Err(Usage(format!(
                    "--mcp-config {}: there are two servers `{name}`",
                    path.display()
                ))
                .into());
            }
            let place = format!("--mcp-config {}: {}", path.display(), server.name);
            found.push((server, place, None));
        }
    }
    let is_named = |name: &str| found.iter().any(|(server, ..)| server.name == name);
    if let Some((server, _)) = headers.iter().find(|(server, _)| !is_named(server)) {
        let meant = did_you_mean(server, found.iter().map(|(known, ..)| &*known.name));
        return Err(Usage(format!("--header: no --mcp has the name `{server}`{meant}")).into());
    }
    if found.is_empty() && our_agent && arguments.mcp_config.is_empty() {
        let ourselves = std::env::current_exe().context("our own program cannot be found")?;
        let ourselves = ourselves.to_str().context("the path of our own program is not UTF-8")?;
        return Ok(vec![McpServerStdio::new("demo", ourselves).args(["server"]).into()]);
    }
    let one = |(ServerConfig { name, target, .. }, place, text): (ServerConfig, String, Option<&str>)| {
        let headers: Vec<_> =
            headers.iter().filter(|(server, _)| *server == name).map(|(_, header)| header.clone()).collect();
        let target = match target {
            Target::Http(target) => {
                // The agent sends the headers. They are checked here, where the error can name the argument.
                let url = text.filter(|text| text.contains("://")).unwrap_or(target.url()).to_owned();
                add_headers(target, &url, &headers, notes)?.into()
            }
            target if headers.is_empty() => target,
            _ => {
                let why = format!("--header: `{name}` is not a server at a URL, and only those take headers");
                return Err(Usage(why).into());
            }
        };
        session_server(&name, &target, &cwd, &place)
    };
    found.into_iter().map(one).collect()
}
