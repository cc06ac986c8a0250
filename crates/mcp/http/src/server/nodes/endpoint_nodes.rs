//! The state that the sessions of an endpoint share when several nodes serve it.

use agentwire_store::NodeId;

use crate::server::EndpointConfig;
use crate::server::admission::quota::Quota;
use crate::server::nodes::load::loads::Loads;
use crate::server::nodes::resume::followers::Followers;
use crate::server::session::session_table::CALLER_SESSIONS;

/// The state of an endpoint that several nodes serve.
#[derive(Debug)]
pub(crate) struct EndpointNodes {
    /// The name of this node in requests to clients, so that answers find it. `None` if it is the only node.
    pub(super) id: Option<NodeId>,
    /// The sessions of other nodes that are being loaded.
    pub(super) loads: Loads,
    /// Bytes of the records of sessions.
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

/// The name of this node. Endpoints with sealed sessions are nodes of their own, which know no others.
fn id(config: &EndpointConfig) -> Option<NodeId> {
    match config.shared_node() {
        Some(node) => Some(node.id()),
        // Without randomness there are no ids for sessions either.
        None => config.sealed.as_ref().map(|_| NodeId::random().unwrap_or(NodeId::new(0))),
    }
}
