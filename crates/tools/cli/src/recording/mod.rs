//! `--record` and `--trace`: the recorder of a command, and what passes its messages.

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
use crate::mcp::arguments::{Connect, Place};
use crate::output::text::Notes;

/// How long masking and writing the last events may take: 30 s.
const FINISH_LIMIT: Duration = Duration::from_secs(30);

/// Starts the recorder that the command line asks for.
pub(crate) fn start(arguments: &Arguments, notes: &Notes) -> Result<Option<Recorder>> {
    let options = &arguments.recording;
    if !options.masks.is_empty() {
        // A wrong pattern is an error even without a recording.
        masker(&options.masks, options.no_mask)?;
    }
    let (transport, protocol) = match &arguments.command {
        Command::Chat(_) | Command::Agent(_) => (TransportKind::Stdio, Some(Protocol::Acp)),
        Command::Server(server) => {
            let is_http = server.place.http.is_some() || server.place.sse.is_some();
            let transport = if server.place.sse.is_some() { TransportKind::Sse } else { TransportKind::Http };
            (if is_http { transport } else { TransportKind::Stdio }, Some(Protocol::Mcp))
        }
        Command::Tools(tools) => (transport_to(&tools.connect), Some(Protocol::Mcp)),
        Command::Call(call) => (transport_to(&call.connect), Some(Protocol::Mcp)),
        Command::Inspect(server) | Command::Resources(server) | Command::Prompts(server) => {
            (transport_to(&server.connect), Some(Protocol::Mcp))
        }
        Command::Read(read) => (transport_to(&read.connect), Some(Protocol::Mcp)),
        Command::Prompt(prompt) => (transport_to(&prompt.connect), Some(Protocol::Mcp)),
        Command::Complete(complete) => (transport_to(&complete.connect), Some(Protocol::Mcp)),
        Command::Request(request) => (transport_to(&request.connect), Some(Protocol::Mcp)),
        Command::Recordings(Commands::Record(record)) if record.http.is_some() => {
            (TransportKind::Http, Some(Protocol::Mcp))
        }
        Command::Recordings(Commands::Record(_)) => (TransportKind::Stdio, None),
        Command::Agents(_)
        | Command::Login(_)
        | Command::Logout(_)
        | Command::Check(_)
        | Command::Sessions(_)
        | Command::Recordings(_)
        | Command::Manual(_) => {
            return match (&options.record, &options.trace) {
                (Some(_), _) => Err(Usage("--record: this command passes no messages".into()).into()),
                (_, Some(_)) => Err(Usage("--trace: this command passes no messages".into()).into()),
                (None, None) => Ok(None),
            };
        }
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

/// Names the transport in the recording: the command line may have a name, which does not show it.
pub(crate) fn record_kind(target: &Target, recorder: Option<&Recorder>) {
    if let (Target::Http(_), Some(recorder)) = (target, recorder) {
        recorder.set_transport(TransportKind::Http);
    }
}

/// Writes what is left.
pub(crate) fn finish(recorder: &Recorder, notes: &Notes) {
    let had_stopped = recorder.has_stopped();
    if !recorder.finish(FINISH_LIMIT) && !had_stopped && !recorder.has_stopped() {
        notes.add(
            "warning: the recording was not finished in 30 s: it may lack its end, and may have secrets from before they were known",
        );
    }
}

/// Records a line of the stderr of a program that we have started.
pub(crate) fn record_stderr(recorder: Option<&Recorder>, line: &str) {
    if let Some(recorder) = recorder {
        recorder.record(Side::Server, EventKind::Stderr(Line::new(line)));
    }
}

/// The side whose messages a trace calls sent. Between a client and a program, `record` counts as the client.
fn our_side(command: &Command) -> Side {
    match command {
        Command::Agent(_) | Command::Server(_) => Side::Server,
        _ => Side::Client,
    }
}

fn transport_to(connect: &Connect) -> TransportKind {
    if is_http(connect) { TransportKind::Http } else { TransportKind::Stdio }
}

/// Whether the command line has a URL for the server.
fn is_http(connect: &Connect) -> bool {
    match &connect.place {
        Place::Text(text) => is_url(text.trim()),
        Place::Command(words) => words.first().and_then(|word| word.to_str()).is_some_and(is_url),
        Place::Target(target) => matches!(**target, Target::Http(_)),
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
