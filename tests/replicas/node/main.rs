//! One node of a server that several nodes serve together.
//!
//! ```text
//! replica ADDRESS --log FILE [--redis URL [--lease SECONDS]] [--fault NAME]
//! ```
//!
//! The work of a tool is written to the log before its answer, so the log shows work that was done twice, or acknowledged
//! and not done. Without `--redis` the node shares nothing. It drains on SIGTERM, and ends when its standard input ends.

mod faults;
mod log;
mod tools;

use std::io::{self, Read as _};
use std::path::PathBuf;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use agentwire_mcp_redis::{RedisConfig, RedisStore};
use agentwire_mcp_server::{SealingKeys, Server, Tasks};
use agentwire_store::{Node, Stores};
use agentwire_transport_http::server::{Endpoint, EndpointConfig, Principal, serve};
use anyhow::{Context as _, Result, bail};
use lexopt::prelude::*;
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::oneshot;

use self::faults::Fault;
use self::log::Log;

/// The time after which a node that has died counts as dead, by default.
const LEASE: Duration = Duration::from_secs(2);
/// How long a client waits before it resumes a stream.
const RETRY: Duration = Duration::from_millis(200);
/// How long a node that drains lets calls finish.
const GRACE: Duration = Duration::from_secs(20);
/// How long the engine may take for a command: a disk that a compiler writes to holds it up, and only a death may be seen.
const ENGINE_TIME: Duration = Duration::from_secs(5);
/// How long it waits before it tries again to bind its port, or to reach the engine.
const PAUSE: Duration = Duration::from_millis(50);
/// The token of a principal begins with this, before its name.
const TOKEN: &str = "token-of-";
/// All nodes seal with this key.
const KEY: [u8; 32] = [7; 32];

struct Options {
    address: String,
    log: PathBuf,
    redis: Option<String>,
    lease: Duration,
    fault: Option<Fault>,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<()> {
    let options = parse(lexopt::Parser::from_env())?;
    let log = Log::open(&options.log)?;
    let mut tasks = Tasks::new(|work| drop(tokio::spawn(work))).client_limit(1_000);
    let mut node = None;
    if let Some(url) = &options.redis {
        let store = Arc::new(connect(url, options.lease).await);
        tasks = faults::tasks(tasks, store.clone(), options.fault);
        let stores = faults::stores(Stores::of(&store), options.fault);
        node = Some(join(&stores).await);
    }
    let server = Server::new("replica", env!("CARGO_PKG_VERSION")).tasks(tasks);
    let server = server.input(|input| input.keys(SealingKeys::new(KEY)));
    let server = tools::offer(server, log);
    let any = options.fault == Some(Fault::AnyPrincipal);
    let config = EndpointConfig::new()
        .bearer(move |token| {
            let name = token.strip_prefix(TOKEN)?;
            Some(Principal::new(if any { "anybody" } else { name }))
        })
        .caller_session_limit(10_000)
        .caller_request_budget(64 << 20)
        .retry(RETRY);
    run(&options.address, node, server, config).await
}

async fn run(address: &str, node: Option<Node>, server: Server, config: EndpointConfig) -> Result<()> {
    let (server, config) = match &node {
        Some(node) => (server.node(node.clone()), config.node(node.clone())),
        None => (server, config),
    };
    let listener = bind(address).await;
    let local = listener.local_addr()?;
    let endpoint = Endpoint::serving(config, server.clone());
    let mut terminate = signal(SignalKind::terminate())?;
    eprintln!("listening on http://{local}/mcp");
    let draining = async move {
        tokio::select! {
            _ = terminate.recv() => (),
            _ = end_of_input() => (),
        }
    };
    serve(listener, endpoint).shutdown(draining).grace(GRACE).await;
    server.drain_tasks(GRACE).await;
    if let Some(node) = node {
        // Otherwise its lease expires.
        _ = node.release().await;
    }
    Ok(())
}

/// Completes at the end of standard input. A thread of its own reads, because one of the runtime would hold up the end of the process.
async fn end_of_input() {
    let (end, ended) = oneshot::channel();
    thread::spawn(move || {
        _ = io::stdin().read_to_end(&mut Vec::new());
        _ = end.send(());
    });
    _ = ended.await;
}

/// Waits for the port, which a process before this may still have.
async fn bind(address: &str) -> TcpListener {
    loop {
        match TcpListener::bind(address).await {
            Ok(listener) => return listener,
            Err(error) => eprintln!("{address}: {error}"),
        }
        tokio::time::sleep(PAUSE).await;
    }
}

/// Waits for the engine, which may be dead at this moment.
async fn connect(url: &str, lease: Duration) -> RedisStore {
    loop {
        let config = RedisConfig::new(url).prefix("replicas").lease(lease).timeout(ENGINE_TIME);
        match RedisStore::connect(config).await {
            Ok(store) => return store,
            Err(error) => eprintln!("{error}"),
        }
        tokio::time::sleep(PAUSE).await;
    }
}

async fn join(stores: &Stores) -> Node {
    loop {
        match Node::join(stores.clone()).await {
            Ok(node) => return node,
            Err(error) => eprintln!("{error}"),
        }
        tokio::time::sleep(PAUSE).await;
    }
}

fn parse(mut arguments: lexopt::Parser) -> Result<Options> {
    let (mut address, mut log, mut redis, mut lease, mut fault) = (None, None, None, LEASE, None);
    while let Some(argument) = arguments.next()? {
        match argument {
            Value(value) if address.is_none() => address = Some(value.string()?),
            Long("log") => log = Some(arguments.value()?.into()),
            Long("redis") => redis = Some(arguments.value()?.string()?),
            Long("lease") => lease = Duration::from_secs(arguments.value()?.parse()?),
            Long("fault") => fault = Some(Fault::parse(&arguments.value()?.string()?)?),
            other => bail!(other.unexpected()),
        }
    }
    let (address, log) = (address.context("no address")?, log.context("no --log")?);
    Ok(Options { address, log, redis, lease, fault })
}
