//! Replays the scripts of the conformance suite against agents.

use agentwire_acp_agent::{Closed, serve};
use agentwire_recording::script::Script;
use agentwire_schema_tests::{Conversation, Side, checked};
use agentwire_transport::{Transport, lines};
use tokio_util::compat::{TokioAsyncReadCompatExt, TokioAsyncWriteCompatExt};

use crate::script::{damaged, folder, play, read};
use crate::scripted::Scripted;

/// Returns the two ends of a connection: one for an agent, one for a client that replays a script.
fn wire() -> (impl Transport, tokio::io::DuplexStream) {
    let (near, far) = tokio::io::duplex(1 << 20);
    let (read, write) = tokio::io::split(near);
    (lines(read.compat(), write.compat_write()), far)
}

/// Checks the agent's messages against the schema of the negotiated version.
pub(crate) fn in_schema(wire: impl Transport) -> impl Transport {
    checked(wire, Conversation::acp(), Side::Server)
}

/// Serves an agent to a client that plays the script, on a paused clock.
pub(crate) fn check(
    script: &Script,
    serve: impl AsyncFnOnce(Box<dyn Transport>) -> Result<(), Closed>,
) -> Result<(), String> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
    runtime.expect("a runtime needs nothing").block_on(async {
        let (near, far) = wire();
        let (served, played) = futures::join!(serve(Box::new(near)), play(script, far));
        played.map_err(|failure| failure.to_string())?;
        served.map_err(|closed| format!("the agent ended badly: {closed}"))
    })
}

/// Plays every script of a folder. Then plays the script once for each message that it expects, with a wrong message
/// expected there. Each of these runs must fail.
pub(crate) fn check_all(name: &str, serve: impl AsyncFn(Box<dyn Transport>) -> Result<(), Closed>) {
    let mut failures = Vec::new();
    let mut played = 0;
    for entry in std::fs::read_dir(folder(name)).unwrap() {
        let path = entry.unwrap().path();
        let script = read(&path);
        let name = path.file_stem().unwrap().to_str().unwrap();
        played += 1;
        if let Err(why) = check(&script, &serve) {
            failures.push(format!("{name}, {why}"));
        }
        for (event, damaged) in damaged(&script) {
            let outcome = check(&damaged, &serve);
            let failed_there = |why: &String| why.starts_with(&format!("event {event}: "));
            if !outcome.as_ref().is_err_and(failed_there) {
                failures.push(format!("{name}, event {event} expects something else and gives {outcome:?}"));
            }
        }
    }
    assert!(
        played > 0 && failures.is_empty(),
        "{} failures of {played} scripts\n{}",
        failures.len(),
        failures.join("\n")
    );
}

#[test]
fn all() {
    check_all("acp-agent", async |wire| serve(Scripted::default(), in_schema(wire)).await);
}
