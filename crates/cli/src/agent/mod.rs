//! Our ACP agent: it needs no model, and does the same for the same prompt every time.

mod command;
mod offer;
mod tool;
mod turn;

use agentwire_acp_sessions::hub::{Config, Dial, Memory};
use agentwire_acp_sessions::schema::{Implementation, PromptCapabilities};
use agentwire_acp_sessions::{FileStore, SessionAgent, Turn, Warning, agent};
use agentwire_transport_stdio::stdio;
use anyhow::Result;

use self::turn::{Told, Work};
use crate::arguments::Agent;
use crate::text;

/// Serves one client on stdin and stdout.
pub(crate) async fn run(arguments: Agent) -> Result<()> {
    let hub = Config::new()
        .dial(Dial::new().memory(Memory::new()))
        .on_warning(|server, warning| text::note(&format!("MCP server {server}: {warning}")));
    let hub = match arguments.timeout {
        Some(timeout) => hub.connect_limit(timeout).timeout(timeout),
        None => hub,
    };
    let told = Told::default();
    let demo = agent(async |turn: Turn| Work::new(&turn, &told).run().await)
        .info(Implementation::new("agentwire", env!("CARGO_PKG_VERSION")))
        .prompt_capabilities(PromptCapabilities::new().image(true).audio(true).embedded_context(true))
        .commands(command::available())
        .modes(offer::modes())
        .config_options(offer::options())
        .hub(hub)
        .on_warning(warn);
    let demo = match arguments.store {
        Some(directory) => SessionAgent::store(demo, FileStore::open(directory)?),
        None => demo,
    };
    Ok(demo.serve(stdio()?).await?)
}

/// What is wrong with a session's MCP servers is told in the session itself.
fn warn(warning: Warning) {
    if !matches!(warning, Warning::McpServer { .. }) {
        text::note(&format!("warning: {}", text::one_line(&warning.to_string())));
    }
}
