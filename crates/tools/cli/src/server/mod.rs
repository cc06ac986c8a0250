//! `agentwire server`: an MCP server to try clients with, on stdio or on the network.

mod arguments;
mod authorization;
mod demo;
mod elicitation;
mod http_log;
mod log;
#[cfg_attr(not(feature = "nodes"), path = "../absent/nodes.rs")]
mod nodes;
mod observer;
mod open_calls;
#[cfg_attr(not(feature = "telemetry"), path = "../absent/operations.rs")]
mod operations;
mod readiness;
mod service;
mod shared;
mod slow;

use std::cell::Cell;
use std::convert::Infallible;
use std::io::{self, IsTerminal as _};
use std::net::SocketAddr;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use agentwire_peer::observe::{Observer, Observers};
use agentwire_transport::Service;
use agentwire_transport_http::server::{Connection, Endpoint, EndpointConfig, Routes, serve};
use agentwire_transport_sse::server as sse;
use anyhow::{Context as _, Result};
use futures_util::FutureExt as _;
use tokio::net::TcpListener;

pub(crate) use self::arguments::Server;
use self::demo::server;
use self::http_log::LoggedHttp;
use self::log::RequestLog;
#[cfg(test)]
pub(crate) use self::nodes::NodeOptions;
use self::observer::RequestObserver;
use self::open_calls::OpenCalls;
#[cfg(test)]
pub(crate) use self::operations::Pages;
use self::readiness::Readiness;
use self::service::LoggedService;
use self::shared::Shared;
use crate::failure::{Interrupted, Usage};
use crate::output::text::Notes;
use crate::recording::{Recorder, recorded_server, recorded_stdio};
use crate::signals::Signals;
use crate::telemetry::Telemetry;

/// Serves until the client closes stdin, or until a signal ends the server.
pub(crate) async fn run(
    arguments: Server,
    notes: &Notes,
    recorder: Option<Recorder>,
    telemetry: &Telemetry,
) -> Result<()> {
    let (address, path) = match (&arguments.listen.http, &arguments.listen.sse) {
        (Some(address), _) => (address.clone(), "/mcp"),
        (None, Some(address)) => (address.clone(), "/sse"),
        (None, None) if arguments.issuers.is_empty() => {
            if io::stdin().is_terminal() {
                notes.add(
                    "an MCP server on stdin and stdout; it waits for a client. See `agentwire tools --help`",
                );
            }
            let log = RequestLog::new(arguments.log, notes);
            let server = observed(log, OpenCalls::default(), telemetry.of_mcp_server(false));
            return Ok(server.serve(recorded_stdio(recorder)?).await?);
        }
        (None, None) => {
            return Err(Usage("--issuer: only a server with --http or --sse takes tokens".into()).into());
        }
    };
    listen(&address, path, &arguments, notes, recorder, telemetry).await
}

/// Serves Streamable HTTP at `/mcp` and HTTP+SSE at `/sse`, and prints the URL with `path` on stderr.
///
/// The first ^C waits for the open calls and ends the server; the second ends it at once. Another signal ends it after the time of
/// `--drain`. Then requests and tasks have the time of `--grace` to finish.
async fn listen(
    address: &str,
    path: &str,
    arguments: &Server,
    notes: &Notes,
    recorder: Option<Recorder>,
    telemetry: &Telemetry,
) -> Result<()> {
    let (first, second) = (Signals::listen()?, Signals::listen()?);
    let listener = TcpListener::bind(address).await.with_context(|| address.to_owned())?;
    let local = listener.local_addr()?;
    let (log, calls) = (RequestLog::new(arguments.log, notes), OpenCalls::default());
    let shared = Shared::open(&arguments.sharing, notes).await?;
    let server = shared.of_server(observed(log.clone(), calls.clone(), telemetry.of_mcp_server(true)));
    let tasks = server.clone();
    let is_loopback = local.ip().to_canonical().is_loopback();
    let config = configs(is_loopback, &shared, notes);
    let (mut routes, endpoint) = match recorder {
        Some(recorder) => routes(recorded_server(server, recorder), log.clone(), config),
        None => routes(server, log.clone(), config),
    };
    if let Some(authorization) = authorization::of(arguments, local, notes)? {
        routes = authorization.mount(routes);
    }
    if log.is_on() {
        routes = routes.wrap(|service| LoggedHttp::new(service, log.clone()));
    }
    let readiness = Readiness::new(endpoint);
    let watched = readiness.clone();
    telemetry.watch_endpoint(move || watched.counts());
    let pages = pages(arguments, telemetry, &readiness, notes).await?;
    let warnings = notes.clone();
    let grace = arguments.operations.grace;
    let refuses = Arc::new(OnceLock::new());
    let end = end_of(first, readiness, calls, arguments.operations.drain, notes.clone());
    let refuses_since = refuses.clone();
    let served = serve(listener, routes)
        .shutdown(end.map(move |()| _ = refuses_since.set(Instant::now())))
        .grace(grace)
        .on_warning(move |warning| warnings.add(&warning.to_string()));
    notes.add(&format!("listening on http://{local}{path}"));
    if !is_loopback {
        notes.add(&reach_warning(local, !arguments.issuers.is_empty()));
    }
    let served = async {
        served.await;
        if shared.has_tasks() {
            let used = refuses.get().map_or(Duration::ZERO, Instant::elapsed);
            tasks.drain_tasks(grace.saturating_sub(used)).await;
        }
    };
    let ended = until_aborted(served, second, pages).await;
    shared.release().await;
    ended
}

