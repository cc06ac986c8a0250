//! The scripts of the conformance suite, and their player for tests. The player reads and writes bytes and uses none of
//! the types under test, so that it cannot share their mistakes.

use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};
use std::time::Duration;

use agentwire_recording::script::{LineStreams, Script, ScriptConfig, ScriptEvent, ScriptFailure};
use serde_json::Value;
use tokio::io::DuplexStream;
use tokio_util::compat::{TokioAsyncReadCompatExt, TokioAsyncWriteCompatExt};

/// The time limit for a message, and the required duration of silence, both on a paused clock.
const LIMIT: Duration = Duration::from_secs(60);

/// Returns the path of a folder of scripts.
pub(crate) fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tools/conformance/scripts").join(name)
}

/// Reads the script in a file.
pub(crate) fn read(path: &Path) -> Script {
    let file = File::open(path).unwrap_or_else(|why| panic!("{}: {why}", path.display()));
    Script::read(BufReader::new(file)).unwrap_or_else(|why| panic!("{}: {why}", path.display()))
}

/// Plays a script over the client's end of a connection, closes it, and checks that no further message arrives.
pub(crate) async fn play(script: &Script, wire: DuplexStream) -> Result<(), ScriptFailure> {
    let (read, write) = tokio::io::split(wire);
    let mut wire = LineStreams::new(read.compat(), write.compat_write());
    let config = ScriptConfig::new().message(LIMIT).quiet(LIMIT);
    agentwire_recording::script::play(script, &mut wire, config, tokio::time::sleep).await
}

/// Returns copies of a script that each expect a wrong message at one event, with the number of the event.
pub(crate) fn damaged(script: &Script) -> impl Iterator<Item = (usize, Script)> {
    script.events.iter().enumerate().filter_map(move |(index, event)| {
        let ScriptEvent::Expect(pattern) = event else { return None };
        let mut pattern = pattern.clone();
        assert!(damage(&mut pattern), "event {} fixes no value", index + 1);
        let mut damaged = script.clone();
        damaged.events[index] = ScriptEvent::Expect(pattern);
        Some((index + 1, damaged))
    })
}

/// Changes the last fixed value of a pattern. Returns whether the pattern has a fixed value.
fn damage(pattern: &mut Value) -> bool {
    match pattern {
        Value::Object(members) => {
            let mut members: Vec<_> = members.iter_mut().filter(|(name, _)| *name != "...").collect();
            members.iter_mut().rev().any(|(_, value)| damage(value))
        }
        Value::Array(elements) => elements.iter_mut().rev().any(damage),
        Value::String(text) if is_name(text) || text == "*" => false,
        other => {
            *other = Value::from("another value");
            true
        }
    }
}

/// Returns whether a string of a pattern is the name of a variable.
fn is_name(text: &str) -> bool {
    text.starts_with('$') && !text.starts_with("$/")
}
