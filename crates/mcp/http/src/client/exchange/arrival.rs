//! The results of exchanges, which the transport passes on.

use std::sync::Arc;

use agentwire_jsonrpc::{ErrorObject, Frame, Malformed, RequestId};
use agentwire_transport::{Packet, TransportError};

/// A result of an exchange.
pub(crate) enum Arrival {
    Packet(Packet),
    /// The request of the exchange with this serial number is settled.
    Settled(u64, RequestId),
    /// The server no longer knows the session, so the transport ends.
    SessionExpired,
}

impl Arrival {
    /// Text that is not a message. It is reported, and not answered.
    pub(crate) fn unreadable(error: ErrorObject) -> Self {
        Self::Packet(Packet::new(Frame::Malformed(Malformed::notification(error))))
    }

    /// Messages beside the streams of requests may be lost or, with an `end`, do not arrive any more.
    pub(crate) fn gap(end: Option<Arc<TransportError>>) -> Self {
        Self::Packet(Packet::Gap { end })
    }
}
