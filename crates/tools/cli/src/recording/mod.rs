//! `--record` and `--trace`: the recorder of a command, and the transports that record.

mod arguments;
mod host;
mod http_client;
mod process_group;
mod record;
mod reduce;
mod replay;
mod service;
mod stdio;

use agentwire_jsonrpc::WithCauses;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use agentwire_mcp_hub::Target;
use agentwire_mcp_server::Server;
pub(crate) use agentwire_recording::Recorder;
use agentwire_recording::{
    EventKind, Line, Masker, Protocol, RecorderConfig, Side, TransportKind, record_transport,
};
use agentwire_transport::Transport;
use agentwire_transport_http::client::HttpClient;
use anyhow::{Context as _, Result};

pub(crate) use self::arguments::{Commands, RecordingOptions};
use self::host::host;
use self::http_client::RecordingClient;
use self::service::RecordingService;
pub(crate) use self::stdio::recorded_stdio;

use crate::arguments::{Arguments, Command};
use crate::command_line::is_url;
use crate::failure::Usage;
use crate::mcp::arguments::{Call, Complete, Prompt, Read, Request, TargetArgument, Tools};
use crate::output::text::Notes;

/// The timeout of masking and writing the last events: 30 s.
const FINISH_LIMIT: Duration = Duration::from_secs(30);

/// Starts the recorder of `--record`, `--trace` or `record`.
pub(crate) fn start(arguments: &Arguments, notes: &Notes) -> Result<Option<Recorder>> {
    let options = &arguments.recording;
    if !options.masks.is_empty() {
        // A wrong pattern is an error even without a recording.
        masker(&options.masks, options.no_mask)?;
    }
    let Some((transport, protocol)) = recorded_kind(&arguments.command) else {
        return match (&options.record, &options.trace) {
            (Some(_), _) => Err(Usage("--record: this command passes no messages".into()).into()),
            (_, Some(_)) => Err(Usage("--trace: this command passes no messages".into()).into()),
            (None, None) => Ok(None),
        };
    };
    let (option, path) = match (&options.trace, &options.record, &arguments.command) {
        (Some(path), ..) => ("--trace", path.clone()),
        (None, Some(path), _) => ("--record", path.clone()),
        (None, None, Command::Recordings(_)) => ("--record", free_path()?),
        (None, None, _) => return Ok(None),
    };
    let warnings = notes.clone();
    let mut config = RecorderConfig::new(transport)
        .masker(masker(&options.masks, options.no_mask)?)
        .on_stop(move |error| warnings.add(&format!("warning: {}", WithCauses::new(&error))));
    if let Some(protocol) = protocol {
        config = config.protocol(protocol);
    }
    if options.trace.is_some() {
        config = config.trace(our_side(&arguments.command));
    }
    let refused = |error: std::io::Error| Usage(format!("{option} {}: {error}", path.display()));
    let recorder = config.create(&path).map_err(refused)?;
    if options.record.is_none() && options.trace.is_none() {
        notes.add(&format!("recording in {}", path.display()));
    }
    Ok(Some(recorder))
}

/// The transport and, if it is known, the protocol of a command's messages. `None` if the command passes no messages.
fn recorded_kind(command: &Command) -> Option<(TransportKind, Option<Protocol>)> {
    let connect = match command {
        Command::Chat(_) | Command::Agent(_) => return Some((TransportKind::Stdio, Some(Protocol::Acp))),
        Command::Server(server) => {
            let transport = match (&server.listen.sse, &server.listen.http) {
                (Some(_), _) => TransportKind::Sse,
                (None, Some(_)) => TransportKind::Http,
                (None, None) => TransportKind::Stdio,
            };
            return Some((transport, Some(Protocol::Mcp)));
        }
        Command::Recordings(Commands::Record(record)) => {
            return Some(match record.http {
                Some(_) => (TransportKind::Http, Some(Protocol::Mcp)),
                None => (TransportKind::Stdio, None),
            });
        }
        Command::Agents(_)
        | Command::Login(_)
        | Command::Logout(_)
        | Command::Check(_)
        | Command::Sessions(_)
        | Command::Recordings(_)
        | Command::Manual(_) => return None,
        Command::Inspect(server) | Command::Resources(server) | Command::Prompts(server) => &server.connect,
        Command::Tools(Tools { connect, .. })
        | Command::Call(Call { connect, .. })
        | Command::Read(Read { connect, .. })
        | Command::Prompt(Prompt { connect, .. })
        | Command::Complete(Complete { connect, .. })
        | Command::Request(Request { connect, .. }) => connect,
    };
    let is_http = match &connect.target_argument {
        TargetArgument::Text(text) => is_url(text.trim()),
        TargetArgument::Command(words) => words.first().and_then(|word| word.to_str()).is_some_and(is_url),
        TargetArgument::Target(target) => matches!(**target, Target::Http(_)),
    };
    Some((if is_http { TransportKind::Http } else { TransportKind::Stdio }, Some(Protocol::Mcp)))
}

