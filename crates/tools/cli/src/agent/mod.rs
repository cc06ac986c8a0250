//! `agentwire agent`: an ACP agent without a model. The same prompt always has the same answer.

mod command;
mod execute;
mod settings;
mod tool;
mod turn;

use agentwire_jsonrpc::WithCauses;
use std::io::{self, IsTerminal as _};

use agentwire_acp_sessions::hub::{ConnectOptions, HubConfig, Memory};
use agentwire_acp_sessions::schema::{Implementation, PromptCapabilities};
use agentwire_acp_sessions::{FileStore, SessionAgent, Warning, agent};
use agentwire_mcp_client::Warning as ServerWarning;
use agentwire_transport_http::client::HttpError;
use anyhow::Result;
use http::StatusCode;

use self::turn::DemoAgent;
use crate::arguments::Agent;
use crate::login::{authorization, with_tokens};
use crate::output::text::Notes;
use crate::recording::{Recorder, recorded_stdio};
use crate::telemetry::Telemetry;

/// The most bytes of params of all running requests together: 32 MiB. A single request may exceed it. A turn may hold several
/// copies: the prompt, its updates, and its requests to the client.
const REQUEST_BYTES_LIMIT: usize = 32 << 20;

/// Serves one client on stdin and stdout.
pub(crate) async fn run(
    arguments: Agent,
    notes: &Notes,
    recorder: Option<Recorder>,
    telemetry: &Telemetry,
) -> Result<()> {
    if io::stdin().is_terminal() {
        notes.add("an ACP agent on stdin and stdout; it waits for a client. See `agentwire chat --help`");
    }
    let (server_notes, notes) = (notes.clone(), notes.clone());
    let options = ConnectOptions::new().memory(Memory::new());
    let options = match authorization(None, &notes) {
        Some(authorization) => with_tokens(options, authorization, None),
        None => options,
    };
    let of_servers = telemetry.clone();
    let hub = HubConfig::new()
        .connect_options(options)
        .observer(move |server| of_servers.of_target(&server.target))
        .on_warning(move |server, warning| {
            if !is_usual(&warning) {
                server_notes.add(&format!("MCP server {server}: {}", WithCauses::new(&warning)));
            }
        });
    let hub = match arguments.timeout {
        Some(timeout) => hub.connect_limit(timeout).timeout(timeout),
        None => hub,
    };
    telemetry.watch_hub(hub.clone());
    let demo = agent(DemoAgent::default())
        .info(Implementation::new("agentwire", env!("CARGO_PKG_VERSION")))
        .prompt_capabilities(PromptCapabilities::new().image(true).audio(true).embedded_context(true))
        .commands(command::available())
        .modes(settings::modes())
        .config_options(settings::options())
        .hub(hub)
        .v2(true)
        .on_warning(move |warning| warn(&notes, warning));
    let demo = match arguments.store {
        Some(directory) => SessionAgent::store(demo, FileStore::open(directory)?),
        None => demo,
    };
    let config = agentwire_acp_sessions::Config::new().request_bytes_limit(REQUEST_BYTES_LIMIT);
    let config = match telemetry.of_acp_agent() {
        Some(observer) => config.observer(observer),
        None => config,
    };
    Ok(demo.serve_with(recorded_stdio(recorder)?, config).await?)
}

/// Prints a warning. Failures of a session's MCP servers are left out: the session reports them.
fn warn(notes: &Notes, warning: Warning) {
    if !matches!(warning, Warning::McpServer { .. }) {
        notes.add(&format!("warning: {warning}"));
    }
}

/// Whether a warning is about a server that has no stream for changes, as many have none.
fn is_usual(warning: &ServerWarning) -> bool {
    let ServerWarning::ChangesOnlyWithCalls { error, .. } = warning else { return false };
    HttpError::of(error).and_then(HttpError::status) == Some(StatusCode::METHOD_NOT_ALLOWED)
}
