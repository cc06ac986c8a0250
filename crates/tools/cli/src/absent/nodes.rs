//! Without the feature `nodes`: a server shares no sessions and tasks with others.

use agentwire_mcp_server::Server;
use agentwire_store::Node;
use anyhow::Result;
use clap::Args;

use crate::absent::Absent;
use crate::failure::Usage;
use crate::features::missing;

/// The options of the engine: none in this build.
#[derive(Debug, Args)]
pub(crate) struct NodeOptions {}

/// The key-value store that servers share. It has no values in this build.
pub(super) struct Engine(Absent);

impl Engine {
    /// Fails where the environment names an engine: a server that does not share it would lose its clients' sessions.
    pub(super) async fn join(_: &NodeOptions, _has_keys: bool) -> Result<Option<(Node, Self)>> {
        match std::env::var_os("AGENTWIRE_REDIS").filter(|url| !url.is_empty()) {
            Some(_) => Err(Usage(missing("support for $AGENTWIRE_REDIS", "nodes")).into()),
            None => Ok(None),
        }
    }

    pub(super) fn share_tasks(&self, _: Server) -> Server {
        match self.0 {}
    }
}
