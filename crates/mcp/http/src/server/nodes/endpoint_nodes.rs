//! State of an endpoint for several nodes: this node's id, the loads of sessions, the memory of records, and followed streams.

use agentwire_store::NodeId;

use crate::server::EndpointConfig;
use crate::server::admission::quota::Quota;
use crate::server::nodes::load::loads::Loads;
use crate::server::nodes::resume::followers::Followers;
use crate::server::session::session_table::CALLER_SESSIONS;

/// The state of an endpoint for serving sessions together with other nodes.
#[derive(Debug)]
pub(crate) struct EndpointNodes {
    /// The name of this node in the ids of requests to clients. `None` if it is the only node.
    pub(super) id: Option<NodeId>,
    /// The loads of sessions that other nodes have opened.
    pub(super) loads: Loads,
    /// The memory of the records of sessions, in bytes.
    pub(super) records: Quota,
    pub(super) followers: Followers,
}

impl EndpointNodes {
    pub(crate) fn new(config: &EndpointConfig) -> Self {
        Self {
            id: id(config),
            loads: Loads::new(config.load_limit, config.limits.session_quota(CALLER_SESSIONS)),
            records: config.record_limits.quota(),
            followers: Followers::new(config.follower_limit),
        }
    }
}

/// The name of this node. An endpoint with sealed sessions does not know other nodes, and takes a random name.
fn id(config: &EndpointConfig) -> Option<NodeId> {
    match config.shared_node() {
        Some(node) => Some(node.id()),
        // Without randomness there are no ids for sessions either.
        None => config.sealed.as_ref().map(|_| NodeId::random().unwrap_or(NodeId::new(0))),
    }
}
