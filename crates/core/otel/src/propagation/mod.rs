//! The text forms of trace context and baggage.

pub(crate) mod baggage;
pub(crate) mod trace_context;
