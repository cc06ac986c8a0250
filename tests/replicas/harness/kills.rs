//! The faults of nodes and of the engine while clients call.

use std::time::Duration;

use anyhow::{Result, ensure};
use tokio::time::{sleep, timeout};

use crate::balancer::Balancer;
use crate::engine::Engine;
use crate::history::{Count, History};
use crate::nodes::Nodes;
use crate::options::Options;
use crate::random::Random;

/// How long clients call before and after a deployment of a node.
const BETWEEN_DEPLOYMENTS: Duration = Duration::from_secs(2);
/// The longest that a node may take to begin with the requests that it got.
const ARRIVAL_TIME: Duration = Duration::from_secs(60);

/// Kills nodes and the engine at random moments, so often as the options say. One node is always alive.
pub(crate) async fn kill(
    options: &Options,
    nodes: &mut Nodes,
    engine: &mut Engine,
    history: &History,
    mut random: Random,
) -> Result<()> {
    let (mut node_kills, mut engine_kills) = (options.kills, options.engine_kills);
    while node_kills + engine_kills > 0 {
        sleep(random.millis(100, 700)).await;
        if random.below(node_kills + engine_kills) < engine_kills {
            // Before it: what it excuses may happen at once.
            history.engine_leaves();
            engine.kill(random.millis(50, 600)).await?;
            history.engine_is_back();
            engine_kills -= 1;
            continue;
        }
        let count = u64::try_from(nodes.len())?;
        let first = usize::try_from(random.below(count))?;
        let mut killed = vec![first];
        if nodes.len() > 2 && node_kills > 1 && random.percent(20) {
            killed.push((first + 1) % nodes.len());
        }
        for node in &killed {
            history.count(Count::NodeKills);
            nodes.kill(*node)?;
            node_kills -= 1;
        }
        sleep(random.millis(0, 500)).await;
        for node in &killed {
            nodes.spawn(*node)?;
        }
        for node in &killed {
            nodes.wait_until_listening(*node).await?;
        }
    }
    sleep(random.millis(500, 1000)).await;
    Ok(())
}

/// Replaces each node: the balancer sends it nothing more, it drains, and another takes its place.
pub(crate) async fn deploy(nodes: &mut Nodes, balancer: &Balancer, history: &History) -> Result<()> {
    for node in 0..nodes.len() {
        sleep(BETWEEN_DEPLOYMENTS).await;
        let taken_out = timeout(ARRIVAL_TIME, balancer.take_out(node)).await;
        ensure!(
            taken_out.is_ok(),
            "requests to node {node} have no head of a response within {ARRIVAL_TIME:?}"
        );
        nodes.drain(node).await?;
        nodes.spawn(node)?;
        nodes.wait_until_listening(node).await?;
        balancer.put_in(node);
        history.count(Count::Deployed);
    }
    sleep(BETWEEN_DEPLOYMENTS).await;
    Ok(())
}
