//! `--mcp NAME=TARGET` as the session's MCP servers.

use agentwire_acp_schema::v1::{McpServer, McpServerHttp, McpServerStdio};
use anyhow::{Context as _, Result, bail};

use crate::arguments::NamedTarget;

/// The session's servers: those that were named, or our own one for our own agent.
pub(super) fn all(named: &[NamedTarget], our_agent: bool) -> Result<Vec<McpServer>> {
    if named.is_empty() && our_agent {
        let ourselves = std::env::current_exe().context("our own program cannot be found")?;
        let ourselves = ourselves.to_str().context("the path of our own program is not UTF-8")?;
        return Ok(vec![McpServerStdio::new("demo", ourselves).args(["server"]).into()]);
    }
    named.iter().map(server).collect()
}

/// What a session is told about a server: its URL, or its command with the program's absolute path.
fn server(named: &NamedTarget) -> Result<McpServer> {
    let NamedTarget { name, target } = named;
    if target.starts_with("http://") || target.starts_with("https://") {
        return Ok(McpServerHttp::new(name, target).into());
    }
    let words = shell_words::split(target).with_context(|| format!("--mcp {name}"))?;
    let Some((program, arguments)) = words.split_first() else {
        bail!("--mcp {name}: no command");
    };
    let program = which::which(program).with_context(|| format!("--mcp {name}: {program}"))?;
    let program = std::path::absolute(program)?;
    let program = program.to_str().with_context(|| format!("--mcp {name}: the path is not UTF-8"))?;
    Ok(McpServerStdio::new(name, program).args(arguments.iter().cloned()).into())
}
