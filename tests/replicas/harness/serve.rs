//! Nodes of another program behind the balancer, for tests of that program.

use std::io::{self, Read as _};
use std::path::Path;

use anyhow::Result;

use crate::balancer::Balancer;
use crate::engine::Engine;
use crate::nodes::{Nodes, Program};
use crate::options::Options;

/// Serves until standard input ends.
pub(crate) async fn run(options: &Options, program: &Path) -> Result<()> {
    let folder = tempfile::tempdir()?;
    let engine = Engine::start(&options.engine, folder.path(), &options.fsync).await?;
    let program = Program::other(program, folder.path(), &engine.url());
    let nodes = Nodes::start(options.nodes, program).await?;
    let balancer = Balancer::start(&nodes.addresses(), false).await?;
    eprintln!("listening on http://{}/mcp", balancer.address);
    tokio::task::block_in_place(|| io::stdin().read_to_end(&mut Vec::new()))?;
    Ok(())
}
