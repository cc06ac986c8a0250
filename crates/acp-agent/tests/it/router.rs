use agentwire_acp_agent::Router;

use crate::scripted::Scripted;
use crate::scripted_v2::ScriptedV2;
use crate::transcripts::check_all;

/// The names of the transcripts begin with what is served.
#[test]
fn transcripts() {
    check_all("transcripts-router", async |name, wire| match name.split('-').next() {
        Some("v1") => Router::v1(Scripted::default()).serve(wire).await,
        Some("v2") => Router::v2(ScriptedV2::default()).serve(wire).await,
        Some("both") => Router::both(Scripted::default(), ScriptedV2::default()).serve(wire).await,
        _ => panic!("{name} names no agent"),
    });
}
