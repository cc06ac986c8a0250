//! A connection to an MCP server for as long as a command runs.

use std::cell::Cell;
use std::time::Duration;

use agentwire_mcp_client::schema::Implementation;
use agentwire_mcp_client::{BoxError, Client, Server};
use agentwire_mcp_hub::{Dial, HttpTarget, Target, dial};
use anyhow::Result;

use crate::arguments::{Connect, Header};
use crate::signals::Signals;
use crate::{Usage, text};

/// Connects as the client that `prepare` makes of ours, and ends the connection when we are interrupted.
pub(crate) async fn with_server<R>(
    connect: Connect,
    prepare: impl FnOnce(Client) -> Client,
    main: impl AsyncFnOnce(Server) -> Result<R, BoxError>,
) -> Result<R> {
    let Connect { target, headers, era, timeout } = connect;
    let target = with_headers(target, headers)?;
    let (mut signals, mut impatience) = (Signals::listen()?, Signals::listen()?);
    let talking = Cell::new(false);
    let client = Client::from_info(Implementation::new("agentwire", env!("CARGO_PKG_VERSION")))
        .discover_timeout(DISCOVER_LIMIT.min(timeout / 2))
        .handshake_timeout(timeout)
        .timeout(timeout)
        .on_warning(|warning| text::note(&format!("warning: {warning}")));
    let options = Dial::new().era(era.into());
    let talk = dial(&target, &options, prepare(client), async |server| {
        talking.set(true);
        tokio::select! {
            done = main(server) => done,
            () = signals.next() => Err("interrupted".into()),
        }
    });
    // Once they talk, the first interrupt ends that in good order, and the second ends what is left of it.
    let enough = async {
        impatience.next().await;
        if talking.get() {
            impatience.next().await;
        }
    };
    tokio::select! {
        done = talk => done.map_err(crate::failure::unboxed),
        () = enough => Err(anyhow::anyhow!("interrupted")),
    }
}

/// How long a server may at most be silent to `server/discover`, before `initialize` is tried.
const DISCOVER_LIMIT: Duration = Duration::from_secs(5);

fn with_headers(target: Target, headers: Vec<Header>) -> Result<Target> {
    match target {
        Target::Http(target) => {
            let add = |target: HttpTarget, Header { name, value }: Header| target.header(&name, &value);
            let target = headers.into_iter().try_fold(target, add);
            Ok(target.map_err(|why| Usage(format!("--header: {why}")))?.into())
        }
        target if headers.is_empty() => Ok(target),
        _ => Err(Usage("--header: only servers at a URL take headers".into()).into()),
    }
}
