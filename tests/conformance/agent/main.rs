//! An agent with every feature of ACP. Each line of a prompt is a command, such as `say Hello`.
//!
//! ```text
//! everything-agent           speaks on stdin and stdout
//! everything-agent ADDRESS   listens; prints `listening on http://…/acp` on standard error; WebSocket is at the same path
//! ```

mod commands;
mod mcp_over_acp;
mod remote;
mod settings;

use std::sync::Arc;

use agentwire_acp_proxy::relay;
use agentwire_acp_sessions::schema::{
    AuthMethod, AuthMethodAgent, AuthMethodTerminal, AvailableCommand, Implementation, PromptCapabilities,
    UnstructuredCommandInput,
};
use agentwire_acp_sessions::{Auth, Turn, agent};
use agentwire_transport::{Transport, duplex};
use agentwire_transport_stdio::stdio;
use futures_util::FutureExt as _;

use self::mcp_over_acp::Servers;
use self::remote::RunAgent;

/// The most sessions on one page of `session/list`.
const PAGE_SIZE: usize = 3;
/// How many packets are queued between the client and the sessions, in each direction.
const PACKETS: usize = 4;

#[tokio::main(flavor = "current_thread")]
async fn main() -> anyhow::Result<()> {
    match std::env::args().nth(1) {
        Some(address) => {
            let run: RunAgent = Arc::new(|transport| {
                async {
                    if let Err(error) = serve(transport).await {
                        eprintln!("a connection has failed: {error:#}");
                    }
                }
                .boxed()
            });
            remote::listen(&address, run).await
        }
        None => serve(stdio()?).await,
    }
}

/// Serves one client until it closes the connection.
async fn serve(transport: impl Transport) -> anyhow::Result<()> {
    let methods: [AuthMethod; 2] = [
        AuthMethodAgent::new("agent", "Log in").into(),
        AuthMethodTerminal::new("terminal", "Log in in a terminal").into(),
    ];
    let auth =
        Auth::new(methods).authenticated(true).on_authenticate(async |_| Ok(())).on_logout(async || Ok(()));
    let servers = Servers::default();
    let (near, far) = duplex(PACKETS);
    let passing = relay(servers.clone(), transport, far);
    let agent = agent(move |turn: Turn| commands::run(turn, servers.clone()))
        .info(Implementation::new("everything-agent", env!("CARGO_PKG_VERSION")))
        .prompt_capabilities(PromptCapabilities::new().image(true).audio(true).embedded_context(true))
        .auth(auth)
        .modes(settings::modes())
        .config_options(settings::options())
        .commands([
            AvailableCommand::new("say", "Says a text").input(UnstructuredCommandInput::new("TEXT")),
            AvailableCommand::new("plan", "Shows a plan"),
        ])
        .page_size(PAGE_SIZE)
        .v2(true)
        .serve(near);
    let (passed, served) = tokio::join!(passing, agent);
    passed?;
    served?;
    Ok(())
}