/// Waits for `served`, which the first signal ends, and fails with that signal. A second signal ends the wait at once.
async fn until_aborted(
    served: impl Future<Output = ()>,
    mut signals: Signals,
    pages: impl Future<Output = Infallible>,
) -> Result<()> {
    let ended_by = Cell::new(None);
    let abort = async {
        ended_by.set(Some(signals.interrupted().await));
        signals.interrupted().await
    };
    tokio::select! {
        // Polled first, so that it has seen the signal that ends `served`.
        biased;
        interrupted = abort => Err(interrupted.into()),
        never = pages => match never {},
        () = served => ended_by.get().map_or(Ok(()), |interrupted| Err(interrupted.into())),
    }
}

/// Completes when the server has to refuse requests. The server is not ready from the first signal on.
async fn end_of(mut signals: Signals, readiness: Readiness, calls: OpenCalls, drain: Duration, notes: Notes) {
    let is_interrupt = signals.interrupted().await == Interrupted::BY_KEY;
    readiness.end();
    if !is_interrupt {
        tokio::time::sleep(drain).await;
        return;
    }
    let count = calls.count();
    if count > 0 {
        let plural = if count == 1 { "" } else { "s" };
        notes.add(&format!("waiting for {count} call{plural}, ^C again ends now"));
        calls.ended().await;
    }
}

/// Serves the pages of `--metrics` while it is polled, and prints their URL on stderr. Keeps the metric of readiness up to date.
async fn pages(
    arguments: &Server,
    telemetry: &Telemetry,
    readiness: &Readiness,
    notes: &Notes,
) -> Result<impl Future<Output = Infallible> + use<>> {
    let (mut served, notes) = (None, notes.clone());
    if let (Some(address), Some(registry)) = (arguments.operations.pages.address(), telemetry.registry()) {
        let listener = TcpListener::bind(address).await.with_context(|| address.to_owned())?;
        let local = listener.local_addr()?;
        let warnings = notes.clone();
        let pages = serve(listener, operations::pages(registry, readiness, local));
        served = Some((local, pages.on_warning(move |warning| warnings.add(&warning.to_string()))));
    }
    let (readiness, is_reporting) = (readiness.clone(), telemetry.is_reporting());
    Ok(async move {
        let serving = async {
            if let Some((local, served)) = served {
                notes.add(&format!("metrics on http://{local}/metrics"));
                served.await;
            }
        };
        let checking = async {
            match is_reporting {
                true => readiness.keep_checking().await,
                false => std::future::pending().await,
            }
        };
        tokio::join!(serving, checking).1
    })
}

/// The demonstration server, observed.
fn observed(
    log: RequestLog,
    calls: OpenCalls,
    telemetry: Option<Arc<dyn Observer>>,
) -> agentwire_mcp_server::Server {
    let own: Arc<dyn Observer> = Arc::new(RequestObserver { log, calls });
    let observer = match telemetry {
        Some(telemetry) => Arc::new(Observers::new([telemetry, own])),
        None => own,
    };
    server().connection(|config| config.observer(observer))
}

/// The warning that other machines can reach the server.
fn reach_warning(local: SocketAddr, takes_tokens: bool) -> String {
    match takes_tokens {
        true => format!(
            "warning: other machines can reach {local}, and nothing is encrypted: tokens can be read on the way"
        ),
        false => format!(
            "warning: other machines can reach {local}, and call its tools: --issuer asks for tokens, 127.0.0.1 keeps it to this machine"
        ),
    }
}

/// The configurations of Streamable HTTP, and of HTTP+SSE, which shares nothing with other nodes. A server that other machines can
/// reach does not know its names there, so it admits any `Host`. It still refuses foreign web pages by their `Origin`.
fn configs(is_loopback: bool, shared: &Shared, notes: &Notes) -> (EndpointConfig, sse::EndpointConfig) {
    let warnings = notes.clone();
    let streamable = EndpointConfig::new().on_warning(move |warning| warnings.add(&warning.to_string()));
    let (mut streamable, mut old) = (shared.of_endpoint(streamable), sse::EndpointConfig::new());
    if !is_loopback {
        (streamable, old) = (streamable.any_host(), old.with_http(EndpointConfig::any_host));
    }
    (streamable, old)
}

/// One server over both transports.
fn routes<S>(
    service: S,
    log: RequestLog,
    (streamable, old): (EndpointConfig, sse::EndpointConfig),
) -> (Routes, Endpoint)
where
    S: Service<Connection> + Service<sse::Connection> + Clone + Send + Sync + 'static,
{
    let streamable = Endpoint::serving(streamable, LoggedService::new(service.clone(), log.clone()));
    let old = sse::Endpoint::serving(old, LoggedService::new(service, log));
    (old.mount(streamable.clone().into()), streamable)
}
