//! Sessions that several nodes of a server share: any node can continue a session that another has opened.
//!
//! An endpoint of one node can be read without this folder. These are the places outside it that call into it:
//!
//! | place | call | result with one node |
//! |---|---|---|
//! | a session | [`SessionPeers`](peers::SessionPeers), one field | the default of each method, after one comparison |
//! | the session | the methods of [`Session`](session), such as `opened`, `create`, `outgoing`, `leave` and `delete_unused` | nothing to do |
//! | a request | [`RequestPreparation`](load::preparation::RequestPreparation): loads the session, or forwards parts of the frame | continues at once |
//! | a POST or a GET | [`take_numbers`](record::take_numbers): takes more numbers for streams | nothing |
//! | a resumed stream | [`StreamLocator`](resume::StreamLocator): finds the rest at another node | the stream has ended |
//! | the endpoint | [`listen`], [`run`] and [`tick`]: messages of other nodes, jobs, time | nothing |
//! | the settings | `loads_sessions`, `shared_node` and `is_shared` of [`EndpointConfig`] | false or `None` |
//! | [`Endpoint::check`](crate::server::Endpoint::check) | `Node::check`: a write to the store | not called |
//!
//! The endpoint has no type parameter for this: [`EndpointConfig`] chooses at run time. A parameter would appear in every public type of
//! a server as well.

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

/// Runs a node. If another endpoint of the process runs it, waits until that ends.
async fn run_node(node: Node) {
    let pause = || tokio::time::sleep(PAUSE);
    loop {
        node.run(pause).await;
        pause().await;
    }
}
