//! `agentwire reduce`: shrinks a recording whose replay differs.

use std::fs;
use std::io;
use std::ops::ControlFlow;
use std::path::Path;

use agentwire_jsonrpc::RawJson;
use agentwire_recording::{
    EventKind, Recording, Reduction, Replay, ReplayConfig, Side, reduce, write_private,
};
use anyhow::Result;
use bytestring::ByteString;

use super::arguments::Reduce;
use super::replay::{Program, masks, read};
use crate::failure::{AlreadyPrinted, Interrupted, Usage};
use crate::output::print_json;
use crate::output::text::Notes;
use crate::signals::Signals;

/// Prints or writes the smaller recording, and fails if nothing differs. A signal ends the search with the smallest one so far.
pub(super) async fn run(arguments: Reduce, json: bool, notes: &Notes) -> Result<()> {
    let recording = read(&arguments.file)?;
    if let Some(out) = &arguments.out
        && is_same_file(out, &arguments.file)
    {
        return Err(Usage("--out: it is the file that is read, which would be lost".into()).into());
    }
    let (reduction, interruption) = search(&recording, &arguments).await?;
    match &arguments.out {
        Some(path) => {
            let text = reduction.recording.to_text();
            write_private(path, &text)
                .map_err(|error| Usage(format!("--out {}: {error}", path.display())))?;
        }
        None => print(&reduction.recording)?,
    }
    let (before, after) = (messages(&recording), messages(&reduction.recording));
    let end = match (interruption, reduction.is_limited) {
        (Some(_), _) => ", and then it was interrupted",
        (None, true) => ", which is the limit",
        (None, false) => "",
    };
    notes.add(&format!("{before} messages became {after} in {} runs{end}", reduction.runs));
    match json {
        true if arguments.out.is_some() => print_json(&reduction.difference)?,
        _ => notes.add(&reduction.difference.to_string()),
    }
    match interruption {
        Some(interrupted) => Err(AlreadyPrinted(interrupted.into()).into()),
        None => Ok(()),
    }
}

/// Searches until the end or a signal. Fails if the program does not start, or if nothing was found.
async fn search(recording: &Recording, arguments: &Reduce) -> Result<(Reduction, Option<Interrupted>)> {
    let config = ReplayConfig::new().timeout(arguments.comparison.timeout).stop_at_first(true);
    let mut failure = None;
    let mut interruption = None;
    let mut signals = Signals::listen()?;
    let run = async |candidate: &Recording| {
        let (mut program, wire) = match Program::start(&arguments.command, None) {
            Ok(started) => started,
            Err(error) => {
                failure = Some(error);
                return ControlFlow::Break(());
            }
        };
        let mut replay = Replay::new(candidate, Side::Client, &arguments.comparison.ignored, masks());
        let played = async {
            // A failure to end the program does not count as a difference.
            let _ended =
                agentwire_recording::replay(wire, &mut replay, Side::Client, config, tokio::time::sleep)
                    .await;
            program.end().await;
        };
        tokio::select! {
            () = played => ControlFlow::Continue(replay.differences().0.first().cloned()),
            interrupted = signals.interrupted() => {
                interruption = Some(interrupted);
                ControlFlow::Break(())
            }
        }
    };
    let reduction = reduce(recording, Side::Client, arguments.runs, run).await;
    match (failure, reduction, interruption) {
        (Some(error), ..) => Err(error),
        (None, Some(reduction), _) => Ok((reduction, interruption)),
        (None, None, Some(interrupted)) => Err(interrupted.into()),
        (None, None, None) => anyhow::bail!("the replay has no difference"),
    }
}

/// Whether two paths lead to the same file.
fn is_same_file(one: &Path, other: &Path) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt as _;
        let id = |path: &Path| fs::metadata(path).ok().map(|file| (file.dev(), file.ino()));
        id(one).is_some_and(|one| Some(one) == id(other))
    }
    #[cfg(not(unix))]
    fs::canonicalize(one).is_ok_and(|one| fs::canonicalize(other).is_ok_and(|other| one == other))
}

fn messages(recording: &Recording) -> usize {
    recording.events.iter().filter(|event| matches!(event.kind, EventKind::Message(_))).count()
}

/// Prints a recording, in which characters that control a terminal are escaped.
fn print(recording: &Recording) -> io::Result<()> {
    for line in recording.to_text().lines() {
        let line = RawJson::parse(ByteString::from(line)).map_err(io::Error::from)?;
        print_json(&line)?;
    }
    Ok(())
}
