//! `agentwire server`: an MCP server to try clients with, on stdio or on the network.

mod demo;
mod elicitation;
mod slow;

use std::future::IntoFuture;
use std::net::SocketAddr;
use std::time::Duration;

use agentwire_mcp_auth::AddressPolicy;
use agentwire_mcp_auth::server::{Issuer, ResourceServer};
use agentwire_mcp_hub::HttpTarget;
use agentwire_mcp_server::Server;
use agentwire_transport_http::client::Hyper;
use agentwire_transport_http::server::{Caller, Endpoint, EndpointConfig, Routes, serve};
use agentwire_transport_sse::server as sse;
use agentwire_transport_stdio::stdio;
use anyhow::{Context as _, Result};
use tokio::net::TcpListener;

use self::demo::server;
use crate::arguments;
use crate::failure::Usage;
use crate::signals::Signals;
use crate::text::Notes;

/// How long a connection to an authorization server may take to open: 10 s.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// How long requests may take to finish after a signal to end: 5 s.
const GRACE: Duration = Duration::from_secs(5);

/// Serves until the client closes stdin, or until a signal ends the server.
pub(crate) async fn run(arguments: arguments::Server, notes: &Notes) -> Result<()> {
    let (address, path) = match (&arguments.place.http, &arguments.place.sse) {
        (Some(address), _) => (address.clone(), "/mcp"),
        (None, Some(address)) => (address.clone(), "/sse"),
        (None, None) if arguments.issuers.is_empty() => return Ok(server().serve(stdio()?).await?),
        (None, None) => {
            return Err(Usage("--issuer: only a server with --http or --sse takes tokens".into()).into());
        }
    };
    listen(&address, path, &arguments, notes).await
}

/// Serves Streamable HTTP at `/mcp` and HTTP+SSE at `/sse`, and prints the URL with `path` on stderr. The first signal ends
/// the server within [`GRACE`], the second at once.
async fn listen(address: &str, path: &str, arguments: &arguments::Server, notes: &Notes) -> Result<()> {
    let (mut first, mut second) = (Signals::listen()?, Signals::listen()?);
    let listener = TcpListener::bind(address).await.with_context(|| address.to_owned())?;
    let local = listener.local_addr()?;
    let routes = routes(&server(), local.ip().to_canonical().is_loopback());
    let routes = match authorization(arguments, local, notes)? {
        Some(authorization) => authorization.mount(routes),
        None => routes,
    };
    let warnings = notes.clone();
    let served = serve(listener, routes)
        .shutdown(async move { first.next().await })
        .grace(GRACE)
        .on_warning(move |warning| warnings.add(&warning.to_string()));
    notes.add(&format!("listening on http://{local}{path}"));
    let abort = async {
        second.next().await;
        second.next().await;
    };
    tokio::select! {
        () = served.into_future() => Ok(()),
        () = abort => Err(anyhow::anyhow!("interrupted")),
    }
}

/// The check of tokens, where an issuer is named. An audience that is no URL of this server is a name that the issuers know it by.
fn authorization(
    arguments: &arguments::Server,
    local: SocketAddr,
    notes: &Notes,
) -> Result<Option<ResourceServer>> {
    if arguments.issuers.is_empty() {
        return Ok(None);
    }
    let local = format!("http://{local}");
    let (resource, name) = match &arguments.audience {
        None => (local, None),
        Some(audience) if audience.starts_with("http") => (audience.clone(), None),
        Some(audience) => (local, Some(audience)),
    };
    let wrong = |what: &str, why: &dyn std::fmt::Display| Usage(format!("{what}: {why}"));
    let server = ResourceServer::new(resource).map_err(|why| wrong("--audience", &why))?;
    let notes = notes.clone();
    let server = server
        .scopes(arguments.scopes.iter().cloned())
        .on_rejection(move |why, caller| notes.add(&format!("refused {}: {why}", caller_name(caller))));
    let http = Hyper::new(CONNECT_TIMEOUT).map_err(anyhow::Error::from_boxed)?;
    let issuers = arguments.issuers.iter().map(|url| {
        let host = HttpTarget::new(url).map_err(|why| wrong("--issuer", &why))?;
        // The operator has named it, wherever it is.
        let issuer = Issuer::jwks(url.clone(), http.clone())
            .addresses(AddressPolicy::new().trust(host_of(host.url())));
        anyhow::Ok(match name {
            Some(name) => issuer.audience(name.clone()),
            None => issuer,
        })
    });
    let issuers = issuers.collect::<Result<Vec<_>>>()?;
    Ok(Some(issuers.into_iter().fold(server, ResourceServer::issuer)))
}

fn caller_name(caller: &Caller) -> String {
    caller.name().map_or_else(|| "a request".to_owned(), |name| name.into_owned())
}

/// The host of a URL, without port.
fn host_of(url: &str) -> String {
    url.parse::<http::Uri>().ok().and_then(|url| url.host().map(str::to_owned)).unwrap_or_default()
}

/// One server over both transports. A server that other machines reach does not know the names that they use for it, so it
/// admits any `Host`. It still refuses foreign web pages by their `Origin`.
fn routes(server: &Server, is_loopback: bool) -> Routes {
    let (mut streamable, mut old) = (EndpointConfig::new(), sse::EndpointConfig::new());
    if !is_loopback {
        (streamable, old) = (streamable.any_host(), old.with_http(EndpointConfig::any_host));
    }
    let streamable = Endpoint::serving(streamable, server.clone());
    let old = sse::Endpoint::serving(old, server.clone());
    old.mount(streamable.into())
}
