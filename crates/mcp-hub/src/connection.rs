//! The life of one connection.

use std::error::Error;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use agentwire_mcp_client::{BoxError, CallError, Client, Server};
use agentwire_mcp_schema::Tool;
use agentwire_peer::{Clock, TokioClock};
use agentwire_transport_stdio::{Child, Command};
use futures::channel::mpsc;
use futures::future::{Either, select};
use futures::{FutureExt, StreamExt, select_biased};

use crate::config::{Config, ServerConfig, Target};
use crate::state::Shared;

#[derive(Debug, thiserror::Error)]
#[error("{0}: servers on the network cannot be reached yet, only those that are started as a command")]
struct NoSuchTransport(String);

#[derive(Debug, thiserror::Error)]
#[error("it did not tell its tools within {0:?}")]
struct TooSlow(Duration);

/// Connects to a server and stays connected until the hub closes or the server goes.
pub(crate) async fn run(
    shared: Arc<Shared>,
    place: usize,
    name: String,
    server: ServerConfig,
    config: Config,
) {
    let outcome = match server.target {
        Target::Stdio(command) => over_stdio(&shared, place, name, command, config).await,
        Target::Url(url) => Err(NoSuchTransport(url).into()),
    };
    shared.ended(place, outcome.map_err(Arc::<dyn Error + Send + Sync>::from));
}

async fn over_stdio(
    shared: &Shared,
    place: usize,
    name: String,
    command: Command,
    config: Config,
) -> Result<(), BoxError> {
    let (changes, changed) = mpsc::channel(0);
    let limit = config.connect_limit;
    let deadline = TokioClock::default().now() + limit;
    let client = client(name, config, changes);
    let connection = client.connect(Child::spawn(command)?, async |server| {
        let timer = TokioClock::default().sleep_until(deadline);
        match select(pin!(list(&server)), timer).await {
            Either::Left((tools, _)) => shared.connected(place, server.clone(), tools?),
            Either::Right(_) => return Err(TooSlow(limit).into()),
        }
        stay(shared, place, server, changed).await
    });
    let mut connection = pin!(connection.fuse());
    // Closing must not wait for a server that says nothing.
    select_biased! {
        outcome = connection => outcome,
        () = shared.until_abandoned(place).fuse() => Ok(()),
    }
}

/// Keeps the list of tools up to date.
async fn stay(
    shared: &Shared,
    place: usize,
    server: Server,
    mut changed: mpsc::Receiver<()>,
) -> Result<(), BoxError> {
    loop {
        select_biased! {
            closed = pin!(server.closed().fuse()) => return Err(closed.into()),
            () = pin!(shared.until_closing().fuse()) => return Ok(()),
            _ = changed.next() => {
                // Where that fails, the old list is the best there is; if the connection is over, the next
                // round tells.
                select_biased! {
                    tools = pin!(list(&server).fuse()) => tools.map_or((), |tools| shared.tools_changed(place, tools)),
                    () = pin!(shared.until_closing().fuse()) => {}
                }
            },
        }
    }
}

async fn list(server: &Server) -> Result<Vec<Tool>, CallError> {
    match server.capabilities().tools {
        Some(_) => server.tools().collect().await,
        None => Ok(Vec::new()),
    }
}

fn client(name: String, config: Config, mut changes: mpsc::Sender<()>) -> Client {
    let client = Client::from_info(config.info)
        .handshake_timeout(config.connect_limit)
        .timeout(config.timeout)
        .on_tools_changed(move || {
            // Where one change waits to be looked at already, looking will show this one too.
            let _full = changes.try_send(());
        });
    match config.on_log {
        Some(hook) => client.on_log(move |message| hook(&name, message)),
        None => client,
    }
}
