//! `agentwire replay`: plays one side of a recording against the other side, and prints the differences.

mod http;
mod program;
mod url;

use std::env;
use std::fs::File;
use std::io::BufReader;
use std::path::Path;
use std::time::Duration;

use agentwire_recording::{LineWire, Protocol, Recording, Replay, ReplayConfig, Side, Wire};
use agentwire_transport_stdio::{Input, Output};
use anyhow::{Context as _, Result, ensure};

pub(crate) use self::program::Program;

use super::arguments::{self, PlayedSide};
use super::host::host;
use crate::failure::{AlreadyPrinted, Usage, sentence};
use crate::output::print_json;
use crate::output::text;
use crate::output::text::Notes;
use crate::signals::Signals;

/// Plays the recording, and fails if anything differs.
pub(super) async fn run(arguments: arguments::Replay, json: bool, notes: &Notes) -> Result<()> {
    let recording = read(&arguments.file)?;
    let side = side(&arguments, &recording)?;
    let mut replay = Replay::new(&recording, side, &arguments.comparison.ignored, masks());
    let config = ReplayConfig::new().timeout(arguments.comparison.timeout).realtime(arguments.realtime);
    let is_on_stdout = arguments.command.is_empty() && arguments.url.is_none() && arguments.http.is_none();
    let mut signals = Signals::listen()?;
    let played = async {
        if !arguments.command.is_empty() {
            let (mut program, wire) = Program::start(&arguments.command, Some(notes))?;
            drive(wire, &mut replay, side, config, notes).await;
            program.end().await;
        } else if let Some(url) = &arguments.url {
            let wire = url::connect(url, &arguments.headers, &recording)?;
            drive(wire, &mut replay, side, config, notes).await;
        } else if let Some(address) = &arguments.http {
            http::serve(address, &recording, &mut replay, config, notes).await?;
        } else {
            let wire = LineWire::new(Input::stdin()?, Output::stdout()?);
            drive(wire, &mut replay, side, config, notes).await;
        }
        Ok::<_, anyhow::Error>(())
    };
    tokio::select! {
        played = played => played?,
        interrupted = signals.interrupted() => {
            // Prints the differences so far. Messages that did not arrive count as missing.
            let _differs = report(&replay, json, is_on_stdout, notes);
            return Err(AlreadyPrinted(interrupted.into()).into());
        }
    }
    report(&replay, json, is_on_stdout, notes)
}

/// Drives the replay. A failure of the live side's connection only adds a note: the messages that did not arrive are differences.
async fn drive(wire: impl Wire, replay: &mut Replay, side: Side, config: ReplayConfig, notes: &Notes) {
    let played = agentwire_recording::replay(wire, replay, side, config, tokio::time::sleep).await;
    if let Err(error) = played {
        notes.add(&format!("the other side ended: {}", sentence(&anyhow::Error::new(error))));
    }
}

/// Prints the differences on stdout, or on stderr if stdout has the messages.
fn report(replay: &Replay, json: bool, is_on_stdout: bool, notes: &Notes) -> Result<()> {
    let (differences, more) = replay.differences();
    for difference in differences {
        match (json, is_on_stdout) {
            (true, false) => print_json(difference)?,
            (false, false) => text::print_line(&difference.to_string())?,
            (true, true) => notes.add(&serde_json::to_string(difference)?),
            (false, true) => notes.add(&difference.to_string()),
        }
    }
    let count = differences.len() + more;
    let what = match count {
        0 => return Ok(()),
        1 => "the replay has 1 difference".to_owned(),
        count => format!("the replay has {count} differences"),
    };
    // The differences are printed already.
    Err(AlreadyPrinted(anyhow::anyhow!(what)).into())
}

/// Reads a recording.
pub(crate) fn read(path: &Path) -> Result<Recording> {
    let named = || path.display().to_string();
    let file = File::open(path).map_err(|why| Usage(format!("{}: {why}", named())))?;
    let recording = Recording::read(BufReader::new(file)).with_context(named)?;
    ensure!(!recording.events.is_empty(), "{}: the recording has no events", named());
    Ok(recording)
}

/// The values that replace masks in sent messages.
pub(crate) fn masks() -> Vec<(String, String)> {
    let variable = |names: &[&str]| names.iter().find_map(|name| env::var(name).ok());
    let home = variable(&["HOME", "USERPROFILE"]).map(|home| ("«home»".to_owned(), home));
    let user = variable(&["USER", "LOGNAME", "USERNAME"]).map(|user| ("«user»".to_owned(), user));
    let host = host().map(|host| ("«host»".to_owned(), host));
    [home, user, host].into_iter().flatten().collect()
}

fn side(arguments: &arguments::Replay, recording: &Recording) -> Result<Side> {
    let against_server = !arguments.command.is_empty() || arguments.url.is_some();
    let other = match recording.header.protocol {
        Some(Protocol::Acp) => Side::Agent,
        Some(_) => Side::Server,
        None => {
            let of_events = recording.events.iter().map(|event| event.from).find(|from| !from.is_client());
            of_events.unwrap_or(Side::Server)
        }
    };
    let side = match arguments.side {
        Some(PlayedSide::Client) => Side::Client,
        Some(PlayedSide::Agent) => Side::Agent,
        Some(PlayedSide::Server) => Side::Server,
        None if against_server => Side::Client,
        None => other,
    };
    match (side.is_client(), against_server) {
        (false, true) if arguments.url.is_some() => {
            Err(Usage("--url: against a server, only the client can be played".into()).into())
        }
        (true, _) if arguments.http.is_some() => {
            Err(Usage("--http: only the server can be played at an address".into()).into())
        }
        _ => Ok(side),
    }
}

/// The time for a program to end after its stdin was closed.
const END: Duration = Duration::from_secs(2);
