//! Our ACP agent: it needs no model, and does the same for the same prompt every time.

mod command;
mod offer;
mod tool;
mod turn;

use agentwire_acp_sessions::hub::{Config, ConnectOptions, Memory};
use agentwire_acp_sessions::schema::{Implementation, PromptCapabilities};
use agentwire_acp_sessions::{FileStore, SessionAgent, Turn, Warning, agent};
use agentwire_transport_stdio::stdio;
use anyhow::Result;

use self::turn::{ReportedFailures, Work};
use crate::arguments::Agent;
use crate::text::Notes;

/// How many bytes the params of the requests may have that are being worked on, unless it is one request: 32 MiB. A turn may hold
/// as much several times over, as text, as what is said of it, and as what is asked of the client.
const REQUEST_BYTES: usize = 32 << 20;

/// Serves one client on stdin and stdout.
pub(crate) async fn run(arguments: Agent, notes: &Notes) -> Result<()> {
    let (of_servers, of_store) = (notes.clone(), notes.clone());
    let hub = Config::new()
        .connect_options(ConnectOptions::new().memory(Memory::new()))
        .on_warning(move |server, warning| of_servers.add(&format!("MCP server {server}: {warning}")));
    let hub = match arguments.timeout {
        Some(timeout) => hub.connect_limit(timeout).timeout(timeout),
        None => hub,
    };
    let reported = ReportedFailures::default();
    let demo = agent(async |turn: Turn| Work::new(&turn, &reported).run().await)
        .info(Implementation::new("agentwire", env!("CARGO_PKG_VERSION")))
        .prompt_capabilities(PromptCapabilities::new().image(true).audio(true).embedded_context(true))
        .commands(command::available())
        .modes(offer::modes())
        .config_options(offer::options())
        .hub(hub)
        .v2(true)
        .on_warning(move |warning| warn(&of_store, warning));
    let demo = match arguments.store {
        Some(directory) => SessionAgent::store(demo, FileStore::open(directory)?),
        None => demo,
    };
    Ok(demo
        .serve_with(stdio()?, agentwire_acp_sessions::Config::new().request_bytes_limit(REQUEST_BYTES))
        .await?)
}

/// Prints a warning. Failures of a session's MCP servers are left out, because the session itself reports them.
fn warn(notes: &Notes, warning: Warning) {
    if !matches!(warning, Warning::McpServer { .. }) {
        notes.add(&format!("warning: {warning}"));
    }
}
