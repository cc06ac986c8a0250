//! A server with every feature that MCP has, each in a file of its own.
//!
//! ```text
//! everything-server           speaks on stdin and stdout
//! everything-server ADDRESS   listens; prints `listening on http://…/mcp` on standard error; HTTP+SSE is at `/sse`
//!     --redis URL             as one of several nodes, which share this engine
//! ```
//!
//! The names and texts of what it offers are those that the official conformance suite asks for.

mod changes;
mod completion;
mod content;
mod elicitation;
mod errors;
mod headers;
mod input_required;
mod lists;
mod logging;
mod own_suite;
mod progress;
mod prompts;
mod reconnection;
mod resources;
mod roots;
mod sampling;
mod schema;
mod tasks;
mod templates;
mod wire;

use std::sync::Arc;
use std::time::Duration;

use agentwire_mcp_redis::{RedisConfig, RedisStore};
use agentwire_mcp_server::schema::CacheScope;
use agentwire_mcp_server::{SealingKeys, Server};
use agentwire_store::{Node, Stores};
use agentwire_transport_http::server::{Endpoint, EndpointConfig, Routes, serve};
use agentwire_transport_sse::server as sse;
use agentwire_transport_stdio::stdio;
use anyhow::{Context as _, Result, bail};
use tokio::net::TcpListener;

/// Its items, in the order of its lists. The suite calls the first tool without arguments.
const FEATURES: &[fn(Server) -> Server] = &[
    content::offer,
    errors::offer,
    progress::offer,
    logging::offer,
    sampling::offer,
    elicitation::offer,
    roots::offer,
    schema::offer,
    headers::offer,
    changes::offer,
    reconnection::offer,
    resources::offer,
    templates::offer,
    prompts::offer,
    input_required::offer,
    tasks::offer,
    own_suite::offer,
    lists::offer,
    wire::offer,
];

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<()> {
    let server = Server::new("agentwire-everything-server", env!("CARGO_PKG_VERSION"))
        .validate(true)
        .instructions("Everything that a server can do, to test clients and the library with.")
        .caching(Duration::from_secs(60), CacheScope::Public);
    let server = FEATURES.iter().fold(server, |server, offer| offer(server));
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match &arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [] => Ok(server.serve(stdio()?).await?),
        [address] => listen(&server, address, config()).await,
        [address, "--redis", url] => share(server, address, url).await,
        _ => bail!("everything-server [ADDRESS [--redis URL]]"),
    }
}

fn config() -> EndpointConfig {
    EndpointConfig::new().stream_time(Some(reconnection::STREAM_TIME)).retry(reconnection::RETRY)
}

/// Serves as one of several nodes.
async fn share(server: Server, address: &str, url: &str) -> Result<()> {
    let store = Arc::new(RedisStore::connect(RedisConfig::new(url).prefix("everything")).await?);
    let node = Node::join(Stores::of(&store)).await?;
    let keys = SealingKeys::new([7; 32]);
    let server = server.tasks(tasks::config().store(store)).input(|input| input.keys(keys));
    listen(&server.node(node.clone()), address, config().node(node)).await
}

/// Serves Streamable HTTP at `/mcp` and HTTP+SSE at `/sse` until the process is ended.
async fn listen(server: &Server, address: &str, config: EndpointConfig) -> Result<()> {
    let listener = TcpListener::bind(address).await.with_context(|| address.to_owned())?;
    let local = listener.local_addr()?;
    let streamable = Endpoint::serving(config, server.clone());
    let old = sse::Endpoint::serving(sse::EndpointConfig::new(), server.clone());
    let routes: Routes = old.mount(streamable.into());
    eprintln!("listening on http://{local}/mcp");
    serve(listener, routes).await;
    Ok(())
}
