//! The connection of the commands of an MCP client to a server.

use std::cell::Cell;
use std::convert::Infallible;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use agentwire_mcp_client::schema::{Implementation, Root};
use agentwire_mcp_client::{BoxError, Client, RemoteServer};
use agentwire_mcp_hub::{ConnectOptions, CustomTarget, HttpTarget, Target, connect_to};
use agentwire_recording::{Recorder, Side, TransportKind, record_transport};
use agentwire_transport_stdio::{Child, Command, Stderr};
use anyhow::Result;
use http::header::AUTHORIZATION;

use crate::failure::{Usage, to_anyhow};
use crate::headers::add_headers;
use crate::login::{authorization, is_person_there, with_tokens};
use crate::mcp::arguments::Connect;
use crate::recording::{RecordingClient, record_stderr};
use crate::server_target::target_of;
use crate::signals::Signals;
use crate::text::Notes;

/// Where a command's output goes.
pub(crate) struct Output<'a> {
    pub(crate) json: bool,
    pub(crate) notes: &'a Notes,
    pub(crate) recorder: Option<Recorder>,
}

/// Connects with the client that `prepare` configures, and runs `main`. The first signal closes the connection, the second
/// returns at once; so does the first before the connection is open.
pub(crate) async fn with_server<R>(
    connect: Connect,
    Output { json, notes, recorder }: Output<'_>,
    prepare: impl FnOnce(Client) -> Client,
    main: impl AsyncFnOnce(RemoteServer) -> Result<R, BoxError>,
) -> Result<R> {
    let (era, timeout) = (connect.era, connect.timeout);
    let (target, is_authorized) = with_headers(&connect, notes)?;
    let target = match target {
        Target::Stdio(command) => {
            let command = command.stderr(stderr_of("server", notes, recorder.clone()));
            match recorder.clone() {
                Some(recorder) => recorded_command(command, recorder),
                None => command.into(),
            }
        }
        target => {
            // The command line may have a name, which says nothing of the transport.
            if let (Target::Http(_), Some(recorder)) = (&target, &recorder) {
                recorder.set_transport(TransportKind::Http);
            }
            target
        }
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
    let options = match &target {
        Target::Http(target) if !is_authorized => {
            add_tokens(options, target, json, notes, recorder.clone()).await?
        }
        Target::Http(_) => options
            .wrap_http(move |_, client| Ok::<_, Infallible>(RecordingClient::new(client, recorder.clone()))),
        _ => options,
    };
    let client = if connect.roots.is_empty() { client } else { client.roots(roots(&connect.roots)?) };
    let connected = connect_to(&target, &options, prepare(client), async |server| {
        is_connected.set(true);
        tokio::select! {
            done = main(server) => done,
            interrupted = first.interrupted() => Err(interrupted.into()),
        }
    });
    let abort = async {
        let interrupted = second.interrupted().await;
        if is_connected.get() { second.interrupted().await } else { interrupted }
    };
    tokio::select! {
        done = connected => done.map_err(to_anyhow),
        interrupted = abort => Err(interrupted.into()),
    }
}

/// The folders of `--root`, for a server that asks for them.
fn roots(folders: &[PathBuf]) -> Result<Vec<Root>> {
    folders.iter().map(|folder| Ok(Root::at(folder.canonicalize()?))).collect()
}

/// Copies the lines of a child's stderr to the notes, each after the child's name.
fn stderr_of(name: &'static str, notes: &Notes, recorder: Option<Recorder>) -> Stderr {
    let notes = notes.clone();
    Stderr::Lines(Arc::new(move |line| {
        record_stderr(recorder.as_ref(), line);
        notes.add(&format!("{name}: {line}"));
    }))
}

/// A program whose connections are recorded.
fn recorded_command(command: Command, recorder: Recorder) -> Target {
    let name = format!("{command:?}");
    let open = move || {
        let child = Child::spawn(command.clone())?;
        Ok(record_transport(child, Some(recorder.clone()), Side::Client))
    };
    CustomTarget::new(name, open).into()
}

/// How long to wait for the answer to `server/discover` before `initialize` is tried: 5 s, or half the timeout.
const DISCOVER_LIMIT: Duration = Duration::from_secs(5);

/// Adds the tokens that are kept. A person at a terminal logs in first, if the server asks for it: no time limit counts then.
async fn add_tokens(
    options: ConnectOptions,
    target: &HttpTarget,
    json: bool,
    notes: &Notes,
    recorder: Option<Recorder>,
) -> Result<ConnectOptions> {
    let is_there = is_person_there(json);
    let Some(authorization) = authorization(is_there, notes) else {
        return Ok(options.wrap_http(move |_, client| {
            Ok::<_, Infallible>(RecordingClient::new(client, recorder.clone()))
        }));
    };
    if is_there {
        authorization.ensure(target.url()).await?;
    }
    Ok(with_tokens(options, authorization, recorder))
}

/// The target with the headers for it, and whether one of them is `Authorization`.
fn with_headers(connect: &Connect, notes: &Notes) -> Result<(Target, bool)> {
    let all = connect.headers.read()?;
    let is_authorized = all.iter().any(|header| header.name.eq_ignore_ascii_case("authorization"));
    match target_of(connect, notes)? {
        Target::Http(target) => {
            // A file may have headers for it too.
            let is_authorized = is_authorized || target.headers().contains_key(AUTHORIZATION);
            let url = target.url().to_owned();
            Ok((add_headers(target, &url, &all, notes)?.into(), is_authorized))
        }
        target if all.is_empty() => Ok((target, false)),
        _ => Err(Usage("--header: only servers at a URL take headers".into()).into()),
    }
}
