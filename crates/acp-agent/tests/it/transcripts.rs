use std::path::Path;

use agentwire_acp_agent::{Agent, serve};
use agentwire_schema_tests::{Conversation, Side, checked};
use agentwire_transport::lines;
use tokio_util::compat::{TokioAsyncReadCompatExt, TokioAsyncWriteCompatExt};

use crate::raw_peer::play;
use crate::scripted::Scripted;

/// Serves `agent` to a client that plays the transcript, on a clock that is paused.
fn check(transcript: &str, agent: impl Agent) -> Result<(), String> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
    runtime.expect("a runtime needs nothing").block_on(async {
        let (near, far) = tokio::io::duplex(1 << 20);
        let (read, write) = tokio::io::split(near);
        let wire = lines(read.compat(), write.compat_write());
        let served = serve(agent, checked(wire, Conversation::acp(), Side::Server));
        let (served, played) = futures::join!(served, play(transcript, far));
        played.and_then(|()| served.map_err(|closed| format!("the agent ended badly: {closed}")))
    })
}

/// Every file of `tests/transcripts` is a test.
#[test]
fn all() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/transcripts");
    let mut failures = Vec::new();
    let mut played = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let transcript = std::fs::read_to_string(&path).unwrap();
        played += 1;
        if let Err(why) = check(&transcript, Scripted::default()) {
            failures.push(format!("{}, {why}", path.file_name().unwrap().display()));
        }
    }
    assert!(
        played > 0 && failures.is_empty(),
        "{} of {played} failed\n{}",
        failures.len(),
        failures.join("\n")
    );
}
