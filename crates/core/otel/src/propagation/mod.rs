//! The trace context and the baggage that a request carries to the peer.

pub(crate) mod baggage;
pub(crate) mod trace_context;
