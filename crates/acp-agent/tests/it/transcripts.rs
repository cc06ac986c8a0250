use std::path::Path;

use agentwire_acp_agent::{Closed, serve};
use agentwire_schema_tests::{Conversation, Side, checked};
use agentwire_transport::{Transport, lines};
use tokio_util::compat::{TokioAsyncReadCompatExt, TokioAsyncWriteCompatExt};

use crate::raw_peer::play;
use crate::scripted::Scripted;

/// A wire whose near end goes to an agent, and its far end to a client that plays the transcript.
fn wire() -> (impl Transport, tokio::io::DuplexStream) {
    let (near, far) = tokio::io::duplex(1 << 20);
    let (read, write) = tokio::io::split(near);
    (lines(read.compat(), write.compat_write()), far)
}

/// What an agent says is held against the schema of the version that is spoken.
pub(crate) fn in_schema(wire: impl Transport) -> impl Transport {
    checked(wire, Conversation::acp(), Side::Server)
}

/// Serves an agent to a client that plays the transcript, on a clock that is paused.
pub(crate) fn check(
    transcript: &str,
    serve: impl AsyncFnOnce(Box<dyn Transport>) -> Result<(), Closed>,
) -> Result<(), String> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
    runtime.expect("a runtime needs nothing").block_on(async {
        let (near, far) = wire();
        let (served, played) = futures::join!(serve(Box::new(near)), play(transcript, far));
        played.and_then(|()| served.map_err(|closed| format!("the agent ended badly: {closed}")))
    })
}

/// Every file of a folder in `tests` is a test.
pub(crate) fn check_all(folder: &str, serve: impl AsyncFn(&str, Box<dyn Transport>) -> Result<(), Closed>) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(folder);
    let mut failures = Vec::new();
    let mut played = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let transcript = std::fs::read_to_string(&path).unwrap();
        let name = path.file_stem().unwrap().to_str().unwrap();
        played += 1;
        if let Err(why) = check(&transcript, async |wire| serve(name, wire).await) {
            failures.push(format!("{name}, {why}"));
        }
    }
    assert!(
        played > 0 && failures.is_empty(),
        "{} of {played} failed\n{}",
        failures.len(),
        failures.join("\n")
    );
}

#[test]
fn all() {
    check_all("transcripts", async |_, wire| serve(Scripted::default(), in_schema(wire)).await);
}
