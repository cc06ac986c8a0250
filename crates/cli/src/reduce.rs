//! `agentwire reduce`: shrinks a recording whose replay differs.

use std::fs;
use std::io;

use agentwire_jsonrpc::RawJson;
use agentwire_recording::{EventKind, Recording, Replay, ReplayConfig, Side, reduce};
use anyhow::{Context as _, Result};
use bytestring::ByteString;

use crate::arguments::Reduce;
use crate::output::print_json;
use crate::replay::{Program, masks, read};
use crate::signals::Signals;
use crate::text::Notes;

/// Prints or writes the smaller recording, and fails if nothing differs.
pub(crate) async fn run(arguments: Reduce, json: bool, notes: &Notes) -> Result<()> {
    let recording = read(&arguments.file)?;
    let config = ReplayConfig::new().timeout(arguments.comparison.timeout).stop_at_first(true);
    let mut failure = None;
    let run = async |candidate: &Recording| {
        let (mut program, wire) = match Program::start(&arguments.command, None) {
            Ok(started) => started,
            Err(error) => {
                failure = Some(error);
                return None;
            }
        };
        let mut replay = Replay::new(candidate, Side::Client, &arguments.comparison.ignored, masks());
        // How the program ends is no difference.
        let _ended =
            agentwire_recording::replay(wire, &mut replay, Side::Client, config, tokio::time::sleep).await;
        program.end().await;
        replay.differences().0.first().cloned()
    };
    let mut signals = Signals::listen()?;
    let reduction = tokio::select! {
        reduction = reduce(&recording, Side::Client, arguments.runs, run) => reduction,
        () = signals.next() => anyhow::bail!("interrupted"),
    };
    if let Some(error) = failure {
        return Err(error);
    }
    let reduction = reduction.context("the replay has no difference")?;
    match &arguments.out {
        Some(path) => {
            fs::write(path, reduction.recording.to_text()).with_context(|| path.display().to_string())?;
        }
        None => print(&reduction.recording)?,
    }
    let (before, after) = (messages(&recording), messages(&reduction.recording));
    let limited = if reduction.is_limited { ", which is the limit" } else { "" };
    notes.add(&format!("{before} messages became {after} in {} runs{limited}", reduction.runs));
    match json {
        true if arguments.out.is_some() => print_json(&reduction.difference)?,
        _ => notes.add(&reduction.difference.to_string()),
    }
    Ok(())
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
