//! `agentwire server`: an MCP server to try clients with, on stdio or on the network.

mod authorization;
mod demo;
mod elicitation;
mod slow;

use std::cell::Cell;
use std::future::IntoFuture;
use std::time::Duration;

use agentwire_mcp_server::Server;
use agentwire_recording::Recorder;
use agentwire_transport_http::server::{Endpoint, EndpointConfig, Routes, serve};
use agentwire_transport_sse::server as sse;
use anyhow::{Context as _, Result};
use tokio::net::TcpListener;

use self::demo::server;
use crate::arguments;
use crate::failure::Usage;
use crate::recording::{RecordingService, recorded_stdio};
use crate::signals::Signals;
use crate::text::Notes;

/// How long requests may take to finish after a signal to end: 5 s.
const GRACE: Duration = Duration::from_secs(5);

/// Serves until the client closes stdin, or until a signal ends the server.
pub(crate) async fn run(
    arguments: arguments::Server,
    notes: &Notes,
    recorder: Option<Recorder>,
) -> Result<()> {
    let (address, path) = match (&arguments.place.http, &arguments.place.sse) {
        (Some(address), _) => (address.clone(), "/mcp"),
        (None, Some(address)) => (address.clone(), "/sse"),
        (None, None) if arguments.issuers.is_empty() => {
            return Ok(server().serve(recorded_stdio(recorder)?).await?);
        }
        (None, None) => {
            return Err(Usage("--issuer: only a server with --http or --sse takes tokens".into()).into());
        }
    };
    listen(&address, path, &arguments, notes, recorder).await
}

/// Serves Streamable HTTP at `/mcp` and HTTP+SSE at `/sse`, and prints the URL with `path` on stderr. The first signal ends
/// the server within [`GRACE`], the second at once.
async fn listen(
    address: &str,
    path: &str,
    arguments: &arguments::Server,
    notes: &Notes,
    recorder: Option<Recorder>,
) -> Result<()> {
    let (mut first, mut second) = (Signals::listen()?, Signals::listen()?);
    let listener = TcpListener::bind(address).await.with_context(|| address.to_owned())?;
    let local = listener.local_addr()?;
    let routes = routes(&server(), local.ip().to_canonical().is_loopback(), recorder);
    let routes = match authorization::of(arguments, local, notes)? {
        Some(authorization) => authorization.mount(routes),
        None => routes,
    };
    let warnings = notes.clone();
    let served = serve(listener, routes)
        .shutdown(async move { first.next().await })
        .grace(GRACE)
        .on_warning(move |warning| warnings.add(&warning.to_string()));
    notes.add(&format!("listening on http://{local}{path}"));
    let ended_by = Cell::new(None);
    let abort = async {
        ended_by.set(Some(second.interrupted().await));
        second.interrupted().await
    };
    tokio::select! {
        // First, so that it has seen the signal that ends `served`.
        biased;
        interrupted = abort => Err(interrupted.into()),
        () = served.into_future() => ended_by.get().map_or(Ok(()), |interrupted| Err(interrupted.into())),
    }
}

/// One server over both transports. A server that other machines reach does not know the names that they use for it, so it
/// admits any `Host`. It still refuses foreign web pages by their `Origin`.
fn routes(server: &Server, is_loopback: bool, recorder: Option<Recorder>) -> Routes {
    let (mut streamable, mut old) = (EndpointConfig::new(), sse::EndpointConfig::new());
    if !is_loopback {
        (streamable, old) = (streamable.any_host(), old.with_http(EndpointConfig::any_host));
    }
    let Some(recorder) = recorder else {
        let streamable = Endpoint::serving(streamable, server.clone());
        return sse::Endpoint::serving(old, server.clone()).mount(streamable.into());
    };
    let service = RecordingService::new(server.clone(), recorder);
    let streamable = Endpoint::serving(streamable, service.clone());
    sse::Endpoint::serving(old, service).mount(streamable.into())
}
