//! The agent of the scripts, on stdin and stdout: it does what the members `_meta` and the prompts of a script tell it.
//!
//! The tests of `acp-agent` play the scripts to the same agent without a process, so they own its source.

#[path = "../../../crates/acp/agent/tests/it/scripted.rs"]
mod scripted;
#[path = "../../../crates/acp/agent/tests/it/scripted_v2.rs"]
mod scripted_v2;

use agentwire_acp_agent::{Router, serve, v2};
use agentwire_transport_stdio::stdio;
use anyhow::bail;

use self::scripted::Scripted;
use self::scripted_v2::ScriptedV2;

#[tokio::main(flavor = "current_thread")]
async fn main() -> anyhow::Result<()> {
    let served = std::env::args().nth(1).unwrap_or_default();
    match &*served {
        "v1" => serve(Scripted::default(), stdio()?).await?,
        "v2" => v2::serve(ScriptedV2::default(), stdio()?).await?,
        "router-v1" => Router::v1(Scripted::default()).serve(stdio()?).await?,
        "router-v2" => Router::v2(ScriptedV2::default()).serve(stdio()?).await?,
        "router-both" => Router::both(Scripted::default(), ScriptedV2::default()).serve(stdio()?).await?,
        other => bail!("what is served is v1, v2, router-v1, router-v2 or router-both, not {other:?}"),
    }
    Ok(())
}