/// Runs `record`, `replay` or `reduce`.
pub(crate) async fn run(
    command: Commands,
    json: bool,
    notes: &Notes,
    recorder: Option<Recorder>,
) -> Result<()> {
    match command {
        Commands::Record(record) => record::run(record, notes, recorder).await,
        Commands::Replay(replay) => replay::run(replay, json, notes).await,
        Commands::Reduce(reduce) => reduce::run(reduce, json, notes).await,
    }
}

/// A transport to an agent or a server whose messages are recorded.
pub(crate) fn recorded_transport(transport: impl Transport, recorder: Option<Recorder>) -> impl Transport {
    record_transport(transport, recorder, Side::Client)
}

/// An HTTP client whose exchanges are recorded.
pub(crate) fn recorded_client(client: impl HttpClient, recorder: Option<Recorder>) -> impl HttpClient {
    RecordingClient::new(client, recorder)
}

/// A server over HTTP whose messages are recorded.
pub(crate) fn recorded_server(server: Server, recorder: Recorder) -> RecordingService {
    RecordingService::new(server, recorder)
}

/// Records HTTP as the transport, if the command line has the name of a server, which does not show the transport.
pub(crate) fn record_kind(target: &Target, recorder: Option<&Recorder>) {
    if let (Target::Http(_), Some(recorder)) = (target, recorder) {
        recorder.set_transport(TransportKind::Http);
    }
}

/// Finishes the recording.
pub(crate) fn finish(recorder: &Recorder, notes: &Notes) {
    let had_stopped = recorder.has_stopped();
    if !recorder.finish(FINISH_LIMIT) && !had_stopped && !recorder.has_stopped() {
        notes.add(
            "warning: the recording was not finished in 30 s: it may lack its end, and may have secrets from before they were known",
        );
    }
}

/// Records a line of the stderr of a program that we started.
pub(crate) fn record_stderr(recorder: Option<&Recorder>, line: &str) {
    if let Some(recorder) = recorder {
        recorder.record(Side::Server, EventKind::Stderr(Line::new(line)));
    }
}

/// The side whose messages are "sent" in a trace. `record`, between a client and a program, counts as the client.
fn our_side(command: &Command) -> Side {
    match command {
        Command::Agent(_) | Command::Server(_) => Side::Server,
        _ => Side::Client,
    }
}

fn masker(patterns: &[String], is_off: bool) -> Result<Option<Masker>> {
    if is_off {
        return Ok(None);
    }
    let mut masker = Masker::from_env();
    if let Some(host) = host() {
        masker = masker.host(&host);
    }
    for pattern in patterns {
        masker = masker.pattern(pattern).map_err(|error| Usage(format!("--mask: {error}")))?;
    }
    Ok(Some(masker))
}

/// A file in the current directory that does not exist yet.
fn free_path() -> Result<PathBuf> {
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs());
    let name = |number: u32| match number {
        0 => format!("agentwire-{seconds}.jsonl"),
        number => format!("agentwire-{seconds}-{number}.jsonl"),
    };
    let free = (0..1000).map(name).find(|name| !Path::new(name).exists());
    Ok(free.context("the directory has too many recordings")?.into())
}
