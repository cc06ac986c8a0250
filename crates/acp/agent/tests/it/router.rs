//! Tests of the router against clients that replay scripts.

use agentwire_acp_agent::Router;

use crate::scripted::Scripted;
use crate::scripted_v2::ScriptedV2;
use crate::scripts::check_all;

#[test]
fn scripts_of_version_1_alone() {
    check_all("acp-agent-router/v1", async |wire| Router::v1(Scripted::default()).serve(wire).await);
}

#[test]
fn scripts_of_version_2_alone() {
    check_all("acp-agent-router/v2", async |wire| Router::v2(ScriptedV2::default()).serve(wire).await);
}

#[test]
fn scripts_of_both_versions() {
    check_all("acp-agent-router/both", async |wire| {
        Router::both(Scripted::default(), ScriptedV2::default()).serve(wire).await
    });
}
