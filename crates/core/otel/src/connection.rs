//! The data that all calls of one kind of connection share.

use std::sync::Arc;

use agentwire_peer::observe::Direction;
use opentelemetry::KeyValue;

use crate::attributes::network::Network;
use crate::inner::TelemetryInner;
use crate::protocol::{Protocol, Role};

/// The instruments, protocol and attributes of a kind of connection.
#[derive(Clone)]
pub(crate) struct ConnectionKind {
    pub(crate) inner: Arc<TelemetryInner>,
    pub(crate) protocol: Protocol,
    pub(crate) role: Role,
    pub(crate) network: Network,
    /// Whether a span's parent may be the span in the caller's request.
    pub(crate) trusts_callers: bool,
}

impl ConnectionKind {
    /// The attributes of the counters of calls and bytes.
    pub(crate) fn direction(&self, direction: Direction) -> [KeyValue; 2] {
        let direction = match direction {
            Direction::In => "in",
            Direction::Out => "out",
        };
        [self.protocol_attribute(), KeyValue::new("agentwire.direction", direction)]
    }

    /// The attributes of the counter of connections.
    pub(crate) fn role(&self) -> [KeyValue; 2] {
        [self.protocol_attribute(), KeyValue::new("agentwire.role", self.role.name())]
    }

    pub(crate) fn protocol_attribute(&self) -> KeyValue {
        KeyValue::new("agentwire.protocol", self.protocol.name())
    }
}
