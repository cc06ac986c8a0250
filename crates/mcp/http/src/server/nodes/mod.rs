//! Sessions that several nodes of a server have: any of them goes on with a session that another has opened.
//!
//! An endpoint of one node reads without this folder. These are the places at which it asks:
//!
//! | place | asks | answer of one node |
//! |---|---|---|
//! | a session | [`SessionPeers`](peers::SessionPeers), one field | the default of each method, after one comparison |
//! | a request | [`RequestPreparation`](load::preparation::RequestPreparation): is the session here, and is all of the frame for it? | goes on at once |
//! | a resumed stream | [`Following`](resume::Following): is the rest at another node? | the stream has ended |
//! | the endpoint | [`listen`], [`run`] and [`tick`]: messages of others, jobs, time | nothing |
//!
//! There is no trait as a parameter of the endpoint: [`EndpointConfig`] chooses at run time, and a parameter would be one of every public
//! type of a server as well.

mod address;
mod bus;
mod config;
mod delivery;
pub(crate) mod endpoint_nodes;
pub(crate) mod load;
pub(crate) mod peers;
pub(crate) mod record;
pub(crate) mod resume;
pub(crate) mod sealed;
mod session;
mod time;

use std::pin::pin;
use std::sync::{Arc, Weak};
use std::time::Duration;

use agentwire_store::{Node, NodeListener};
use futures::future::{self, BoxFuture};
use futures::{Stream, StreamExt};

use crate::server::endpoint::endpoint_core::EndpointCore;
use crate::server::{EndpointConfig, Spawner};

pub(crate) use bus::BusListener;
pub(crate) use time::tick;

/// How long a node waits before it tries again to reach its store.
const PAUSE: Duration = Duration::from_secs(1);

/// Receives the messages of other nodes, until the listener is dropped.
pub(crate) fn listen(core: &Arc<EndpointCore>) -> Arc<BusListener> {
    let listener = Arc::new(BusListener(Arc::downgrade(core)));
    if let Some(node) = core.resources.config.shared_node() {
        let weak: Weak<dyn NodeListener> = Arc::<BusListener>::downgrade(&listener);
        node.listen(weak);
    }
    listener
}

/// Runs the node and its jobs. `None` if there is no other node.
pub(crate) fn run(
    config: &EndpointConfig,
    jobs: impl Stream<Item = BoxFuture<'static, ()>>,
    spawner: Spawner,
) -> Option<impl Future> {
    if !config.loads_sessions() {
        return None;
    }
    let node = config.shared_node().cloned();
    let node = async move {
        match node {
            Some(node) => run_node(node).await,
            None => future::pending().await,
        }
    };
    let jobs = async move {
        let mut jobs = pin!(jobs);
        while let Some(job) = jobs.next().await {
            spawner.spawn(job);
        }
    };
    Some(future::join(node, jobs))
}

/// Runs a node. Where another endpoint of the process does, waits until that ends.
async fn run_node(node: Node) {
    let pause = || tokio::time::sleep(PAUSE);
    loop {
        node.run(pause).await;
        pause().await;
    }
}
