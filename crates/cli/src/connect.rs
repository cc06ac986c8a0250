//! The connection of `tools` and `call` to an MCP server.

use std::cell::Cell;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use agentwire_mcp_client::schema::Implementation;
use agentwire_mcp_client::{BoxError, Client, RemoteServer};
use agentwire_mcp_hub::{ConnectOptions, Target, connect_to};
use agentwire_transport_stdio::Stderr;
use anyhow::Result;

use crate::arguments::Connect;
use crate::failure::{Usage, to_anyhow};
use crate::headers::{Header, Secret, add_headers};
use crate::signals::Signals;
use crate::text::Notes;

/// Connects with the client that `prepare` configures, and runs `main`. The first signal closes the connection, the second
/// returns at once; so does the first before the connection is open.
pub(crate) async fn with_server<R>(
    connect: Connect,
    notes: &Notes,
    prepare: impl FnOnce(Client) -> Client,
    main: impl AsyncFnOnce(RemoteServer) -> Result<R, BoxError>,
) -> Result<R> {
    let Connect { target, headers, header_files, era, timeout } = connect;
    let target = match with_headers(&target, &headers, &header_files, notes)? {
        Target::Stdio(command) => command.stderr(stderr_of("server", notes)).into(),
        target => target,
    };
    let (mut first, mut second) = (Signals::listen()?, Signals::listen()?);
    let is_connected = Cell::new(false);
    let warnings = notes.clone();
    let client = Client::from_info(Implementation::new("agentwire", env!("CARGO_PKG_VERSION")))
        .discover_timeout(DISCOVER_LIMIT.min(timeout / 2))
        .handshake_timeout(timeout)
        .timeout(timeout)
        .on_warning(move |warning| warnings.add(&format!("warning: {warning}")));
    let options = ConnectOptions::new().mode(era.into());
    let connected = connect_to(&target, &options, prepare(client), async |server| {
        is_connected.set(true);
        tokio::select! {
            done = main(server) => done,
            () = first.next() => Err("interrupted".into()),
        }
    });
    let abort = async {
        second.next().await;
        if is_connected.get() {
            second.next().await;
        }
    };
    tokio::select! {
        done = connected => done.map_err(to_anyhow),
        () = abort => Err(anyhow::anyhow!("interrupted")),
    }
}

/// Copies the lines of a child's stderr to the notes, each after the child's name.
fn stderr_of(name: &'static str, notes: &Notes) -> Stderr {
    let notes = notes.clone();
    Stderr::Lines(Arc::new(move |line| notes.add(&format!("{name}: {line}"))))
}

/// How long to wait for the answer to `server/discover` before `initialize` is tried: 5 s, or half the timeout.
const DISCOVER_LIMIT: Duration = Duration::from_secs(5);

fn with_headers(text: &str, headers: &[Secret], files: &[PathBuf], notes: &Notes) -> Result<Target> {
    let mut all = headers.iter().map(Header::read).collect::<Result<Vec<_>>>()?;
    for file in files {
        all.extend(Header::read_file(file)?);
    }
    match Target::parse(text)? {
        Target::Http(target) => Ok(add_headers(target, text, &all, notes)?.into()),
        target if headers.is_empty() && files.is_empty() => Ok(target),
        _ => Err(Usage("--header: only servers at a URL take headers".into()).into()),
    }
}
