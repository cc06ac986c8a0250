//! Our MCP server: on stdio, or on the network for any number of clients.

mod asking;
mod job;
mod offer;

use std::future::IntoFuture;
use std::time::Duration;

use agentwire_mcp_server::Server;
use agentwire_transport_http::server::{Config, Endpoint, Routes, serve};
use agentwire_transport_sse::server as sse;
use agentwire_transport_stdio::stdio;
use anyhow::{Context as _, Result};
use tokio::net::TcpListener;

use self::offer::server;
use crate::arguments;
use crate::signals::Signals;
use crate::text::Notes;

/// How long what is unanswered may take when we are told to end.
const GRACE: Duration = Duration::from_secs(5);

/// Serves until the client is gone, or until we are told to end.
pub(crate) async fn run(arguments: arguments::Server, notes: &Notes) -> Result<()> {
    match (arguments.http, arguments.sse) {
        (Some(address), _) => listen(&address, "/mcp", notes).await,
        (None, Some(address)) => listen(&address, "/sse", notes).await,
        (None, None) => Ok(server().serve(stdio()?).await?),
    }
}

/// Serves Streamable HTTP at `/mcp` and HTTP+SSE at `/sse`, and says the URL of one of them.
async fn listen(address: &str, path: &str, notes: &Notes) -> Result<()> {
    let (mut signals, mut impatience) = (Signals::listen()?, Signals::listen()?);
    let listener = TcpListener::bind(address).await.with_context(|| address.to_owned())?;
    let local = listener.local_addr()?;
    let server = server().connection(|connection| connection.drain(GRACE));
    let told = {
        let server = server.clone();
        async move {
            signals.next().await;
            server.close_subscriptions();
        }
    };
    let warnings = notes.clone();
    let served = serve(listener, routes(&server, local.ip().to_canonical().is_loopback()))
        .shutdown(told)
        .grace(GRACE)
        .on_warning(move |warning| warnings.say(&warning.to_string()));
    notes.say(&format!("listening on http://{local}{path}"));
    let enough = async {
        impatience.next().await;
        impatience.next().await;
    };
    tokio::select! {
        () = served.into_future() => Ok(()),
        () = enough => Err(anyhow::anyhow!("interrupted")),
    }
}

/// The same server over both transports. A server that other machines reach does not know the names that they call it by, so
/// any `Host` is admitted there; foreign web pages are still refused by their `Origin`.
fn routes(server: &Server, is_loopback: bool) -> Routes {
    let (mut streamable, mut old) = (Config::new(), sse::Config::new());
    if !is_loopback {
        (streamable, old) = (streamable.any_host(), old.with_http(Config::any_host));
    }
    let streamable = Endpoint::serving(streamable, server.clone());
    let old = sse::Endpoint::serving(old, server.clone());
    old.mount(streamable.into())
}
